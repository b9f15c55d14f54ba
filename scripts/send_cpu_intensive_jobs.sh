#!/usr/bin/env bash
# Sends jobs that keep processors busy: send_cpu_intensive_jobs.sh [URL] [NUMBER, 20 if not given]
. "$(dirname "$0")/send_jobs.sh"

for number in $(seq 1 "${2:-20}"); do
  send cpu_intensive "CPU intensive job $number"
done
finish
