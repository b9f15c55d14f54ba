#!/usr/bin/env bash
# Sends jobs that fail four times and die: send_failing_jobs.sh [URL] [NUMBER, 10 if not given]
#
# They stay dead until somebody replays or purges them: ganger job list --state dead
. "$(dirname "$0")/send_jobs.sh"

for number in $(seq 1 "${2:-10}"); do
  send default "invalid_job $number"
done
finish
