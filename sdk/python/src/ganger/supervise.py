"""Several worker processes for one app, and a restart when its source changes.

Python runs one thread of an interpreter at a time, so work that computes needs processes. Each is a worker of its own,
with its own session: one that dies loses only its own leases. The parent runs no handler and loads no user code, so
nothing there can kill it.

What can go wrong:

- *A process dies.* It is started again, after a delay that doubles while it keeps dying.
- *A process ends well*, because the server drained it: it is not started again.
- *It cannot start at all* (no such app, bad options): exit code 2 ends everything, since a restart changes nothing.
- *The parent is told to stop.* It tells its children, once for each signal, and ends when they have.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_log = logging.getLogger("ganger.worker")

#: How often children and files are looked at.
LOOK_EVERY = 0.2
#: Delay before a process that died is started again, and the longest.
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
#: After so long a run its earlier deaths are forgotten.
FORGIVEN_AFTER = 60.0
#: Files that are watched, at most.
WATCHED_FILES = 10_000
#: Exit code of a command that cannot be understood.
USAGE = 2
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_UNWATCHED = {"node_modules", "__pycache__", "site-packages", "venv"}


@dataclass
class _Child:
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    #: When it is started again.
    due: float | None = 0.0
    ended: int | None = None


@dataclass
class Supervisor:
    """Runs worker processes until they have ended."""

    #: How each process is started.
    commands: Sequence[Sequence[str]]
    #: The folder whose Python files are watched.
    watch: Path | None = None
    _children: list[_Child] = field(default_factory=list)
    _signals: int = 0

    def run(self) -> int:
        """Until all have ended. The exit code is the first that is not 0."""
        self._children = [_Child(command) for command in self.commands]
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        seen = self._fingerprint()
        told = 0
        try:
            while any(child.ended is None for child in self._children):
                if self._signals > told:
                    told += 1
                    self._tell(signal.SIGTERM)
                for child in self._children:
                    self._look_at(child)
                now = self._fingerprint()
                if now != seen and not self._signals:
                    seen = now
                    self._reload()
                time.sleep(LOOK_EVERY)
        finally:
            self._tell(signal.SIGKILL)
            for number, handler in before.items():
                signal.signal(number, handler)
        return next((child.ended for child in self._children if child.ended), 0)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._signals += 1

    def _look_at(self, child: _Child) -> None:
        now = time.monotonic()
        if child.process is None:
            if self._signals:
                child.ended = child.ended or 0
            elif child.due is not None and now >= child.due:
                child.process, child.started, child.due = _start(child.command), now, None
            return
        code = child.process.poll()
        if code is None:
            return
        child.process = None
        if code == USAGE:
            self._signals = max(self._signals, 1)
        if self._signals or code == 0:
            child.ended = code
            return
        child.deaths = 1 if now - child.started > FORGIVEN_AFTER else child.deaths + 1
        delay = min(FIRST_DELAY * 2 ** min(child.deaths - 1, 20), LONGEST_DELAY)
        child.due = now + delay
        _log.warning("a worker process ended with %d; another one starts in %.1f s", code, delay)

    def _tell(self, number: int) -> None:
        for child in self._children:
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(number)

    def _reload(self) -> None:
        _log.info("the source has changed: starting again")
        self._tell(signal.SIGTERM)
        for child in self._children:
            if child.process is not None:
                while child.process.poll() is None and self._signals < 2:
                    time.sleep(LOOK_EVERY)
            child.process, child.due, child.deaths = None, 0.0, 0

    def _fingerprint(self) -> int:
        return 0 if self.watch is None else hash(tuple(_stamps(self.watch)))


def commands(arguments: Sequence[str], processes: int, name: str) -> list[list[str]]:
    """How to start these workers: the same command line, each with a name of its own."""
    base = [sys.executable, "-m", "ganger", *arguments]
    if processes == 1:
        return [[*base, "--name", name]]
    return [[*base, "--name", f"{name}-{number}"] for number in range(1, processes + 1)]


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    # A group of its own: Ctrl+C in a terminal reaches the parent, which tells its children.
    return subprocess.Popen(command, start_new_session=True)


def _stamps(folder: Path) -> Iterator[tuple[str, int]]:
    found = 0
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _UNWATCHED and not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".py"):
                try:
                    yield os.path.join(at, name), os.stat(os.path.join(at, name)).st_mtime_ns
                except OSError:
                    continue
                found += 1
                if found >= WATCHED_FILES:
                    return
