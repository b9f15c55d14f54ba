"""The threads of a worker: all or nothing, first come first served."""

from __future__ import annotations

from .messages import Fence


class Threads:
    """So many threads, and the line of work that waits for some of them.

    A wide one is not passed by narrow ones behind it, or it might wait for ever.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self.free = capacity
        # In the order of arrival.
        self._line: dict[Fence, int] = {}

    def queue(self, fence: Fence, wanted: int) -> None:
        """Work that waits for threads."""
        self._line[fence] = min(max(wanted, 1), self._capacity)

    def withdraw(self, fence: Fence) -> None:
        """It does not wait any more."""
        self._line.pop(fence, None)

    def next(self) -> tuple[Fence, int] | None:
        """The head of the line and its threads, if so many are free. They must be released."""
        for fence, wanted in self._line.items():
            if wanted > self.free:
                return None
            del self._line[fence]
            self.free -= wanted
            return fence, wanted
        return None

    def release(self, granted: int) -> None:
        """Threads that are free again."""
        self.free += granted
