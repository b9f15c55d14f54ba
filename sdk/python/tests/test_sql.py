"""The worker of docs/sql.md ends its job in the transaction of its effects, as the page says."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path

import httpx
import psycopg
import pytest
from conftest import REPOSITORY, Server, eventually, working

from ganger import Client


def test_the_worker_of_the_page_about_sql_ends_its_job_with_its_effects(
    postgres: str, make_server: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (REPOSITORY / "docs/sql.md").read_text()
    (worker,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    tables = re.findall(r"CREATE TABLE invoice.*?;", page)[0]
    server = make_server("--store", postgres)
    httpx.put(f"{server.url}/v1/kinds/invoice.send", json={"transactional": True}).raise_for_status()
    (tmp_path / "sql_jobs.py").write_text(worker)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", postgres)
    module = importlib.import_module("sql_jobs")
    with psycopg.connect(postgres) as connection, Client(server.url) as client:
        connection.execute(tables)
        connection.execute("INSERT INTO invoice VALUES (1, 99.50)")
        row = connection.execute("SELECT ganger.enqueue('invoice.send', '{\"invoice\": 1}')::text").fetchone()
        connection.commit()
        assert row is not None
        with working(module.app, server.url):
            eventually("the leader has taken it in", lambda: list(client.iter_jobs(kind="invoice.send")))
            # The handler returns nothing: this is what it told the database.
            assert client.result(row[0], 60) == {"sent": True}
        assert connection.execute("SELECT sent FROM invoice").fetchall() == [(True,)]
        assert [(attempt.number, attempt.outcome) for attempt in client.attempts(row[0])] == [(1, "ok")]
