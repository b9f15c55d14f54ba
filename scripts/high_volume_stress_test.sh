#!/usr/bin/env bash
# Sends jobs of every sort in waves, the jobs of a wave at the same time: high_volume_stress_test.sh [URL] [NUMBER, 200 if
# not given] [WAVE, 25 if not given]
. "$(dirname "$0")/send_jobs.sh"

NUMBER="${2:-200}"
WAVE="${3:-25}"
NAMES=(cpu_intensive io_intensive mixed_workload network_task default)
ANSWERS="$(mktemp)"
trap 'rm -f "$ANSWERS"' EXIT

for ((first = 1; first <= NUMBER; first += WAVE)); do
  last=$((first + WAVE - 1 < NUMBER ? first + WAVE - 1 : NUMBER))
  for number in $(seq "$first" "$last"); do
    # In a process of its own, so that the wave goes out together; a line of the file is one answer.
    (
      send "${NAMES[$((number % ${#NAMES[@]}))]}" "Stress job $number"
      echo "$SENT $REFUSED" >>"$ANSWERS"
    ) &
  done
  wait
  echo "jobs $first to $last are sent"
done

while read -r sent refused; do
  SENT=$((SENT + sent))
  REFUSED=$((REFUSED + refused))
done <"$ANSWERS"
[ "$((SENT + REFUSED))" -eq "$NUMBER" ] || { echo "only $((SENT + REFUSED)) of $NUMBER were answered" >&2; exit 1; }
finish
