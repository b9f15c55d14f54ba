"""How long a worker waits before it knocks again, by what the server said."""

from __future__ import annotations

import logging
import time
from typing import Any, cast

import pytest

from ganger.worker.connection import DENIED, LONGEST_THROTTLED, THROTTLED, Connection


def _waits(connection: Connection, reason: str, retry_after: float | None = None) -> float:
    before = time.monotonic()
    connection.reconnect(reason, retry_after)
    due = connection.due()
    assert due is not None
    return due - before


def _connection() -> Connection:
    return Connection(cast(Any, None), None, lambda act: act(), cast(Any, None))


def test_a_worker_that_is_not_let_in_tries_twice_a_minute_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    connection = _connection()
    with caplog.at_level(logging.WARNING, logger="ganger.worker"):
        for _ in range(3):
            assert _waits(connection, "unauthenticated: the token is not known") >= DENIED / 2
        assert _waits(connection, "permission denied: not these queues") >= DENIED / 2
        # Others at the same address may have made the server impatient: the reason stays the token.
        assert _waits(connection, "resource exhausted: too many at a time") >= THROTTLED
    assert len(caplog.records) == 1, caplog.text
    assert "GANGER_TOKEN" in caplog.text


def test_a_server_that_takes_no_more_is_left_alone_as_long_as_it_says() -> None:
    connection = _connection()
    assert _waits(connection, "resource exhausted: too many workers") >= THROTTLED
    assert _waits(connection, "resource exhausted: too many at a time", 64.0) >= 64.0
    assert _waits(connection, "resource exhausted: too many at a time", 9_999.0) <= LONGEST_THROTTLED + 1


def test_a_server_that_is_away_is_tried_again_soon() -> None:
    assert _waits(_connection(), "unavailable: connection refused") < THROTTLED
