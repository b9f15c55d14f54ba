"""The threads of a worker: all or nothing, first come first served."""

from __future__ import annotations

from collections import deque

from .messages import Fence


class Threads:
    """So many threads, and the line of work that waits for some of them.

    A wide one is not passed by narrow ones behind it, or it might wait for ever.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.free = capacity
        self._line: deque[tuple[Fence, int]] = deque()

    def queue(self, fence: Fence, wanted: int) -> None:
        """Work that waits for threads."""
        self._line.append((fence, min(max(wanted, 1), self._capacity)))

    def withdraw(self, fence: Fence) -> None:
        """It does not wait any more."""
        if any(waiting == fence for waiting, _ in self._line):
            self._line = deque(entry for entry in self._line if entry[0] != fence)

    def next(self) -> tuple[Fence, int] | None:
        """The head of the line and its threads, if so many are free. They must be released."""
        if not self._line or self._line[0][1] > self.free:
            return None
        fence, granted = self._line.popleft()
        self.free -= granted
        return fence, granted

    def release(self, granted: int) -> None:
        """Threads that are free again."""
        self.free += granted
