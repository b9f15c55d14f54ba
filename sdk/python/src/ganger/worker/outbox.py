"""What waits to be sent on the present stream.

Results are coalesced: they leave when the worker is idle, when a message is full, or after a millisecond. Everything
else leaves at once, in order. The box is bounded by what can be in it: one result per lease, and log and progress only
while there is room. It is emptied when the stream breaks, because the session sends again what was not acknowledged.
"""

from __future__ import annotations

from collections import deque

from .. import limits
from ..outcome import Failed, FailedForGood, Later, Ok, Report
from .messages import AttemptReport, Drain, Goodbye, Results, ToLeader

#: Seconds that results wait at most for company.
LINGER = 0.001
#: Bytes of a result besides its text, generously.
ENVELOPE_BYTES = 96
#: Messages that may wait before log and progress have to.
ROOM = 64


class Outbox:
    """Messages ready to go, and results that wait for company."""

    def __init__(self) -> None:
        self._ready: deque[ToLeader] = deque()
        self._results: list[AttemptReport] = []
        self._bytes = 0
        self._since: float | None = None

    def push(self, now: float, message: ToLeader) -> None:
        """A message to send."""
        if isinstance(message, Results):
            for report in message.reports:
                self._add(now, report)
            return
        if isinstance(message, (Drain, Goodbye)):
            # These say something about the results before them.
            self._seal()
        self._ready.append(message)

    def settle(self, now: float, idle: bool) -> None:
        """Lets results go that waited long enough, or all of them if nothing else is coming."""
        if self._since is not None and (idle or now >= self._since + LINGER):
            self._seal()

    def due(self) -> float | None:
        """When :meth:`settle` is next needed."""
        return None if self._since is None else self._since + LINGER

    def peek(self) -> ToLeader:
        """The next message to go; only while one is ready."""
        return self._ready[0]

    def pop(self) -> ToLeader:
        """It has gone."""
        return self._ready.popleft()

    @property
    def is_ready(self) -> bool:
        """Whether something could go now."""
        return bool(self._ready)

    @property
    def has_room(self) -> bool:
        """Whether log and progress may be added."""
        return len(self._ready) < ROOM

    def clear(self) -> None:
        """The stream is over."""
        self._ready.clear()
        self._results = []
        self._bytes = 0
        self._since = None

    def _add(self, now: float, report: AttemptReport) -> None:
        size = ENVELOPE_BYTES + _text_bytes(report.report)
        if self._bytes + size > limits.MESSAGE_BYTES:
            self._seal()
        self._bytes += size
        self._results.append(report)
        if self._since is None:
            self._since = now
        if len(self._results) == limits.RESULTS_PER_MESSAGE:
            self._seal()

    def _seal(self) -> None:
        if self._results:
            self._ready.append(Results(self._results))
        self._results = []
        self._bytes = 0
        self._since = None


def _text_bytes(report: Report) -> int:
    if isinstance(report, Ok):
        return len(report.result.encode("utf-8"))
    if isinstance(report, (Failed, FailedForGood, Later)):
        return len(report.error.encode("utf-8"))
    return 0
