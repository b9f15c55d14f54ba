"""The worker's side of the session protocol: a machine without clock and I/O, as in ``core/src/session.rs``.

Who is right: the leader decides what a session may run; the worker decides when to give up. Both measure the same TTL
on their own monotonic clocks: the worker from the moment it *sent* the last hello or ping that was answered, the leader
from the moment it *received* it, plus slack. Sending comes before receiving, so the worker always gives up first.

What can go wrong:

- *The connection breaks.* Handlers go on within the TTL, results are kept, and the next stream carries them again.
- *No answer for a TTL.* The session lapses: nothing is started, held work is handed back, handlers are told to stop.
- *An old answer arrives.* What came on an older stream is ignored; a welcome older than the TTL is no welcome.
- *A deposed leader talks.* A term lower than the highest accepted one is ignored.
- *The leader closed the session.* It is gone for ever; the process goes on as another, and late results are offered
  under fences that the leader refuses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Union

from ..outcome import Released, Report, TimedOut, WasCancelled
from .messages import (
    Ack,
    Assign,
    AttemptReport,
    Cancel,
    Drain,
    Fence,
    Gone,
    Goodbye,
    Hello,
    Mark,
    Marked,
    Ping,
    Pong,
    Results,
    Term,
    ToLeader,
    ToWorker,
    Welcome,
    Why,
    Work,
    WorkerInfo,
)

#: Unstarted work is handed back after so many seconds, so that another worker can take it.
HELD_AT_MOST = 1.0
#: Pings remembered while unanswered. Older ones could only extend the session less.
PINGS_REMEMBERED = 16


class OnLapse(Enum):
    """What a lapse does to running handlers."""

    #: They are told to stop.
    CANCEL = "cancel"
    #: They may finish, and offer a result that the fence may refuse.
    CONTINUE = "continue"


@dataclass(frozen=True)
class Send:
    """Send on the present stream."""

    message: ToLeader


@dataclass(frozen=True)
class Reconnect:
    """Give up the present stream and connect again."""


@dataclass(frozen=True)
class Offer:
    """There is work: start it when its threads are free and :meth:`Session.try_start` agrees."""

    work: Work


@dataclass(frozen=True)
class Withdraw:
    """Work that was offered and is not to be started any more."""

    fence: Fence


@dataclass(frozen=True)
class Stop:
    """Tell this handler to stop."""

    fence: Fence
    why: Why


@dataclass(frozen=True)
class TellMark:
    """Tell this handler whether its mark stands."""

    fence: Fence
    stands: bool


@dataclass(frozen=True)
class Reborn:
    """The session is closed for ever: go on with :meth:`Session.reborn`."""


@dataclass(frozen=True)
class DrainAsked:
    """The server asked for a drain."""


@dataclass(frozen=True)
class Finished:
    """Drained: everything was acknowledged and goodbye is said."""


#: What the session asks of the process around it.
Act = Union[Send, Reconnect, Offer, Withdraw, Stop, TellMark, Reborn, DrainAsked, Finished]


class Link(Enum):
    """How the session stands with the leader."""

    DOWN = "down"
    GREETING = "greeting"
    OPEN = "open"
    GONE = "gone"


@dataclass
class _Held:
    """A lease: it waits, runs, or has ended (`report`)."""

    work: Work
    running: bool = False
    stopping: Why | None = None
    report: AttemptReport | None = None
    #: What the handler asked of its mark, until that is answered.
    asked: bool | None = None


class Session:
    """One life of a worker process. Each method returns what is to be done."""

    def __init__(self, session: bytes, worker: WorkerInfo, on_lapse: OnLapse = OnLapse.CANCEL) -> None:
        self.id = session
        self.worker = worker
        self.on_lapse = on_lapse
        self.ttl = worker.ttl
        self.stream = 0
        self.link = Link.DOWN
        self.highest = Term()
        self.lapsed = False
        self.draining = False
        self._greeted_at = 0.0
        # Sending moment of the last hello or ping that was answered.
        self._answered: float | None = None
        self._finished = False
        self._next_ping = 1
        self._pinged_at = 0.0
        self._pings: deque[tuple[int, float]] = deque(maxlen=PINGS_REMEMBERED)
        # Largest fence assigned on this stream: fences only grow, so anything else is a repetition.
        self._assigned: Fence | None = None
        self._leases: dict[Fence, _Held] = {}
        # Those of them that have not begun, since when, oldest first.
        self._waiting: dict[Fence, float] = {}

    def reborn(self, session: bytes) -> Session:
        """The next life of the same process, after this one is gone.

        Handlers that still run, and results that were never acknowledged, come along: the leader will refuse them by
        their fences.
        """
        after = Session(session, self.worker, self.on_lapse)
        # Streams go on counting: what arrives late on one of the old life must not pass for the new one's.
        after.stream = self.stream
        after.highest = self.highest
        after.draining = self.draining
        after._leases = self._leases
        return after

    @property
    def is_open(self) -> bool:
        """Whether the leader has welcomed the present stream."""
        return self.link is Link.OPEN

    @property
    def unfinished(self) -> int:
        """Leases that are held, running, or ended and not yet acknowledged."""
        return len(self._leases)

    def next_tick(self) -> float | None:
        """When :meth:`tick` is next needed."""
        times = [since + HELD_AT_MOST for since in islice(self._waiting.values(), 1)]
        if self.link is Link.GREETING:
            times.append(self._greeted_at + self.ttl)
        elif self.link is Link.OPEN:
            times.append(self._pinged_at + self.ttl / 3)
        if self._answered is not None and not self.lapsed:
            times.append(self._answered + self.ttl)
        return min(times, default=None)

    def connected(self, now: float) -> list[Act]:
        """A new stream is open: greet. Everything on it carries the number that `stream` has now."""
        self.stream += 1
        self.link = Link.GREETING
        self._greeted_at = now
        self._pings.clear()
        self._assigned = None
        return [Send(Hello(self.id, self.stream, self.worker, self.highest, self.draining))]

    def disconnected(self) -> None:
        """The present stream broke. That alone proves nothing."""
        if self.link is not Link.GONE:
            self.link = Link.DOWN

    def receive(self, now: float, stream: int, message: ToWorker) -> list[Act]:
        """A message arrived on the stream of that number."""
        if self.link is Link.GONE or stream != self.stream:
            return []
        if isinstance(message, Gone):
            return self._gone()
        if isinstance(message, Welcome):
            return self._welcomed(now, message) if self.link is Link.GREETING else []
        if self.link is not Link.OPEN:
            # Before the welcome, or after a lapse, nothing else has a meaning on this stream.
            return []
        if isinstance(message, Pong):
            self._ponged(message.number)
            return []
        if isinstance(message, Assign):
            return self._assign(now, message.work)
        if isinstance(message, Ack):
            return self._acknowledged(message.fences)
        if isinstance(message, Cancel):
            return self._cancel(message)
        if isinstance(message, Marked):
            return self._marked(message)
        return [DrainAsked()]

    def tick(self, now: float) -> list[Act]:
        """Time passed: ping, notice a lapse, hand back what waited too long."""
        acts: list[Act] = []
        if self.link is Link.GREETING and now >= self._greeted_at + self.ttl:
            self.link = Link.DOWN
            acts.append(Reconnect())
        if not self.lapsed and self._answered is not None and now >= self._answered + self.ttl:
            acts += self._lapse()
        for fence in [f for f, since in self._waiting.items() if now >= since + HELD_AT_MOST]:
            acts += self._hand_back(fence)
        if self.link is Link.OPEN and now >= self._pinged_at + self.ttl / 3:
            acts.append(self._ping(now))
        return acts

    def try_start(self, now: float, fence: Fence) -> bool:
        """Whether the handler under this fence may begin now; if so it counts as running."""
        alive = not self.lapsed and self._answered is not None and now < self._answered + self.ttl
        if fence not in self._waiting or not alive:
            return False
        del self._waiting[fence]
        self._leases[fence].running = True
        return True

    def ended(self, fence: Fence, report: Report, ran: float) -> list[Act]:
        """The handler under this fence is over."""
        held = self._leases.get(fence)
        if held is None or not held.running:
            return []
        if isinstance(report, WasCancelled):
            # It stopped because it was told to, not because it failed.
            if held.stopping in (Why.LAPSED, Why.LEASE_LOST, Why.DRAINING):
                report = Released(started=True)
            elif held.stopping is Why.TIMEOUT:
                report = TimedOut()
        return self._end(held, AttemptReport(held.work.job, fence, report, ran))

    def drain(self) -> list[Act]:
        """Take nothing new: hand back what has not begun, and finish when the rest is acknowledged."""
        self.draining = True
        acts: list[Act] = [Send(Drain())] if self.link is Link.OPEN else []
        for fence in list(self._waiting):
            acts += self._hand_back(fence)
        return acts + self._finish_if_drained()

    def stop_handler(self, fence: Fence, why: Why) -> list[Act]:
        """The leader, the worker's own clock, or the process wants it to stop."""
        held = self._leases.get(fence)
        if held is None or held.report is not None:
            return []
        if not held.running:
            return self._hand_back(fence)
        if held.stopping is not None:
            # The first reason stands: a lapse during a cancel does not undo the cancel.
            return []
        held.stopping = why
        return [Stop(fence, why)]

    def mark(self, fence: Fence, stands: bool) -> list[Act]:
        """The handler is about to do what cannot be repeated, and wants a mark that says so; or wants it off.

        Answered with :class:`TellMark`, and asked again on every new stream until then.
        """
        held = self._leases.get(fence)
        if held is None or not held.running:
            return [TellMark(fence, False)]
        held.asked = stands
        return [Send(Mark(held.work.job, fence, stands))] if self.link is Link.OPEN else []

    def _welcomed(self, now: float, welcome: Welcome) -> list[Act]:
        term, highest = welcome.term, self.highest
        if term.number < highest.number or (term.number == highest.number and term.id != highest.id):
            return []
        if now >= self._greeted_at + welcome.ttl:
            # The leader counts from a hello that is older than the TTL: this stream is useless.
            self.link = Link.DOWN
            return [Reconnect()]
        self.highest = term
        self.ttl = welcome.ttl
        self.link = Link.OPEN
        self.lapsed = False
        self._heard(self._greeted_at)
        # The hello may have been sent before the drain began.
        acts: list[Act] = [Send(Drain())] if self.draining else []
        acts.append(self._ping(now))
        unacknowledged = [held.report for held in self._leases.values() if held.report is not None]
        if unacknowledged:
            acts.append(Send(Results(unacknowledged)))
        for fence, held in self._leases.items():
            if held.running and held.asked is not None:
                acts.append(Send(Mark(held.work.job, fence, held.asked)))
        return acts + self._finish_if_drained()

    def _heard(self, sent_at: float) -> None:
        self._answered = sent_at if self._answered is None else max(self._answered, sent_at)

    def _ping(self, now: float) -> Act:
        number = self._next_ping
        self._next_ping += 1
        self._pinged_at = now
        self._pings.append((number, now))
        return Send(Ping(number))

    def _ponged(self, number: int) -> None:
        while self._pings and self._pings[0][0] <= number:
            sent, sent_at = self._pings.popleft()
            if sent == number:
                self._heard(sent_at)

    def _assign(self, now: float, works: Sequence[Work]) -> list[Act]:
        acts: list[Act] = []
        for work in works:
            fence = work.fence
            known = fence in self._leases or (self._assigned is not None and fence <= self._assigned)
            self._assigned = fence if self._assigned is None else max(self._assigned, fence)
            if known:
                continue
            self._leases[fence] = _Held(work)
            self._waiting[fence] = now
            acts += self._hand_back(fence) if self.draining else [Offer(work)]
        return acts

    def _acknowledged(self, fences: Sequence[Fence]) -> list[Act]:
        for fence in fences:
            held = self._leases.get(fence)
            if held is not None and held.report is not None:
                del self._leases[fence]
        return self._finish_if_drained()

    def _cancel(self, cancel: Cancel) -> list[Act]:
        if cancel.fence in self._leases:
            return self.stop_handler(cancel.fence, cancel.why)
        # Nothing of it runs here, or ever will. The leader may keep threads occupied for it.
        report = AttemptReport(cancel.job, cancel.fence, Released(started=False), 0.0)
        return [Send(Results([report]))]

    def _marked(self, answer: Marked) -> list[Act]:
        held = self._leases.get(answer.fence)
        if held is None or held.asked is None:
            return []
        if held.asked == answer.stands or held.asked:
            # What does not stand although it was to was refused.
            held.asked = None
            return [TellMark(answer.fence, answer.stands)]
        # It answers what was asked before: the leader was busy with that, and is asked again.
        return [Send(Mark(held.work.job, answer.fence, held.asked))]

    def _hand_back(self, fence: Fence) -> list[Act]:
        held = self._leases[fence]
        report = AttemptReport(held.work.job, fence, Released(started=False), 0.0)
        return [Withdraw(fence), *self._end(held, report)]

    def _end(self, held: _Held, report: AttemptReport) -> list[Act]:
        self._waiting.pop(report.fence, None)
        held.running = False
        held.report = report
        return [Send(Results([report]))] if self.link is Link.OPEN else []

    def _lapse(self) -> list[Act]:
        acts: list[Act] = []
        self.lapsed = True
        if self.link is Link.OPEN:
            self.link = Link.DOWN
            acts.append(Reconnect())
        for fence in list(self._waiting):
            acts += self._hand_back(fence)
        return acts + self._stop_all(Why.LAPSED)

    def _gone(self) -> list[Act]:
        acts: list[Act] = []
        self.link = Link.GONE
        for fence in self._waiting:
            del self._leases[fence]
            acts.append(Withdraw(fence))
        self._waiting.clear()
        for fence, held in self._leases.items():
            # Its lease is lost: whoever waits for a mark waits in vain.
            if held.asked is not None:
                held.asked = None
                acts.append(TellMark(fence, False))
        return [*acts, *self._stop_all(Why.LEASE_LOST), Reborn()]

    def _stop_all(self, why: Why) -> list[Act]:
        if self.on_lapse is OnLapse.CONTINUE:
            return []
        return [act for fence in list(self._leases) for act in self.stop_handler(fence, why)]

    def _finish_if_drained(self) -> list[Act]:
        if self.draining and not self._leases and self.link is Link.OPEN and not self._finished:
            self._finished = True
            return [Send(Goodbye()), Finished()]
        return []
