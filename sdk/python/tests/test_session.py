"""The state machine of the session, claim by claim, as ``core/src/session/tests.rs`` has them."""

from __future__ import annotations

import pytest

from ganger.outcome import Ok, Released, Report, TimedOut, WasCancelled
from ganger.worker.messages import (
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
    Welcome,
    Why,
    Work,
    WorkerInfo,
)
from ganger.worker.session import (
    HELD_AT_MOST,
    PINGS_REMEMBERED,
    Act,
    DrainAsked,
    Finished,
    Offer,
    OnLapse,
    Reborn,
    Reconnect,
    Send,
    Session,
    Stop,
    TellMark,
    Withdraw,
)

TERM = Term(3, 77)
TTL = 15.0


def fence(seq: int) -> Fence:
    return Fence(TERM, seq)


def work(seq: int) -> Work:
    return Work(bytes([seq] * 16), fence(seq), 1, 1, "test", "default", "null", None, 5, None)


def report(seq: int, how: Report) -> AttemptReport:
    return AttemptReport(bytes([seq] * 16), fence(seq), how, 0.0)


def results(*reports: AttemptReport) -> Act:
    return Send(Results(list(reports)))


def greeting(on_lapse: OnLapse = OnLapse.CANCEL) -> Session:
    """Says hello at the moment 0 and is not yet answered."""
    session = Session(b"s" * 16, WorkerInfo("w", [], [], 4, {}, "", TTL), on_lapse)
    hello = session.connected(0.0)
    assert hello == [Send(Hello(b"s" * 16, 1, session.worker, Term(), False))]
    return session


def opened(on_lapse: OnLapse = OnLapse.CANCEL) -> Session:
    """Said hello at the moment 0 and was welcomed at once; its ping 1 is on its way."""
    session = greeting(on_lapse)
    assert session.receive(0.0, 1, Welcome(TERM, TTL)) == [Send(Ping(1))]
    return session


def run(session: Session, now: float, seq: int) -> None:
    """A handler runs under this fence since that moment."""
    assert session.receive(now, session.stream, Assign([work(seq)])) == [Offer(work(seq))]
    assert session.try_start(now, fence(seq))


def hear(session: Session, now: float, message: object) -> list[Act]:
    return session.receive(now, session.stream, message)  # type: ignore[arg-type]


def test_the_ttl_counts_from_the_sending_of_what_was_answered() -> None:
    session = opened()
    assert session.tick(5.0) == [Send(Ping(2))]
    hear(session, 9.0, Pong(2))
    hear(session, 9.0, Assign([work(1), work(2)]))
    assert session.try_start(19.9, fence(1)), "ping 2 was sent at 5"
    assert not session.try_start(20.0, fence(2)), "not 24: the answer's receipt does not count"


def test_a_pong_for_an_older_ping_never_moves_the_end_earlier() -> None:
    session = opened()
    session.tick(5.0)
    session.tick(10.0)
    hear(session, 11.0, Pong(3))
    hear(session, 12.0, Pong(2))
    hear(session, 12.0, Pong(1))
    assert not session.lapsed
    session.tick(24.9)
    assert not session.lapsed
    session.tick(25.0)
    assert session.lapsed


def test_a_lapse_hands_back_what_waits_stops_what_runs_and_connects_again() -> None:
    session = opened()
    run(session, 0.0, 1)
    hear(session, 14.9, Assign([work(2)]))
    acts = session.tick(15.0)
    assert acts == [Reconnect(), Withdraw(fence(2)), Stop(fence(1), Why.LAPSED)]
    assert session.ended(fence(1), WasCancelled(), 0.0) == [], "there is no stream"
    session.connected(16.0)
    kept = [report(1, Released(True)), report(2, Released(False))]
    assert hear(session, 16.0, Welcome(TERM, TTL)) == [Send(Ping(2)), Send(Results(kept))]


def test_with_continue_a_lapse_lets_handlers_finish_and_their_results_are_offered() -> None:
    session = opened(OnLapse.CONTINUE)
    run(session, 0.0, 1)
    assert session.tick(15.0) == [Reconnect()]
    session.ended(fence(1), Ok("1"), 0.0)
    session.connected(16.0)
    assert hear(session, 16.0, Welcome(TERM, TTL)) == [Send(Ping(2)), results(report(1, Ok("1")))]


def test_nothing_that_arrives_on_an_older_stream_counts() -> None:
    session = opened()
    session.disconnected()
    session.connected(1.0)
    for message in (Welcome(TERM, TTL), Assign([work(1)]), Gone(), Drain(), Pong(1)):
        assert session.receive(1.0, 1, message) == []
    assert not session.is_open


def test_before_its_welcome_a_stream_carries_nothing_but_gone() -> None:
    session = greeting()
    for message in (Assign([work(1)]), Pong(1), Ack([fence(1)]), Drain(), Cancel(b"", fence(1), Why.CANCELLED)):
        assert hear(session, 0.0, message) == []
    assert hear(session, 0.0, Gone()) == [Reborn()]


def test_a_stale_welcome_is_no_welcome() -> None:
    session = greeting()
    assert hear(session, 15.0, Welcome(TERM, TTL)) == [Reconnect()]
    assert not session.is_open


def test_a_hello_that_is_not_answered_for_a_ttl_is_abandoned() -> None:
    session = greeting()
    assert session.next_tick() == 15.0
    assert session.tick(14.9) == []
    assert session.tick(15.0) == [Reconnect()]


@pytest.mark.parametrize("term", [Term(2, 77), Term(3, 78)])
def test_a_term_that_is_lower_or_another_of_the_same_number_is_refused(term: Term) -> None:
    session = opened()
    session.disconnected()
    hello = session.connected(1.0)[0]
    assert isinstance(hello, Send) and isinstance(hello.message, Hello) and hello.message.highest == TERM
    assert hear(session, 1.0, Welcome(term, TTL)) == []
    assert not session.is_open
    hear(session, 1.0, Welcome(Term(4, 1), TTL))
    assert session.is_open


def test_a_result_is_sent_again_on_every_stream_until_it_is_acknowledged() -> None:
    session = opened()
    run(session, 0.0, 1)
    assert session.ended(fence(1), Ok("1"), 0.0) == [results(report(1, Ok("1")))]
    for stream in (2, 3):
        session.disconnected()
        session.connected(1.0)
        assert results(report(1, Ok("1"))) in session.receive(1.0, stream, Welcome(TERM, TTL))
    hear(session, 2.0, Ack([fence(1)]))
    assert session.unfinished == 0
    session.disconnected()
    session.connected(3.0)
    assert len(hear(session, 3.0, Welcome(TERM, TTL))) == 1


def test_an_ack_of_what_has_not_ended_forgets_nothing() -> None:
    session = opened()
    run(session, 0.0, 1)
    hear(session, 0.0, Ack([fence(1), fence(9)]))
    assert session.unfinished == 1


def test_a_lease_that_is_known_is_not_offered_again() -> None:
    session = opened()
    run(session, 0.0, 1)
    run(session, 0.0, 2)
    hear(session, 0.0, Assign([work(3)]))
    session.ended(fence(2), Ok("2"), 0.0)
    session.disconnected()
    session.connected(0.5)
    hear(session, 0.5, Welcome(TERM, TTL))
    again = [work(seq) for seq in (1, 2, 3, 4)]
    assert hear(session, 0.5, Assign(again)) == [Offer(work(4))], "running, ended, held; only the fourth is new"
    hear(session, 0.5, Ack([fence(2)]))
    assert hear(session, 0.5, Assign([work(2)])) == [], "fences only grow on a stream"


def test_work_that_found_no_threads_is_handed_back_after_a_second() -> None:
    session = opened()
    hear(session, 2.0, Assign([work(1)]))
    assert session.next_tick() == 2.0 + HELD_AT_MOST
    back = [Withdraw(fence(1)), results(report(1, Released(False)))]
    assert session.tick(3.0) == back
    assert not session.try_start(3.0, fence(1))


def test_the_first_reason_to_stop_stands() -> None:
    session = opened()
    run(session, 0.0, 1)
    cancel = Cancel(work(1).job, fence(1), Why.CANCELLED)
    assert hear(session, 0.0, cancel) == [Stop(fence(1), Why.CANCELLED)]
    assert session.stop_handler(fence(1), Why.TIMEOUT) == []
    assert session.ended(fence(1), WasCancelled(), 0.0) == [results(report(1, WasCancelled()))]


def test_a_cancel_of_what_is_not_here_is_answered_so_that_its_threads_are_free() -> None:
    session = opened()
    cancel = Cancel(work(1).job, fence(1), Why.CANCELLED)
    assert hear(session, 0.0, cancel) == [results(report(1, Released(False)))]


@pytest.mark.parametrize(
    ("why", "told"),
    [
        (Why.CANCELLED, WasCancelled()),
        (Why.TIMEOUT, TimedOut()),
        (Why.LEASE_LOST, Released(True)),
        (Why.LAPSED, Released(True)),
        (Why.DRAINING, Released(True)),
    ],
)
def test_how_a_stopped_handler_counts_depends_on_why_it_was_stopped(why: Why, told: Report) -> None:
    session = opened()
    run(session, 0.0, 1)
    run(session, 0.0, 2)
    session.stop_handler(fence(1), why)
    session.stop_handler(fence(2), why)
    assert session.ended(fence(1), WasCancelled(), 0.0) == [results(report(1, told))]
    assert session.ended(fence(2), Ok("1"), 0.0) == [results(report(2, Ok("1")))], "it finished all the same"


def test_a_drain_hands_back_finishes_and_says_goodbye_after_the_last_ack() -> None:
    session = opened()
    run(session, 0.0, 1)
    hear(session, 0.0, Assign([work(2)]))
    assert session.drain() == [Send(Drain()), Withdraw(fence(2)), results(report(2, Released(False)))]
    assert hear(session, 0.0, Assign([work(3)])) == [Withdraw(fence(3)), results(report(3, Released(False)))]
    session.ended(fence(1), Ok("1"), 0.0)
    assert hear(session, 0.0, Ack([fence(1), fence(2)])) == []
    assert hear(session, 0.0, Ack([fence(3)])) == [Send(Goodbye()), Finished()]


def test_a_drain_without_a_server_finishes_at_the_next_welcome() -> None:
    session = opened()
    session.disconnected()
    assert session.drain() == []
    session.connected(1.0)
    assert hear(session, 1.0, Welcome(TERM, TTL)) == [Send(Drain()), Send(Ping(2)), Send(Goodbye()), Finished()]


def test_a_session_that_is_gone_goes_on_as_another_and_still_offers_its_results() -> None:
    session = opened()
    run(session, 0.0, 1)
    run(session, 0.0, 2)
    session.ended(fence(2), Ok("2"), 0.0)
    hear(session, 0.0, Assign([work(3)]))
    assert hear(session, 0.0, Gone()) == [Withdraw(fence(3)), Stop(fence(1), Why.LEASE_LOST), Reborn()]
    after = session.reborn(b"t" * 16)
    assert after.ended(fence(1), WasCancelled(), 0.0) == []
    hello = after.connected(1.0)
    assert hello == [Send(Hello(b"t" * 16, 2, session.worker, TERM, False))], "streams go on counting"
    owed = results(report(1, Released(True)), report(2, Ok("2")))
    assert hear(after, 1.0, Welcome(TERM, TTL)) == [Send(Ping(1)), owed]


def test_the_server_may_ask_for_a_drain() -> None:
    assert hear(opened(), 0.0, Drain()) == [DrainAsked()]


def test_unanswered_pings_are_remembered_up_to_a_bound() -> None:
    session = opened()
    for number in range(PINGS_REMEMBERED * 2):
        session._ping(float(number))
    assert len(session._pings) == PINGS_REMEMBERED


def mark(seq: int, stands: bool) -> Act:
    return Send(Mark(work(seq).job, fence(seq), stands))


def test_a_mark_is_asked_for_until_it_is_answered() -> None:
    session = opened()
    run(session, 0.0, 1)
    assert session.mark(fence(1), True) == [mark(1, True)]
    session.disconnected()
    session.connected(1.0)
    assert hear(session, 1.0, Welcome(TERM, TTL)) == [Send(Ping(2)), mark(1, True)]
    assert hear(session, 1.0, Marked(fence(1), True)) == [TellMark(fence(1), True)]
    assert hear(session, 1.0, Marked(fence(1), True)) == [], "it was answered"
    session.disconnected()
    session.connected(2.0)
    assert hear(session, 2.0, Welcome(TERM, TTL)) == [Send(Ping(3))], "and is not asked for again"


def test_the_answer_to_an_earlier_question_is_not_taken_for_that_to_the_present_one() -> None:
    session = opened()
    run(session, 0.0, 1)
    session.mark(fence(1), False)
    assert hear(session, 0.0, Marked(fence(1), True)) == [mark(1, False)]
    assert hear(session, 0.0, Marked(fence(1), False)) == [TellMark(fence(1), False)]


def test_a_mark_is_refused_without_a_lease() -> None:
    session = opened()
    assert session.mark(fence(9), True) == [TellMark(fence(9), False)]
    run(session, 0.0, 1)
    session.mark(fence(1), True)
    assert TellMark(fence(1), False) in hear(session, 0.0, Gone())
