"""Runs one action of a driver, and measures the processes around it.

A driver prints one JSON object per line: `{"mark": "begin"}` when its clock starts, `{"mark": "end"}` when it stops,
and its result last.
"""

import json
import os
import signal
import subprocess
import threading
import time

from . import machine

# Far longer than any action takes. A driver that is stuck says so itself after a minute without progress.
LONGEST_SECONDS = 300


class Failed(Exception):
    """A driver did not do what it should, and why."""


def act(command, action, env, pids=None):
    """Runs the action and returns its result, with the CPU time of the driver (`worker`) and of these other processes between its
    marks under `cpu`."""
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command), action],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    timer = threading.Timer(LONGEST_SECONDS, _kill, [process])
    timer.start()
    errors = []
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    reader.start()
    try:
        result, spent = _listen(process, pids or {})
        code = process.wait()
    finally:
        timer.cancel()
        _kill(process)
        process.wait()
        reader.join()
        process.stdout.close()
        process.stderr.close()
    told = " ".join("".join(errors).split())[-600:]
    if code or result is None:
        raise Failed(f"{action} ended with code {code} and {'no result' if result is None else 'a result'}: {told or 'no message'}")
    if told and "error" in told.lower():
        result["warnings"] = told
    return {**result, "cpu": spent}


def _listen(process, pids):
    marks, result = {}, None
    for line in process.stdout:
        try:
            said = json.loads(line)
        except ValueError as error:
            raise Failed(f"the driver said what is not JSON: {line.strip()[:200]}") from error
        if "mark" in said:
            busy, stolen = machine.busy_seconds()
            marks[said["mark"]] = {
                **machine.cpu_seconds({"worker": process.pid, **pids}),
                "all": busy,
                "stolen": stolen,
                "elapsed": time.monotonic(),
            }
        else:
            result = said
    if "begin" not in marks or "end" not in marks:
        return result, {}
    return result, {name: max(0.0, marks["end"][name] - marks["begin"][name]) for name in marks["begin"]}


def _kill(process):
    # The whole group: a driver may have workers of its own.
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
