"""The small parts of a worker: threads, outbox, drain, addresses, what handlers say."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest

from ganger import Context, limits, tries
from ganger.context import Attempt
from ganger.handler import Handler
from ganger.outcome import Ok
from ganger.worker.addresses import Addresses
from ganger.worker.drain import ACKS, GOODBYE, Draining, Step
from ganger.worker.hands import Hands
from ganger.worker.messages import AttemptReport, Fence, Goodbye, Ping, Results, Term, Work, identity
from ganger.worker.outbox import LINGER, Outbox
from ganger.worker.running import SPENT_ALARMS, Live, Running
from ganger.worker.threads import Threads


def fence(seq: int) -> Fence:
    return Fence(Term(1, 1), seq)


def test_a_wide_one_is_not_passed_by_the_narrow_ones_behind_it() -> None:
    threads = Threads(4)
    for seq, wanted in ((1, 1), (2, 4), (3, 1)):
        threads.queue(fence(seq), wanted)
    assert threads.next() == (fence(1), 1)
    assert threads.next() is None, "three are free, and the head wants four"
    threads.release(1)
    assert threads.next() == (fence(2), 4)
    threads.withdraw(fence(3))
    threads.release(4)
    assert threads.next() is None


@pytest.mark.parametrize("seed", range(20))
def test_threads_are_never_oversubscribed_and_all_work_runs_in_order(seed: int) -> None:
    dice = random.Random(seed)
    capacity = dice.randrange(1, 9)
    threads, held, order = Threads(capacity), [], []
    for seq in range(40):
        threads.queue(fence(seq), dice.randrange(12))
    while len(order) < 40 or held:
        while (granted := threads.next()) is not None:
            order.append(granted[0].seq)
            held.append(granted[1])
        assert sum(held) <= capacity
        threads.release(held.pop(dice.randrange(len(held))))
    assert order == list(range(40))


def results(number: int, size: int) -> Results:
    return Results([AttemptReport(b"", fence(1), Ok("x" * size), 0.0)] * number)


def sizes(outbox: Outbox) -> list[int]:
    found = []
    while outbox.is_ready:
        message = outbox.pop()
        found.append(len(message.reports) if isinstance(message, Results) else 0)
    return found


def test_results_leave_when_idle_when_full_or_after_a_millisecond() -> None:
    outbox = Outbox()
    outbox.push(0.0, results(3, 10))
    outbox.settle(LINGER / 2, idle=False)
    assert not outbox.is_ready and outbox.due() == LINGER
    outbox.settle(LINGER, idle=False)
    assert sizes(outbox) == [3]
    outbox.push(1.0, results(1, 10))
    outbox.settle(1.0, idle=True)
    assert sizes(outbox) == [1]
    outbox.push(2.0, results(limits.RESULTS_PER_MESSAGE * 2 + 1, 10))
    assert sizes(outbox) == [64, 64], "the full ones wait for nobody"
    assert outbox.due() is not None


def test_a_message_stays_under_a_mebibyte_and_a_larger_result_travels_alone() -> None:
    outbox = Outbox()
    for message in (results(3, 500_000), results(1, 1 << 20), results(1, 1)):
        outbox.push(0.0, message)
    outbox.settle(0.0, idle=True)
    assert sizes(outbox) == [2, 1, 1, 1]


def test_a_goodbye_comes_after_the_results_and_a_ping_does_not_wait_for_them() -> None:
    outbox = Outbox()
    outbox.push(0.0, results(1, 1))
    outbox.push(0.0, Ping(1))
    outbox.push(0.0, Goodbye())
    assert outbox.pop() == Ping(1)
    assert isinstance(outbox.pop(), Results)
    assert outbox.pop() == Goodbye()
    assert outbox.due() is None


def test_handlers_are_stopped_once_after_the_grace_and_left_after_theirs() -> None:
    drain = Draining(0.0, 30.0, 10.0)
    assert drain.step(29.9) is None
    assert drain.step(30.0) is Step.STOP_HANDLERS
    assert drain.step(30.1) is None
    assert drain.due() == 40.0 + ACKS
    assert drain.step(40.0 + ACKS) is Step.GIVE_UP


def test_a_second_word_can_only_make_a_drain_shorter() -> None:
    drain = Draining(0.0, 30.0, 10.0)
    drain.hasten(1.0, 600.0)
    assert drain.due() == 30.0
    drain.hasten(1.0, 0.0)
    assert drain.step(1.0) is Step.STOP_HANDLERS
    drain.only_goodbye_is_left(1.0)
    assert drain.due() == 1.0 + GOODBYE


def test_the_named_servers_take_turns_and_a_leader_that_broke_is_not_dialled_next() -> None:
    addresses = Addresses(["http://a:1", "http://b:2", "http://c:3"])
    assert addresses.dial() == "http://a:1"
    addresses.broke(greeted=False)
    assert addresses.dial() == "http://b:2"
    addresses.move_to("http://a:1")
    addresses.broke(greeted=True)
    assert addresses.dial() == "http://b:2"


def test_a_leader_elsewhere_is_tried_once_and_never_with_less_protection() -> None:
    addresses = Addresses(["https://a:1"])
    addresses.dial()
    for url in ("https://a:1/", "http://b:2", "", "no url"):
        assert addresses.leader(url) is None, url
    leader = addresses.leader("https://b:2")
    assert leader is not None
    addresses.move_to(leader)
    addresses.broke(greeted=False)
    assert addresses.dial() == "https://a:1", "back to the list"
    assert addresses.leader("https://b:2") is None, "it took the call and said nothing"
    assert addresses.leader("https://c:3") is not None


def test_delays_double_up_to_the_bound() -> None:
    for failures, whole in enumerate([0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0]):
        assert whole / 2 <= tries.backoff(failures) <= whole
    assert tries.backoff(10**6) <= tries.LONGEST_DELAY


def test_only_the_latest_progress_is_kept_within_its_bounds() -> None:
    context = Context(Attempt(), bell=lambda: None)
    context.progress(0.1, "one")
    context.progress(7.0, "x" * (limits.NOTE_BYTES + 1))
    assert context._take().progress == (1.0, "x" * limits.NOTE_BYTES)
    context.progress(float("nan"))
    assert context._take().progress == (0.0, "")
    assert context._take().progress is None


def test_a_flood_of_lines_keeps_the_last_whole_ones() -> None:
    context = Context(Attempt(), bell=lambda: None)
    for number in range(50_000):
        context.log(f"line {number}")
    log = context._take().log
    assert limits.LOG_BYTES / 2 < len(log) <= limits.LOG_BYTES
    assert log.startswith("line ") and log.endswith("line 49999\n")
    context.log("é" * limits.LINE_BYTES)
    assert len(context._take().log.encode()) == limits.LINE_BYTES + 1


def test_an_id_is_shown_as_the_server_shows_it() -> None:
    assert identity("job_", bytes(16)) == "job_" + "0" * 26
    assert identity("wrk_", bytes([255] * 16)) == "wrk_7" + "Z" * 25


def test_alarms_of_attempts_that_are_over_do_not_pile_up() -> None:
    def nothing() -> None: ...

    handler = Handler("k", nothing)
    running = Running(asyncio.new_event_loop(), lambda fence, report: None)
    for seq in range(1000):
        work = Work(b"", fence(seq), 1, 1, "k", "default", "null", 3600.0, 5, None)
        running.begin(float(seq), Live(work, Context(Attempt(), bell=lambda: None), handler, 1))
        if seq >= 3:
            running.remove(fence(seq - 3))
    assert len(running) == 3 and len(running._alarms) <= SPENT_ALARMS + 2 * len(running)
    assert [found.seq for found, _ in running.alarms(10_000.0)] == [997, 998, 999]
    running.close()


def test_threads_of_handlers_are_used_again() -> None:
    hands, names = Hands(), []
    for _ in range(5):
        done = threading.Event()
        hands.run(lambda done=done: (names.append(threading.current_thread().name), done.set()))  # type: ignore[misc]
        assert done.wait(30)
        while hands._idle == 0:
            pass
    assert names == ["ganger-hand-1"] * 5
    hands.close()
