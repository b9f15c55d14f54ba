#!/usr/bin/env bash
# Sends jobs that make requests: send_network_intensive_jobs.sh [URL] [NUMBER, 20 if not given]
. "$(dirname "$0")/send_jobs.sh"

for number in $(seq 1 "${2:-20}"); do
  send network_task "Network job $number"
done
finish
