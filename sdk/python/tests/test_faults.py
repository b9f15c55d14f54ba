"""What is killed, stopped and cut off in the middle of a job: nothing is lost, nothing is recorded twice."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Process, Server, eventually
from jobs import blocks, deaf, effect, effect_async, gated, gated_effect, quick

from ganger import Client, Job, Receipt

MakeServer = Callable[..., Server]
MakeProcess = Callable[..., Process]


def notes(folder: Path) -> list[str]:
    path = folder / "notes"
    return path.read_text().splitlines() if path.exists() else []


def attempts(client: Client, job: str) -> list[tuple[int, str]]:
    return [(attempt.number, attempt.outcome) for attempt in client.attempts(job)]


def test_a_server_that_is_killed_mid_job_comes_back_and_the_same_attempt_counts(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    worker = make_process(server.url).wait_connected()
    held = client.enqueue(gated.new("held"))
    ends = client.enqueue(gated.new("ends", "now"))
    eventually("both run", lambda: len(notes(tmp_path)) == 2)
    server.kill()
    # It ends while there is nobody to tell.
    (tmp_path / "now").touch()
    eventually("it has ended", lambda: "ended ends 1" in notes(tmp_path))
    server.start()
    assert client.result(ends.id, 60) == "ends 1"
    (tmp_path / "gate").touch()
    assert client.result(held.id, 60) == "held 1"
    assert attempts(client, held.id) == attempts(client, ends.id) == [(1, "ok")]
    assert sorted(notes(tmp_path)) == ["ended ends 1", "ended held 1", "started ends 1", "started held 1"]
    assert worker.popen.poll() is None, "a worker does not crash because a server restarts"


def test_a_worker_that_is_killed_mid_job_loses_its_attempt_and_not_the_job(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    victim = make_process(server.url, "--ttl", "500ms").wait_connected()
    jobs = [client.enqueue(gated.new(name)) for name in "abc"]
    eventually("all run", lambda: len(notes(tmp_path)) == 3)
    victim.signal(signal.SIGKILL)
    victim.finished()
    make_process(server.url).wait_connected()
    eventually("all run again", lambda: sum(line.endswith(" 2") for line in notes(tmp_path)) == 3)
    (tmp_path / "gate").touch()
    for name, job in zip("abc", jobs):
        assert client.result(job.id, 60) == f"{name} 2"
        assert attempts(client, job.id) == [(1, "lost"), (2, "ok")]
    assert sum(line.startswith("ended") for line in notes(tmp_path)) == 3


def test_the_late_result_of_a_worker_that_was_stopped_past_its_ttl_is_refused(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    """The zombie: one stalls, another takes over, then the first wakes and reports."""
    server = make_server()
    client = Client(server.url)
    zombie = make_process(server.url, "--ttl", "500ms", "--on-lapse", "continue", "--name", "zombie").wait_connected()
    job = client.enqueue(deaf.new("z"))
    eventually("it runs", lambda: notes(tmp_path) == ["started z 1"])
    zombie.signal(signal.SIGSTOP)
    make_process(server.url, "--name", "other").wait_connected()
    eventually("it runs elsewhere", lambda: "started z 2" in notes(tmp_path))
    (tmp_path / "gate 1").touch()
    zombie.signal(signal.SIGCONT)
    eventually("the zombie is done", lambda: "ended z 1" in notes(tmp_path))
    eventually("the zombie goes on as another", lambda: "was closed by the server; going on as" in zombie.said())
    # It leaves only when everything it had to tell was acknowledged.
    zombie.signal(signal.SIGTERM)
    assert zombie.finished() == 0
    seen = client.get(job.id)
    assert (seen.state, seen.attempt) == ("running", 2), "the zombie's word does not count"
    (tmp_path / "gate 2").touch()
    assert client.result(job.id, 60) == "z 2"
    assert [(a.number, a.outcome, a.worker) for a in client.attempts(job.id)] == [
        (1, "lost", "zombie"),
        (2, "ok", "other"),
    ]


def test_a_drain_hands_back_nothing_that_runs_and_a_second_signal_leaves_at_once(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    first = make_process(server.url).wait_connected()
    job = client.enqueue(gated.new("a"))
    eventually("it runs", lambda: notes(tmp_path))
    first.signal(signal.SIGTERM)
    eventually("it drains", lambda: "draining" in first.said())
    later = client.enqueue(gated.new("b", "gate"))
    (tmp_path / "gate").touch()
    assert first.finished() == 0
    assert client.result(job.id, 60) == "a 1"
    assert client.get(later.id).state == "queued", "a draining worker takes nothing new"

    (tmp_path / "gate").unlink()
    stuck = make_process(server.url, "--ttl", "500ms").wait_connected()
    eventually("the other runs", lambda: "started b 1" in notes(tmp_path))
    blocked = client.enqueue(deaf.new("c"))
    eventually("and one that hears nothing", lambda: "started c 1" in notes(tmp_path))
    stuck.signal(signal.SIGTERM)
    eventually("it drains", lambda: "draining" in stuck.said())
    stuck.signal(signal.SIGTERM)
    assert stuck.finished() == 8
    (tmp_path / "gate").touch()
    make_process(server.url).wait_connected()
    assert client.result(later.id, 60) == "b 2"
    assert client.result(blocked.id, 60) == "c 2"


def test_a_drain_with_a_grace_stops_handlers_and_their_work_is_released(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    worker = make_process(server.url, "--drain-grace", "100ms").wait_connected()
    job = client.enqueue(gated.new("a"))
    eventually("it runs", lambda: notes(tmp_path))
    worker.signal(signal.SIGTERM)
    assert worker.finished() == 0
    assert attempts(client, job.id) == [(1, "released")]
    (tmp_path / "gate").touch()
    make_process(server.url).wait_connected()
    assert client.result(job.id, 60) == "a 2"


def test_a_stream_of_jobs_survives_kills_of_servers_and_workers(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    workers = [make_process(server.url, "--ttl", "500ms", "--threads", "4") for _ in range(2)]
    receipts: list[Receipt] = []
    for wave in range(3):
        batch = client.enqueue_batch([quick.new(number) for number in range(wave * 100, wave * 100 + 100)])
        receipts += [receipt for receipt in batch if isinstance(receipt, Receipt)]
        eventually("some ran", lambda wave=wave: len(notes(tmp_path)) > wave * 100 + 30)  # type: ignore[misc]
        server.kill()
        workers.pop(0).signal(signal.SIGKILL)
        server.start()
        workers.append(make_process(server.url, "--ttl", "500ms", "--threads", "4"))
    assert len(receipts) == 300
    done: list[Job] = [client.wait(receipt, 60) for receipt in receipts]
    assert [job.result for job in done] == [2 * number for number in range(300)]
    for job in done:
        outcomes = [outcome for _, outcome in attempts(client, job.id)]
        assert outcomes.count("ok") == 1 and outcomes[-1] == "ok", outcomes
        assert set(outcomes[:-1]) <= {"lost", "released"}, outcomes


def test_a_handler_that_blocks_the_loop_of_its_process_keeps_its_lease(
    make_server: MakeServer, make_process: MakeProcess
) -> None:
    server = make_server()
    client = Client(server.url)
    make_process(server.url, "--ttl", "400ms").wait_connected()
    job = client.enqueue(blocks.new(1.5))
    assert client.result(job.id, 60) == "blocked"
    assert attempts(client, job.id) == [(1, "ok")]


def test_a_worker_may_be_there_before_its_server(make_server: MakeServer, make_process: MakeProcess) -> None:
    server = make_server()
    server.kill()
    worker = make_process(server.url)
    eventually("it found nobody", lambda: "not connected: unavailable" in worker.log.read_text())
    server.start()
    client = Client(server.url)
    assert client.result(client.enqueue(quick.new(2)).id, 60) == 4


def test_with_two_addresses_the_one_that_answers_is_used(make_server: MakeServer, make_process: MakeProcess) -> None:
    server, gone = make_server(), make_server()
    gone.kill()
    both = f"{gone.url},{server.url}"
    client = Client(both)
    worker = make_process(both).wait_connected()
    assert f"connected {server.url}" in worker.said()
    assert client.result(client.enqueue(quick.new(21)).id, 60) == 42


@pytest.mark.parametrize("flags", [["--threads", "0"], ["--queue", "a b"], ["--label", "x"], ["--ttl", "soon"]])
def test_a_worker_that_cannot_start_says_why(make_process: MakeProcess, flags: list[str]) -> None:
    worker = make_process("http://127.0.0.1:1", *flags)
    assert worker.finished() == 2
    assert "error" in worker.log.read_text()


def test_signals_are_heard_although_a_handler_blocks_the_loop(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    worker = make_process(server.url, "--drain-grace", "100ms", "--cancel-grace", "100ms").wait_connected()
    client.enqueue(blocks.new(600))
    # Leased is not begun: what has not begun is handed back, and the worker leaves in peace.
    eventually("it runs", lambda: notes(tmp_path))
    worker.signal(signal.SIGTERM)
    eventually("it drains", lambda: "draining: takes nothing new" in worker.said())
    worker.signal(signal.SIGTERM)
    assert worker.finished() == 8
    impatient = make_process(server.url, "--drain-grace", "100ms", "--cancel-grace", "100ms").wait_connected()
    client.enqueue(blocks.new(601))
    eventually("another runs", lambda: "blocks 601" in notes(tmp_path))
    impatient.signal(signal.SIGINT)
    assert impatient.finished() == 8, "it gives up by itself when its graces are over"


def test_an_attempt_that_is_lost_after_its_mark_is_not_repeated_until_a_person_says_so(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    victim = make_process(server.url, "--ttl", "500ms").wait_connected()
    job = client.enqueue(effect.new("mail"))
    eventually("the mark is durable", lambda: notes(tmp_path) == ["marked mail 1"])
    victim.signal(signal.SIGKILL)
    victim.finished()
    make_process(server.url).wait_connected()
    dead = client.wait(job.id, 60)
    assert (dead.state, dead.reason) == ("dead", "delivery unknown")
    assert attempts(client, job.id) == [(1, "lost")]
    assert notes(tmp_path) == ["marked mail 1"], "nobody did it again"
    (tmp_path / "gate").touch()
    client.replay(job.id)
    assert client.result(job.id, 60) == "mail 2"


def test_a_mark_that_was_taken_off_lets_the_attempt_be_repeated(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    server = make_server()
    client = Client(server.url)
    make_process(server.url).wait_connected()
    job = client.enqueue(effect_async.new("mail", refusals=1))
    assert client.result(job.id, 60) == "mail 2"
    assert attempts(client, job.id) == [(1, "error"), (2, "ok")]


def test_a_mark_is_asked_for_again_after_the_server_was_killed(
    make_server: MakeServer, make_process: MakeProcess, tmp_path: Path
) -> None:
    """The handler asks while nobody answers; it goes on only when the next server has written it down."""
    server = make_server()
    client = Client(server.url)
    make_process(server.url).wait_connected()
    job = client.enqueue(gated_effect.new("mail"))
    eventually("it runs", lambda: notes(tmp_path) == ["started mail 1"])
    server.kill()
    (tmp_path / "ask").touch()
    (tmp_path / "gate").touch()
    server.start()
    assert client.result(job.id, 60) == "mail 1"
    assert attempts(client, job.id) == [(1, "ok")]
    assert notes(tmp_path) == ["started mail 1", "marked mail 1"]
