"""Several servers on one PostgreSQL: the worker follows the leader, and outlives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
from conftest import Process, Server, eventually
from jobs import gated, quick

from ganger import Client, Receipt


def leads(server: Server) -> bool:
    return bool(httpx.get(f"{server.url}/v1/cluster").json()["role"] == "leader")


def test_the_worker_follows_the_leader_and_losing_the_leader_runs_nothing_twice(
    postgres: str, make_server: Callable[..., Server], make_process: Callable[..., Process], tmp_path: Path
) -> None:
    servers = [make_server("--store", postgres, "--leader-ttl", "1s") for _ in range(2)]
    leader = eventually("one leads", lambda: next((server for server in servers if leads(server)), None))
    (standby,) = [server for server in servers if server is not leader]
    # Only the standby is named: the leader is found by its welcome.
    worker = make_process(f"{standby.url}").wait_connected()
    eventually("it moves to the leader", lambda: f"connected {leader.url}" in worker.said())
    client = Client(f"{leader.url},{standby.url}")
    held = client.enqueue(gated.new("held"))
    eventually("it runs", lambda: (tmp_path / "notes").exists())
    leader.kill()
    # Submitted while nobody leads: it waits, and is asked again.
    batch = client.enqueue_batch([quick.new(number) for number in range(20)])
    eventually("the standby leads", lambda: leads(standby))
    (tmp_path / "gate").touch()
    assert client.result(held.id, 60) == "held 1"
    results = [client.result(receipt, 60) for receipt in batch if isinstance(receipt, Receipt)]
    assert results == [2 * number for number in range(20)]
    for job in (held.id, *(receipt.id for receipt in batch if isinstance(receipt, Receipt))):
        assert [(attempt.number, attempt.outcome) for attempt in client.attempts(job)] == [(1, "ok")]
    notes = (tmp_path / "notes").read_text().splitlines()
    assert sorted(notes) == sorted(["started held 1", "ended held 1", *(f"ran {number}" for number in range(20))])
