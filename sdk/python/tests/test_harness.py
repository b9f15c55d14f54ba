"""Testing users' jobs without a server."""

from __future__ import annotations

import asyncio

import pytest

from ganger import App, BadArguments, Context, Fatal, JobDead, RetryAfter, Snooze, Throttled

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
