"""The server of Ganger for one measurement: a process of the given binary, over one of the stores."""

import contextlib
import json
import os
import select
import shutil
import subprocess

from .paths import TARGET
from .servers import CannotStart

PATIENCE = 30.0


def binary(given=None):
    """The one that was given, or the one that a distribution would have."""
    return given or TARGET / "dist" / "ganger"


def version(program):
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split()
    return told[1] if len(told) > 1 else None


@contextlib.contextmanager
def serving(program, directory, store=None, redis=None):
    """Starts it; the process and its address."""
    data = directory / "ganger"
    data.mkdir()
    command = [str(program), "server", "--auth", "off", "--listen", "127.0.0.1:0", "-o", "json"]
    command += ["--store", store] if store else ["--data", str(data)]
    command += ["--redis", redis, "--allow-buffered"] if redis else []
    log = open(data / "server.log", "wb")
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *command],
        cwd=data,
        # Nothing of what its user has set for other servers.
        env={name: value for name, value in os.environ.items() if not name.startswith("GANGER_")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        start_new_session=True,
    )
    try:
        yield process, _address(process, data)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()
        shutil.rmtree(data, ignore_errors=True)


def _address(process, data):
    readable, _, _ = select.select([process.stdout], [], [], PATIENCE)
    line = process.stdout.readline() if readable else ""
    try:
        return json.loads(line)["url"]
    except (ValueError, KeyError) as error:
        told = (data / "server.log").read_text(errors="replace")[-1000:].strip()
        raise CannotStart(f"the server of Ganger does not start: {told or line or 'it says nothing'}") from error

