# Shared by the load scripts of this directory: sends jobs to POST /submit_job and counts the answers. Not run alone.
#
# The server is the first argument, or GANGER_URL, or http://127.0.0.1:8080.

set -euo pipefail

URL="${1:-${GANGER_URL:-http://127.0.0.1:8080}}"
URL="${URL%/}"
SENT=0
REFUSED=0

# send NAME PAYLOAD: submits one job in the foreground. Neither may contain quotes or backslashes.
send() {
  local status
  status="$(curl --silent --show-error --max-time 30 --output /dev/null --write-out '%{http_code}' \
    --request POST "$URL/submit_job" --header 'Content-Type: application/json' \
    --data "{\"name\":\"$1\",\"payload\":\"$2\"}")" || status=000
  if [ "$status" = 201 ]; then
    SENT=$((SENT + 1))
  else
    REFUSED=$((REFUSED + 1))
    echo "refused with status $status: $1" >&2
  fi
}

# finish: says what came of it, and fails if anything was refused.
finish() {
  echo "sent $SENT jobs to $URL, $REFUSED refused"
  [ "$REFUSED" -eq 0 ]
}
