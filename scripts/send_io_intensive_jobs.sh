#!/usr/bin/env bash
# Sends jobs that write and read files: send_io_intensive_jobs.sh [URL] [NUMBER, 20 if not given]
. "$(dirname "$0")/send_jobs.sh"

for number in $(seq 1 "${2:-20}"); do
  send io_intensive "IO intensive job $number"
done
finish
