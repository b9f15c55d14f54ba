"""Schedules through both clients, against a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

import pytest
from conftest import Server, eventually

from ganger import AsyncClient, BadArguments, Client, Invalid, NewJob, NotFound


def test_a_schedule_is_made_seen_paused_run_and_deleted(client: Client) -> None:
    schedules = client.schedules
    job = NewJob("report", {"days": 1}, {"queue": "reports"})
    made = schedules.put("py-nightly", job, cron="30 2 * * *", time_zone="Europe/Berlin", jitter="30s")
    assert (made.name, made.kind, made.paused) == ("py-nightly", "report", False)
    assert made.next is not None and made.next > datetime.now(timezone.utc)
    assert made.fields["jitter"] == "30s"
    # The same again is the same schedule; another rule replaces it.
    assert schedules.put("py-nightly", job, cron="30 2 * * *", time_zone="Europe/Berlin", jitter=30).id == made.id
    hourly = schedules.put("py-nightly", job, every=timedelta(hours=1))
    assert (hourly.id, hourly.fields["every"]) == (made.id, "1h")
    assert "py-nightly" in [schedule.name for schedule in schedules.list()]

    assert schedules.pause("py-nightly").paused
    assert schedules.get("py-nightly").next is None
    fired = schedules.run("py-nightly")
    assert (fired.state, fired.cause) == ("fired", "manual") and fired.job is not None
    submitted = client.get(fired.job)
    assert (submitted.kind, submitted.queue, submitted.payload) == ("report", "reports", {"days": 1})
    assert schedules.get("py-nightly").live == (fired.job,)
    assert schedules.history("py-nightly")[0] == fired
    assert not schedules.resume("py-nightly").paused
    schedules.delete("py-nightly")
    for ask in (schedules.get, schedules.pause, schedules.run, schedules.delete):
        with pytest.raises(NotFound):
            ask("py-nightly")


def test_what_is_wrong_is_said_before_or_by_the_server(client: Client) -> None:
    schedules = client.schedules
    for name, options in [
        ("a b", {"every": 5}),
        ("py-none", {}),
        ("py-two", {"cron": "@daily", "every": 5}),
        ("py-odd", {"every": "soon"}),
        ("py-odd", {"every": 5, "colour": "red"}),
        ("py-odd", {"at": "tomorrow"}),
    ]:
        with pytest.raises(BadArguments):
            schedules.put(name, NewJob("k"), **options)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="never fires"):
        schedules.put("py-never", NewJob("k"), cron="0 0 30 2 *")


def test_every_schedule_is_listed_however_many_pages_there_are(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ganger.schedules.PAGE", 2)
    names = [f"py-page-{n}" for n in range(5)]
    for name in names:
        client.schedules.put(name, NewJob("k"), every=3600, paused=True)
    listed = [schedule.name for schedule in client.schedules.list()]
    assert [name for name in listed if name.startswith("py-page-")] == names
    for name in names:
        client.schedules.delete(name)


def test_a_schedule_fires_with_the_async_client_and_after_a_restart(make_server: Callable[..., Server]) -> None:
    server = make_server()

    async def make() -> None:
        async with AsyncClient(server.url) as client:
            await client.schedules.put("py-tick", NewJob("tick"), every=1, overlap="allow")
            assert [schedule.name for schedule in await client.schedules.list()] == ["py-tick"]
            assert (await client.schedules.pause("py-tick")).paused
            assert (await client.schedules.run("py-tick")).state == "fired"
            assert not (await client.schedules.resume("py-tick")).paused
            assert (await client.schedules.get("py-tick")).kind == "tick"
            assert await client.schedules.history("py-tick")

    asyncio.run(make())
    server.kill()
    server.start()
    with Client(server.url) as client:
        seen = len(client.schedules.history("py-tick"))
        eventually("it fires again", lambda: len(client.schedules.history("py-tick")) > seen)

    async def end() -> None:
        async with AsyncClient(server.url) as client:
            await client.schedules.delete("py-tick")
            with pytest.raises(NotFound):
                await client.schedules.get("py-tick")

    asyncio.run(end())
