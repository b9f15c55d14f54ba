#!/bin/sh
# Makes the tokens that deploy/compose.yaml needs, with the first one that a server has written: once, for whoever starts it
# again finds them there. A worker may work and enqueue, Prometheus may read and nothing else.
#
#   GANGER_URL, GANGER_TOKEN_FILE   the servers, and the file with the first token
#   WORKER_TOKEN, METRICS_TOKEN     where the new ones go
set -eu
umask 077

worker=${WORKER_TOKEN:-/run/ganger/worker.token}
metrics=${METRICS_TOKEN:-/run/ganger-metrics/prometheus.token}

# make NAME ROLE FILE MODE
make_token() {
  if [ -s "$3" ]; then
    echo "the token of $1 is there already"
    return
  fi
  ganger token create "$1" --role "$2" -o name >"$3.new"
  [ -s "$3.new" ]
  chmod "$4" "$3.new"
  mv "$3.new" "$3"
  echo "made a token for $1 (role $2)"
}

# The first leader writes it soon after it begins.
tries=60
until [ -s "$GANGER_TOKEN_FILE" ] && ganger token whoami >/dev/null 2>&1; do
  tries=$((tries - 1))
  if [ "$tries" -eq 0 ]; then
    echo "error: no server has written a token to $GANGER_TOKEN_FILE that holds" >&2
    echo "  why: the volume with it and the database belong to different installations, or it was revoked" >&2
    echo "  do:  make tokens by hand (ganger token create) and put them into $worker and $metrics" >&2
    exit 1
  fi
  sleep 1
done

make_token workers worker "$worker" 0400
# Prometheus runs as another user; nobody else mounts the volume.
make_token prometheus viewer "$metrics" 0444
