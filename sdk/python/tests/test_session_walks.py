"""Random walks of the session against a leader that forgets, repeats and vanishes, a network that breaks and a clock
that leaps. Seeded bugs show that the walks would notice."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice

import pytest

from ganger.outcome import Ok
from ganger.worker.messages import Ack, Assign, Fence, Ping, Pong, Results, Term, ToWorker, Welcome, Work, WorkerInfo
from ganger.worker.session import Act, Link, Send, Session

TERM, TTL = Term(3, 77), 15.0


class Walk:
    """A session, what the world knows of it, and what must hold."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.session = Session(b"s" * 16, WorkerInfo("w", [], [], 4, {}, "", TTL))
        self.now = 0.0
        self.greeted = 0.0
        self.seq = 0
        #: Sending moments of pings of this stream; the latest moment that was answered.
        self.pings: dict[int, float] = {}
        self.answered = float("-inf")
        self.known: list[Work] = []
        self.started: set[Fence] = set()
        self.ended: set[Fence] = set()
        self.acknowledged: set[Fence] = set()
        #: What went out on this stream.
        self.told: set[Fence] = set()
        #: Messages of older streams that are still on their way.
        self.late: list[tuple[int, ToWorker]] = []

    def step(self) -> None:
        self.now += self.dice.choice([0.0, 0.1, 0.5, 1.0, 6.0])
        self.dice.choice(
            [
                self.connect,
                self.welcome,
                self.welcome,
                self.pong,
                self.pong,
                self.assign,
                self.assign,
                self.start,
                self.start,
                self.start,
                self.end,
                self.acknowledge,
                self.arrive_late,
                self.tick,
            ]
        )()

    def perform(self, acts: list[Act]) -> None:
        for act in acts:
            if isinstance(act, Send) and isinstance(act.message, Ping):
                self.pings[act.message.number] = self.now
            elif isinstance(act, Send) and isinstance(act.message, Results):
                self.told.update(each.fence for each in act.message.reports)

    def hear(self, message: ToWorker) -> None:
        self.perform(self.session.receive(self.now, self.session.stream, message))

    def connect(self) -> None:
        if self.session.link is Link.OPEN and self.dice.random() < 0.8:
            return
        self.session.disconnected()
        self.pings, self.told, self.greeted = {}, set(), self.now
        self.perform(self.session.connected(self.now))

    def welcome(self) -> None:
        if self.session.link is not Link.GREETING:
            return
        message = Welcome(TERM, TTL)
        self.late.append((self.session.stream, message))
        self.hear(message)
        if self.session.is_open:
            assert self.now < self.greeted + TTL, "a welcome older than the TTL was accepted"
            self.answered = max(self.answered, self.greeted)
            assert self.ended - self.acknowledged <= self.told, "a result was not sent again"

    def pong(self) -> None:
        if self.pings and self.session.is_open:
            number = self.dice.choice(list(self.pings))
            self.answered = max(self.answered, self.pings[number])
            self.pings = {n: at for n, at in self.pings.items() if n > number}
            self.hear(Pong(number))

    def assign(self) -> None:
        for _ in range(self.dice.randrange(3)):
            self.seq += 1
            fence = Fence(TERM, self.seq)
            self.known.append(Work(bytes(16), fence, 1, 1, "test", "default", "null", None, 5, None))
        open_ones = [work for work in self.known if work.fence not in self.acknowledged]
        message = Assign(sorted(self.dice.sample(open_ones, min(len(open_ones), 4)), key=lambda work: work.fence))
        self.late.append((self.session.stream, message))
        self.hear(message)

    def start(self) -> None:
        for work in islice(reversed(self.known), 8):
            if self.session.try_start(self.now, work.fence):
                assert work.fence not in self.started, "a lease was started twice"
                assert self.now < self.answered + TTL, "a handler was started after the TTL"
                self.started.add(work.fence)
                return

    def end(self) -> None:
        running = sorted(self.started - self.ended)
        if running:
            fence = self.dice.choice(running)
            self.ended.add(fence)
            self.perform(self.session.ended(fence, Ok("1"), 0.0))

    def acknowledge(self) -> None:
        if self.told and self.session.is_open:
            fence = self.dice.choice(sorted(self.told))
            self.acknowledged.add(fence)
            self.hear(Ack([fence]))

    def arrive_late(self) -> None:
        if self.late:
            stream, message = self.late.pop(self.dice.randrange(len(self.late)))
            if stream != self.session.stream:
                self.perform(self.session.receive(self.now, stream, message))

    def tick(self) -> None:
        self.perform(self.session.tick(self.now))
        if self.session.is_open:
            assert self.now < self.answered + TTL, "the session did not lapse"


def walk(seed: int) -> None:
    play = Walk(seed)
    for _ in range(400):
        play.step()


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_nothing_starts_twice_nor_after_the_ttl_and_no_result_is_forgotten(first: int) -> None:
    for seed in range(first, first + 20):
        walk(seed)


def _ttl_from_receipt(patch: pytest.MonkeyPatch) -> None:
    receive = Session.receive

    def wrong(self: Session, now: float, stream: int, message: ToWorker) -> list[Act]:
        patch.setattr(Session, "_heard", lambda s, sent_at: setattr(s, "_answered", now))
        return receive(self, now, stream, message)

    patch.setattr(Session, "receive", wrong)
    patch.setattr(Session, "_heard", Session._heard)


def _old_stream_accepted(patch: pytest.MonkeyPatch) -> None:
    receive = Session.receive
    patch.setattr(Session, "receive", lambda self, now, stream, message: receive(self, now, self.stream, message))


def _acknowledged_before_its_ack(patch: pytest.MonkeyPatch) -> None:
    ended = Session.ended

    def wrong(self: Session, fence: Fence, report: Ok, ran: float) -> list[Act]:
        acts = ended(self, fence, report, ran)
        if self.is_open:
            self._leases.pop(fence, None)
        return acts

    patch.setattr(Session, "ended", wrong)


def _only_running_fences_known(patch: pytest.MonkeyPatch) -> None:
    assign = Session._assign

    def wrong(self: Session, now: float, works: list[Work]) -> list[Act]:
        self._assigned = None
        for work in works:
            held = self._leases.get(work.fence)
            if held is not None and held.report is not None:
                del self._leases[work.fence]
        return assign(self, now, works)

    patch.setattr(Session, "_assign", wrong)


def _never_lapses(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Session, "_lapse", lambda self: [])


@pytest.mark.parametrize(
    "bug",
    [
        _ttl_from_receipt,
        _old_stream_accepted,
        _acknowledged_before_its_ack,
        _only_running_fences_known,
        _never_lapses,
    ],
)
def test_the_walks_notice_a_seeded_bug(
    bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    bug(monkeypatch)
    with pytest.raises(AssertionError):
        for seed in range(200):
            walk(seed)
