"""What a handler knows about the attempt it runs in, and how it speaks while it runs."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from . import limits
from .outcome import Cancelled, EffectRefused

if TYPE_CHECKING:
    from .model import Job

_log = logging.getLogger("ganger.job")


@dataclass(frozen=True)
class Said:
    """What a handler said since it was last asked."""

    progress: tuple[float, str] | None = None
    #: Whole lines, each ending in a newline.
    log: str = ""


@dataclass(frozen=True)
class Attempt:
    """The facts of one attempt."""

    job_id: str = "job_00000000000000000000000000"
    kind: str = "none"
    queue: str = "default"
    number: int = 1
    max_attempts: int = 5
    threads: int = 1
    timeout: float | None = None
    traceparent: str | None = None
    tracestate: str | None = None
    #: Seconds from the submission to its beginning, if it has a trace.
    waited: float = 0.0
    #: A schedule made the job.
    occurrence: bool = False
    #: Proof of its lease.
    fence: str = "0.0.0000000000000000"


@dataclass
class _Words:
    progress: tuple[float, str] | None = None
    lines: list[str] = field(default_factory=list)
    size: int = 0


def _quiet() -> None:
    """Nobody listens."""


class Context:
    """The attempt that runs now.

    A handler gets it by a parameter ``ctx: Context = Context.current``. In a plain call that default is used: it
    belongs to no job, is never cancelled, and writes what is logged to the logger ``ganger.job``.
    """

    #: The default of a handler's ``ctx`` parameter.
    current: ClassVar[Context]

    def __init__(
        self,
        attempt: Attempt,
        bell: Callable[[], None] | None = None,
        ask_mark: Callable[[bool], None] | None = None,
        find_parents: Callable[[], list[Job]] | None = None,
    ) -> None:
        self._attempt = attempt
        self._attached = bell is not None
        self._bell = bell or _quiet
        self._deadline = None if attempt.timeout is None else time.monotonic() + attempt.timeout
        self._stop = threading.Event()
        self._why: str | None = None
        self._lock = threading.Lock()
        self._words = _Words()
        self._ask_mark = ask_mark
        self._find_parents = find_parents
        # Whether the mark stands, once that is answered.
        self._mark: concurrent.futures.Future[bool | None] | None = None

    @property
    def job_id(self) -> str:
        """The job's id, ``job_…``. The same in every attempt: a good idempotency key for effects elsewhere."""
        return self._attempt.job_id

    @property
    def kind(self) -> str:
        """The job's kind."""
        return self._attempt.kind

    @property
    def queue(self) -> str:
        """The queue it came from."""
        return self._attempt.queue

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._attempt.number

    @property
    def max_attempts(self) -> int:
        """Attempts allowed in all."""
        return self._attempt.max_attempts

    @property
    def threads(self) -> int:
        """Threads granted to this attempt; perhaps fewer than the job asked for."""
        return self._attempt.threads

    @property
    def fence(self) -> str:
        """Proof of this attempt's lease, for ``ganger.complete`` in SQL and for fencing effects elsewhere."""
        return self._attempt.fence

    @property
    def traceparent(self) -> str | None:
        """W3C trace context of whoever submitted the job, the same for every attempt.

        With OpenTelemetry installed the handler runs in a span of its own, which is the current one.
        """
        return self._attempt.traceparent

    @property
    def tracestate(self) -> str | None:
        """The ``tracestate`` that came with it."""
        return self._attempt.tracestate

    @property
    def deadline(self) -> float | None:
        """When its time is over, on the clock of :func:`time.monotonic`; None without a timeout."""
        return self._deadline

    @property
    def remaining(self) -> float | None:
        """Seconds until the deadline, never less than 0."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    @property
    def cancelled(self) -> bool:
        """Whether it was told to stop."""
        return self._stop.is_set()

    @property
    def cancel_reason(self) -> str | None:
        """Why it was told to stop: cancelled, timeout, lease_lost, draining or lapsed."""
        return self._why

    def check(self) -> None:
        """Raises :class:`Cancelled` if it was told to stop. For loops in sync handlers."""
        if self.cancelled:
            raise Cancelled(self._why or "cancelled")

    def sleep(self, seconds: float) -> None:
        """Sleeps in a sync handler; raises :class:`Cancelled` as soon as it is told to stop."""
        self._stop.wait(seconds)
        self.check()

    def parents(self) -> list[Job]:
        """The jobs that this one waited for, oldest first, each with its result: one request for each.

        For sync handlers. One that is not kept any more has only its id and its state.
        """
        return [] if self._find_parents is None else self._find_parents()

    async def parents_async(self) -> list[Job]:
        """:meth:`parents` for async handlers."""
        return await asyncio.to_thread(self.parents)

    def mark_effect(self) -> None:
        """Says, in a sync handler, that it is about to do what can neither be undone nor repeated.

        When this returns, that is durable. From then on the job is not tried again by itself: unless the handler
        succeeds, or raises :class:`Fatal`, the job dies as ``delivery unknown``, for a person to look into and replay.
        Raises :class:`EffectRefused` if the lease is lost, and :class:`Cancelled` if it was told to stop: do not go on.
        """
        self._answered(True, self._asked(True).result())

    def unmark_effect(self) -> None:
        """Says, in a sync handler, that what :meth:`mark_effect` announced did certainly not happen."""
        self._answered(False, self._asked(False).result())

    async def mark_effect_async(self) -> None:
        """:meth:`mark_effect` for async handlers."""
        self._answered(True, await asyncio.wrap_future(self._asked(True)))

    async def unmark_effect_async(self) -> None:
        """:meth:`unmark_effect` for async handlers."""
        self._answered(False, await asyncio.wrap_future(self._asked(False)))

    def progress(self, fraction: float, note: str = "") -> None:
        """Tells how far it is, from 0 to 1. Only the latest word counts; it may be said as often as one likes."""
        fraction = 0.0 if math.isnan(fraction) else min(1.0, max(0.0, fraction))
        with self._lock:
            self._words.progress = (fraction, limits.cut(note, limits.NOTE_BYTES))
        self._bell()

    def log(self, line: str) -> None:
        """Adds a line to the log of this attempt, of which the server keeps the last 64 KiB."""
        if not self._attached:
            _log.info("%s", line)
            return
        lines = [limits.cut(part, limits.LINE_BYTES) + "\n" for part in line.rstrip("\n").split("\n")]
        with self._lock:
            words = self._words
            words.lines += lines
            words.size += sum(len(part.encode("utf-8")) for part in lines)
            # Cutting at twice the bound makes the cost of cutting a constant per byte.
            if words.size > 2 * limits.LOG_BYTES:
                _keep_last_lines(words)
        self._bell()

    def _asked(self, stands: bool) -> concurrent.futures.Future[bool | None]:
        self.check()
        answer: concurrent.futures.Future[bool | None] = concurrent.futures.Future()
        if self._ask_mark is None:
            # Without a server, in a plain call, there is nobody to ask.
            answer.set_result(stands)
            return answer
        with self._lock:
            if self._mark is not None:
                raise RuntimeError("this attempt is already waiting for an answer about its mark")
            self._mark = answer
        self._ask_mark(stands)
        if self.cancelled:
            # Told to stop in between: nobody would answer.
            self._marked(None)
        return answer

    def _answered(self, asked: bool, stands: bool | None) -> None:
        # None is no answer at all: it was told to stop.
        if stands != asked:
            self.check()
            raise EffectRefused("the lease is lost: nothing may be done under it")

    def _marked(self, stands: bool | None) -> None:
        with self._lock:
            answer, self._mark = self._mark, None
        # A task that was cancelled does not wait any more.
        if answer is not None and answer.set_running_or_notify_cancel():
            answer.set_result(stands)

    def _cancel(self, why: str) -> None:
        self._why = self._why or why
        self._stop.set()
        self._marked(None)

    def _take(self) -> Said:
        with self._lock:
            words, self._words = self._words, _Words()
        _keep_last_lines(words)
        return Said(words.progress, "".join(words.lines))

    def __repr__(self) -> str:
        return f"Context({self.kind} {self.job_id} attempt {self.attempt})"


def _keep_last_lines(words: _Words) -> None:
    kept = 0
    for place in range(len(words.lines) - 1, -1, -1):
        kept += len(words.lines[place].encode("utf-8"))
        if kept > limits.LOG_BYTES:
            words.size = kept - len(words.lines[place].encode("utf-8"))
            del words.lines[: place + 1]
            return
    words.size = kept


Context.current = Context(Attempt())

_running: ContextVar[Context] = ContextVar("ganger_context", default=Context.current)


def current_context() -> Context:
    """The attempt in which this code runs, however deep; outside of one, ``Context.current``."""
    return _running.get()


@contextlib.contextmanager
def running(context: Context) -> Iterator[None]:
    """Makes it the current context of what runs inside."""
    token = _running.set(context)
    try:
        yield
    finally:
        _running.reset(token)
