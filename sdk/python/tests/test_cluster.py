"""Several servers on one PostgreSQL: the worker follows the leader, and outlives it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from conftest import Process, Server, eventually, free_port
from jobs import gated, quick

from ganger import Client, Receipt


def program(name: str) -> str:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return str(versions[-1] / name) if versions else name


@pytest.fixture
def postgres() -> Iterator[str]:
    """A private PostgreSQL on a free port. Below /tmp: the user that it runs as must get there."""
    folder, port = tempfile.mkdtemp(prefix="ganger-pg-"), free_port()
    data, as_user = f"{folder}/data", []
    if os.getuid() == 0:
        # It refuses to run as root.
        user = next(u for u in ("postgres", "nobody") if any(u == entry.pw_name for entry in pwd.getpwall()))
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        as_user = ["setpriv", f"--reuid={user}", "--clear-groups", "--"]
    made = [program("initdb"), "-D", data, "-U", "ganger", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
    subprocess.run([*as_user, *made], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    settings = ["-c", f"port={port}", "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
    command = [*as_user, program("postgres"), "-D", data, *settings, "-c", "fsync=off"]
    with Path(folder, "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    ready = [program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    eventually("PostgreSQL is ready", lambda: subprocess.run(ready).returncode == 0)
    yield f"postgres://ganger@127.0.0.1:{port}/postgres"
    server.terminate()
    server.wait()
    shutil.rmtree(folder)


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
