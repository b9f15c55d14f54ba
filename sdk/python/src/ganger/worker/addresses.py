"""Where the servers are: those that were named at the start, and the leader that a welcome names.

Any server will do, because one that does not lead passes everything on; the leader itself spares that detour. So a
worker takes the first server that answers, and moves to the leader if that can be reached from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit


class Addresses:
    """The servers of one cluster, as one worker sees them."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = list(named)
        self._next = 0
        # A leader that could be reached, but not spoken with.
        self._unfit: str | None = None
        #: Where the present connection goes, or went.
        self.current = self._named[0]

    def dial(self) -> str:
        """The server to dial now."""
        self.current = self._named[self._next % len(self._named)]
        return self.current

    def broke(self, greeted: bool) -> None:
        """The connection is over, and another named server is dialled next; `greeted` if it came to a welcome."""
        if self.current in self._named:
            # The one after it, also where a welcome led here: a leader that stands still lets itself be dialled.
            self._next = (self._named.index(self.current) + 1) % len(self._named)
        elif not greeted:
            self._unfit = self.current

    def leader(self, url: str) -> str | None:
        """The leader's address, if it is another one than we are connected to, and no less protected."""
        url = url.strip().rstrip("/")
        parts = urlsplit(url)
        if not parts.netloc or parts.scheme != urlsplit(self.current).scheme:
            return None
        return None if url in (self.current, self._unfit) else url

    def move_to(self, leader: str) -> None:
        """The leader was reached there, so that is where the next connection goes."""
        self.current = leader
        self._unfit = None
