"""Testing users' jobs without a server."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from ganger import (
    App,
    BadArguments,
    Conflict,
    Context,
    Fatal,
    Invalid,
    JobCancelled,
    JobDead,
    NewJob,
    NotFound,
    RetryAfter,
    Snooze,
    Throttled,
    WaitTimeout,
)

app = App("http://127.0.0.1:1")


@app.job("flaky", max_attempts=3)
def flaky(until: int, *, ctx: Context = Context.current) -> int:
    ctx.log(f"attempt {ctx.attempt}")
    ctx.progress(ctx.attempt / 3)
    if ctx.attempt < until:
        raise ValueError("not yet")
    return ctx.attempt


@app.job("parent")
async def parent(count: int) -> int:
    for number in range(count):
        await flaky.options(delay="1h", priority=number).enqueue(1)
    return count


@app.job("later")
def later(*, ctx: Context = Context.current) -> int:
    if ctx.attempt == 1:
        raise Snooze("1h")
    if ctx.attempt == 2:
        raise RetryAfter("30m")
    if ctx.attempt == 3:
        raise Throttled("15m")
    return ctx.attempt


@app.job("hopeless")
def hopeless() -> None:
    raise Fatal("no")


def test_jobs_run_in_memory_with_their_retries_and_no_waiting() -> None:
    with app.test() as jobs:
        handle = flaky.enqueue_sync(3)
        flaky.enqueue_sync(9)
        later.enqueue_sync()
        assert [job.state for job in jobs.jobs] == ["queued"] * 3
        jobs.run()
        assert handle.wait() == 3
    good, bad, late = jobs.jobs
    assert (good.state, good.attempt, good.errors) == ("succeeded", 3, ["ValueError: not yet"] * 2)
    assert "attempt 1\n" in good.log and good.progress == (1.0, "")
    assert (bad.state, bad.attempt) == ("dead", 3)
    assert (late.state, late.attempt, jobs.now) == ("succeeded", 4, 6300.0)


def test_waiting_for_a_job_runs_it_also_in_async_tests() -> None:
    async def story() -> None:
        handle = await parent.enqueue(3)
        assert await handle.wait() == 3
        assert flaky.enqueue_sync(1).wait() == 1

    with app.test() as jobs:
        asyncio.run(story())
        assert [job.state for job in jobs.of("flaky")] == ["scheduled"] * 3 + ["succeeded"]
        jobs.run()
        assert {job.state for job in jobs.jobs} == {"succeeded"}
        with pytest.raises(JobDead, match="no"):
            hopeless.enqueue_sync().wait()


def test_unique_keys_and_bad_arguments_are_as_on_a_server() -> None:
    with app.test() as jobs:
        first = flaky.options(unique_key="k").enqueue_sync(1)
        again = flaky.options(unique_key="k").enqueue_sync(1)
        assert again.deduplicated and again.id == first.id and len(jobs.jobs) == 1
        with pytest.raises(BadArguments):
            flaky.enqueue_sync("many")  # type: ignore[arg-type]
        with pytest.raises(BadArguments):
            asyncio.run(flaky.enqueue())  # type: ignore[call-arg]
    assert app._harness is None


@app.job("fan.sync")
def fan_sync(count: int) -> int:
    handles = [app.client.enqueue("flaky", {"until": 1}) for _ in range(count)]
    return sum(handle.wait() for handle in handles)


@app.job("fan.async")
async def fan_async(count: int) -> int:
    receipts = await app.async_client.enqueue_batch([flaky.new(1) for _ in range(count)])
    return sum([await app.async_client.result(receipt.id) for receipt in receipts])  # type: ignore[union-attr]


@app.job("total")
def total(*, ctx: Context = Context.current) -> int:
    return sum(parent.result or 0 for parent in ctx.parents())


@app.job("price")
def price(net: Decimal) -> Decimal:
    return net * 2


@app.job("mail")
def mail(*, ctx: Context = Context.current) -> None:
    ctx.mark_effect()
    raise OSError("the connection broke")


def test_clients_inside_and_outside_of_handlers_stay_in_memory() -> None:
    # The app names a port where nobody listens: whatever left the process would fail.
    with app.test() as jobs:
        assert fan_sync.enqueue_sync(3).wait() == 3
        assert asyncio.run(_result_of_async_fan()) == 2
        outside = app.client.enqueue("flaky", {"until": 1}, tags=["mine"])
        assert app.client.get(outside.id).state == "queued"
        assert [job.id for job in app.client.iter_jobs(tag="mine")] == [outside.id]
        assert app.client.list_jobs(state=["queued", "running"], kind="flaky").jobs[0].id == outside.id
        assert app.client.result(outside.id) == 1
        assert "attempt 1" in app.client.logs(outside.id)
        imported = app.client.import_jobs([NewJob("later"), NewJob("later", None, {"depends_on": ["job_none"]})])
        assert (imported.accepted, imported.rejected) == (1, 1)
        with pytest.raises(NotImplementedError, match="/v1/schedules/nightly cannot be answered in memory"):
            app.client.schedules.get("nightly")
        assert len(jobs.of("flaky")) == 6
    assert app.client is not jobs.client


async def _result_of_async_fan() -> int:
    return await (await fan_async.enqueue(2)).wait()


def test_handles_look_at_and_cancel_their_jobs() -> None:
    with app.test() as jobs:
        handle = flaky.options(delay="1h").enqueue_sync(1)
        assert handle.get().state == "scheduled"
        assert handle.cancel().state == "cancelled"
        jobs.run()
        assert handle.get().attempt == 0
        with pytest.raises(JobCancelled):
            handle.wait()
        with pytest.raises(Conflict):
            handle.cancel()
        with pytest.raises(NotFound):
            app.client.get("job_none")
        assert app.client.replay(handle.id).state == "queued"
        assert handle.wait() == 1
        unknown = app.client.enqueue("somebody.elses")
        with pytest.raises(WaitTimeout, match="is queued still"):
            unknown.wait()


def test_a_unique_key_is_held_after_success_for_as_long_as_was_asked() -> None:
    with app.test() as jobs:
        keyed = flaky.options(unique_key="k", unique_for="1h")
        first = keyed.enqueue_sync(1)
        first.wait()
        assert keyed.enqueue_sync(1).deduplicated
        jobs.now += 3600
        second = keyed.enqueue_sync(1)
        assert not second.deduplicated and second.id != first.id
        assert not flaky.options(unique_key="other").enqueue_sync(1).deduplicated
        forever = flaky.options(unique_key="always", unique_for="forever")
        forever.enqueue_sync(1).wait()
        jobs.now += 1e9
        assert forever.enqueue_sync(1).deduplicated


def test_jobs_wait_for_their_parents_and_see_their_results() -> None:
    with app.test() as jobs:
        one, two = flaky.enqueue_sync(2), flaky.options(delay="1h").enqueue_sync(1)
        child = total.options(depends_on=[one, two.id]).enqueue_sync()
        assert child.get().state == "blocked"
        assert child.wait() == 3 and jobs.now == 3600
        bad = hopeless.enqueue_sync()
        cancelled = total.options(depends_on=[bad]).enqueue_sync()
        grandchild = total.options(depends_on=[cancelled]).enqueue_sync()
        runs = total.options(depends_on=[{"job": bad.id, "on_dead": "run"}]).enqueue_sync()
        waits = total.options(depends_on=[{"job": bad.id, "on_dead": "wait"}]).enqueue_sync()
        jobs.run()
        states = [handle.get().state for handle in (cancelled, grandchild, runs, waits)]
        assert states == ["cancelled", "cancelled", "succeeded", "blocked"]
        assert cancelled.get().reason == f"its parent {bad.id} died"
        first, second = app.client.enqueue_batch([flaky.new(1), NewJob("total", None, {"depends_on": ["#0"]})])
        assert app.client.result(second.id) == 1  # type: ignore[union-attr]
        assert [parent.id for parent in app.client.parents(second.id)] == [first.id]  # type: ignore[union-attr]
        with pytest.raises(Invalid, match="there is no job job_none"):
            total.options(depends_on=["job_none"]).enqueue_sync()


def test_the_rules_of_marks_and_of_expiry_are_those_of_the_server() -> None:
    with app.test() as jobs:
        mail.options(unique_key="m", unique_for="2h").enqueue_sync()
        past = datetime.now(timezone.utc) + timedelta(minutes=1)
        flaky.options(delay="1h", expires_at=past).enqueue_sync(1)
        jobs.run()
        assert [(job.state, job.reason, job.attempt) for job in jobs.jobs] == [
            ("dead", "delivery unknown", 1),
            ("dead", "expired before it could start", 0),
        ]
        assert mail.options(unique_key="m").enqueue_sync().deduplicated, "what may have been done is not done again"


def test_results_are_what_the_function_says_it_returns() -> None:
    with app.test() as jobs:
        assert price.enqueue_sync(Decimal("1.10")).wait() == Decimal("2.20")
        assert (jobs.jobs[0].payload, jobs.jobs[0].result) == ({"net": "1.10"}, "2.20")
