"""Threads for handlers that block.

They are daemons, unlike those of ``concurrent.futures``: a handler that never ends must not keep a process alive that
was told twice to leave.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable


class Hands:
    """As many threads as ever ran at once; whoever calls holds the permits that bound their number."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._made = 0

    def run(self, task: Callable[[], None]) -> None:
        """Runs it on a thread that has nothing to do, or on a new one."""
        with self._lock:
            if self._idle > 0:
                self._idle -= 1
            else:
                self._made += 1
                threading.Thread(target=self._work, name=f"ganger-hand-{self._made}", daemon=True).start()
        self._tasks.put(task)

    def close(self) -> None:
        """Threads end when they have nothing to do."""
        for _ in range(self._made):
            self._tasks.put(None)

    def _work(self) -> None:
        while True:
            task = self._tasks.get()
            if task is None:
                return
            task()
            with self._lock:
                self._idle += 1
