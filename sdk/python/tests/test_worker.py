"""Jobs from end to end: a real server, a worker in this process."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from conftest import Server, eventually, working

from ganger import (
    App,
    AsyncClient,
    Cancelled,
    Client,
    Context,
    Fatal,
    JobCancelled,
    JobDead,
    RetryAfter,
    Snooze,
    Throttled,
    WaitTimeout,
    current_context,
)


def test_sync_and_async_handlers_run_and_their_results_are_typed(server: Server) -> None:
    app = App(server.url)

    @app.job("t.add")
    def add(x: int, y: int = 1) -> int:
        return x + y

    @app.job("t.greet", queue="greetings")
    async def greet(name: str, *, ctx: Context = Context.current) -> dict[str, object]:
        await asyncio.sleep(0)
        return {"hello": name, "attempt": ctx.attempt, "queue": ctx.queue, "same": current_context() is ctx}

    async def produce() -> None:
        handle = await greet.enqueue("Ada")
        said = await handle.wait(30)
        assert said == {"hello": "Ada", "attempt": 1, "queue": "greetings", "same": True}
        assert await (await add.enqueue(40, y=2)).wait(30) == 42
        await app.close_async()
        await app.close_async()
        assert await (await add.enqueue(1)).wait(30) == 2, "it opens again"
        await app.close_async()

    with working(app, server.url):
        assert add.enqueue_sync(1).wait(30) == 2
        app.close()
        asyncio.run(produce())
        # Another loop, another client.
        asyncio.run(produce())
    assert add(2, 3) == 5, "a plain call is a plain call"
    assert asyncio.run(greet("Bob"))["attempt"] == 1  # type: ignore[comparison-overlap]


def test_how_a_handler_ends_is_what_is_recorded(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.ends", max_attempts=2, retry={"base": 0.05, "jitter": 0.0})
    def ends(how: str, *, ctx: Context = Context.current) -> object:
        if how == "fatal":
            raise Fatal("hopeless")
        if how == "error":
            raise ValueError("no luck")
        if how == "later" and ctx.attempt == 1:
            raise RetryAfter("10ms", "busy")
        if how == "snooze" and ctx.attempt < 4:
            raise Snooze(0.01)
        if how == "not json":
            return {1: object()}
        if how == "exit":
            raise SystemExit(3)
        return ctx.attempt

    def outcome(how: str) -> tuple[str, list[str], str]:
        job = client.wait(ends.enqueue_sync(how).id, 30)
        attempts = client.attempts(job.id)
        return job.state, [attempt.outcome for attempt in attempts], job.last_error or ""

    with working(app, server.url):
        assert outcome("fine") == ("succeeded", ["ok"], "")
        assert outcome("fatal") == ("dead", ["error"], "hopeless")
        assert outcome("error") == ("dead", ["error", "error"], "ValueError: no luck")
        assert outcome("later")[:2] == ("succeeded", ["error", "ok"])
        state, attempts, _ = outcome("snooze")
        assert state == "succeeded" and attempts[-1] == "ok" and "error" not in attempts, "three snoozes, two attempts"
        state, attempts, error = outcome("not json")
        assert (state, attempts) == ("dead", ["error"]) and "has the key 1" in error
        assert outcome("exit") == ("dead", ["error", "error"], "SystemExit: 3")
        handle = ends.enqueue_sync("fatal")
        with pytest.raises(JobDead, match="hopeless"):
            handle.wait(30)


def test_a_payload_that_does_not_fit_is_fatal(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.strict")
    def strict(number: int) -> int:
        return number

    with working(app, server.url):
        for payload in ({"number": "7"}, {}, {"number": 1, "other": 2}, [1], "text"):
            job = client.wait(client.enqueue("t.strict", payload).id, 30)
            assert job.state == "dead" and job.attempt == 1, payload
            assert (job.last_error or "").startswith("payload does not fit the handler"), payload


def test_the_traceback_of_a_failure_is_in_its_log_and_so_is_what_it_said(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.talks", max_attempts=1)
    def talks(*, ctx: Context = Context.current) -> None:
        ctx.log("first line\nsecond line")
        raise KeyError("lost")

    with working(app, server.url):
        job = client.wait(talks.enqueue_sync().id, 30)
        assert job.last_error == "KeyError: 'lost'"
        log = client.logs(job)
    assert log.startswith("first line\nsecond line\nTraceback") and 'raise KeyError("lost")' in log, log


def test_progress_is_seen_while_it_runs(server: Server, client: Client) -> None:
    app, go_on = App(server.url), threading.Event()

    @app.job("t.slow")
    def slow(*, ctx: Context = Context.current) -> None:
        ctx.progress(0.5, "half of it")
        go_on.wait(60)

    with working(app, server.url):
        handle = slow.enqueue_sync()
        seen = eventually("its progress is seen", lambda: client.get(handle.id).progress)
        assert seen == (0.5, "half of it")
        with pytest.raises(WaitTimeout):
            handle.wait(0.01)
        go_on.set()
        handle.wait(30)


def test_a_cancel_reaches_async_handlers_and_those_in_threads(server: Server, client: Client) -> None:
    app, seen, begun = App(server.url), [], threading.Semaphore(0)

    @app.job("t.waits")
    async def waits(*, ctx: Context = Context.current) -> None:
        begun.release()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            seen.append(("async", ctx.cancelled, ctx.cancel_reason))
            raise

    @app.job("t.blocks")
    def blocks(*, ctx: Context = Context.current) -> None:
        begun.release()
        try:
            ctx.sleep(600)
        except Cancelled:
            seen.append(("sync", ctx.cancelled, ctx.cancel_reason))
            raise

    with working(app, server.url):
        for job in (waits, blocks):
            handle = job.enqueue_sync()
            assert begun.acquire(timeout=60)
            handle.cancel()
            assert client.wait(handle.id, 30).state == "cancelled"
            assert [attempt.outcome for attempt in client.attempts(handle.id)] == ["cancelled"]
            with pytest.raises(JobCancelled):
                handle.wait(30)
    assert seen == [("async", True, "cancelled"), ("sync", True, "cancelled")]


def test_a_handler_that_runs_too_long_is_told_to_stop_and_recorded_as_timeout(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.long", timeout="200ms", max_attempts=1)
    async def long(*, ctx: Context = Context.current) -> None:
        assert ctx.deadline is not None and 0 < (ctx.remaining or 0) <= 0.2
        await asyncio.sleep(600)

    with working(app, server.url):
        job = client.wait(long.enqueue_sync().id, 30)
        assert job.state == "dead"
        assert [attempt.outcome for attempt in client.attempts(job)] == ["timeout"]


def test_threads_are_granted_all_or_none_and_never_too_many(server: Server, client: Client) -> None:
    app, lock = App(server.url), threading.Lock()
    now = most = 0

    @app.job("t.wide")
    def wide(*, ctx: Context = Context.current) -> int:
        nonlocal now, most
        with lock:
            now += ctx.threads
            most = max(most, now)
        time.sleep(0.005)
        with lock:
            now -= ctx.threads
        return ctx.threads

    with working(app, server.url, threads=4):
        jobs = [wide.options(threads=1 + number % 4).new() for number in range(60)]
        receipts = client.enqueue_batch(jobs)
        granted = [client.result(receipt, 30) for receipt in receipts]  # type: ignore[arg-type]
    assert granted == [1 + number % 4 for number in range(60)]
    assert 2 <= most <= 4


def test_a_handler_that_blocks_its_loop_longer_than_the_ttl_keeps_its_lease(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.rude", max_attempts=1)
    async def rude() -> str:
        # Nothing else runs on this loop meanwhile.
        time.sleep(1.5)
        return "done"

    @app.job("t.busy", max_attempts=1)
    def busy() -> int:
        # Pure Python: it holds the interpreter's lock whenever it can.
        until, count = time.monotonic() + 1.5, 0
        while time.monotonic() < until:
            count += 1
        return count

    with working(app, server.url, ttl=0.4):
        handles = [rude.enqueue_sync(), busy.enqueue_sync(), busy.enqueue_sync()]
        for handle in handles:
            handle.wait(30)
            assert [attempt.outcome for attempt in client.attempts(handle.id)] == ["ok"]


def test_many_short_jobs_are_each_recorded_once(server: Server, client: Client) -> None:
    app, ran = App(server.url), []

    @app.job("t.short", queue="short")
    async def short(number: int) -> int:
        ran.append(number)
        return number

    with working(app, server.url, threads=16):
        done = client.import_jobs(short.new(number) for number in range(2000))
        assert (done.accepted, done.rejected) == (2000, 0)
        unfinished = ["queued", "running", "retrying"]
        eventually(
            "all are done",
            lambda: not client.list_jobs(queue="short", state=unfinished, limit=1).jobs,  # type: ignore[arg-type]
        )
    results = [job.result for job in client.iter_jobs(queue="short", kind="t.short", full=True)]
    assert sorted(results) == sorted(ran) == list(range(2000))


def test_large_payloads_and_results_travel(server: Server) -> None:
    app = App(server.url)

    @app.job("t.large")
    def large(text: str) -> str:
        return text

    @app.job("t.larger", max_attempts=1)
    def larger() -> str:
        return "x" * (1 << 20)

    with working(app, server.url):
        text = "é" * 500_000
        assert large.enqueue_sync(text).wait(30) == text
        handles = [large.enqueue_sync("y" * 1_000_000) for _ in range(8)]
        assert all(len(handle.wait(30)) == 1_000_000 for handle in handles)
        with pytest.raises(JobDead, match="result_too_large: 1048578 bytes, the limit is 1048576"):
            larger.enqueue_sync().wait(30)


def test_what_a_handler_enqueues_carries_its_trace(server: Server, client: Client) -> None:
    app = App(server.url)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @app.job("t.child")
    def child(*, ctx: Context = Context.current) -> str | None:
        return ctx.traceparent

    @app.job("t.parent")
    async def parent() -> str:
        return (await child.enqueue()).id

    with working(app, server.url):
        handle = parent.options(traceparent=trace).enqueue_sync()
        # The same trace; the span is the handler's own where spans are recorded.
        assert client.result(handle.wait(30), 30)[:36] == trace[:36]


def test_the_async_client_does_what_the_other_does(server: Server) -> None:
    async def story() -> None:
        async with AsyncClient(server.url) as client:
            handle = await client.enqueue("t.nobody", {"n": 1}, queue="nobody", tags=["x"], unique_key="only one")
            again = await client.enqueue("t.nobody", {"n": 1}, queue="nobody", unique_key="only one")
            assert again.deduplicated and again.id == handle.id
            assert [job.id async for job in client.iter_jobs(queue="nobody", tag="x")] == [handle.id]
            assert (await handle.cancel()).state == "cancelled"
            assert (await client.replay(handle.id)).state == "queued"
            await client.cancel(handle.id)

    asyncio.run(story())


def test_a_worker_whose_task_is_cancelled_hands_its_work_back(server: Server, client: Client) -> None:
    app, begun = App(server.url), threading.Event()

    @app.job("t.interrupted", queue="interrupted")
    async def interrupted() -> None:
        begun.set()
        await asyncio.sleep(600)

    handle = interrupted.enqueue_sync()

    async def program() -> None:
        run = asyncio.create_task(app.worker(url=server.url).run())
        await asyncio.to_thread(begun.wait, 60)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(program())
    assert [attempt.outcome for attempt in client.attempts(handle.id)] == ["released"]
    assert client.cancel(handle.id).state == "cancelled"


def test_an_async_handler_that_will_not_stop_keeps_its_threads_until_it_ends(server: Server, client: Client) -> None:
    app, deaf, go_on = App(server.url), threading.Event(), threading.Event()

    @app.job("t.deaf", queue="deaf")
    async def deaf_one() -> str:
        while not go_on.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                deaf.set()
        return "at last"

    @app.job("t.next", queue="deaf")
    async def after() -> str:
        return "ran"

    with working(app, server.url, threads=1, queues=["deaf"], cancel_grace=0.1):
        first = deaf_one.enqueue_sync()
        eventually("it runs", lambda: client.get(first.id).state == "running")
        second = after.enqueue_sync()
        first.cancel()
        assert deaf.wait(60)
        assert client.get(second.id).state == "queued", "the only thread is not free"
        go_on.set()
        assert second.wait(60) == "ran"


def test_a_client_survives_a_fork(server: Server) -> None:
    import os

    client = Client(server.url)
    client.enqueue("t.forked", queue="nobody")
    child = os.fork()
    if child == 0:
        try:
            client.enqueue("t.forked", {"from": "the child"}, queue="nobody")
            os._exit(0)
        finally:
            os._exit(1)
    client.enqueue("t.forked", {"from": "the parent"}, queue="nobody")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_handler_closes_its_key_and_jobs_wait_for_others(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.throttled", max_attempts=1, concurrency_key="customer-7")
    def throttled(*, ctx: Context = Context.current) -> int:
        if ctx.attempt == 1:
            raise Throttled("100ms")
        return ctx.attempt

    @app.job("t.fails", max_attempts=1)
    def fails() -> None:
        raise Fatal("no")

    with working(app, server.url):
        first = throttled.enqueue_sync()
        second = throttled.options(depends_on=[first], fair_key="a", fair_weight=3).enqueue_sync()
        assert (first.wait(60), second.wait(60)) == (2, 2)
        assert [attempt.outcome for attempt in client.attempts(first.id)] == ["released", "ok"]
        dies = fails.enqueue_sync()
        with pytest.raises(JobCancelled):
            throttled.options(depends_on=[dies]).enqueue_sync().wait(60)
        assert throttled.options(depends_on=[{"job": dies.id, "on_dead": "run"}]).enqueue_sync().wait(60) == 2


def test_a_handler_sees_its_parents_and_the_fence_of_its_lease(server: Server, client: Client) -> None:
    app = App(server.url)

    @app.job("t.part")
    def part(number: int, *, ctx: Context = Context.current) -> dict[str, object]:
        return {"number": number, "fence": ctx.fence}

    @app.job("t.whole")
    def whole(*, ctx: Context = Context.current) -> list[int]:
        return [parent.result["number"] for parent in ctx.parents()]

    @app.job("t.whole.async")
    async def whole_async(*, ctx: Context = Context.current) -> list[str]:
        return [parent.state for parent in await ctx.parents_async()]

    with working(app, server.url):
        parts = [part.enqueue_sync(number) for number in range(3)]
        assert whole.options(depends_on=parts).enqueue_sync().wait(30) == [0, 1, 2]
        assert whole_async.options(depends_on=parts[:1]).enqueue_sync().wait(30) == ["succeeded"]
        assert whole.enqueue_sync().wait(30) == []
    assert parts[0].wait()["fence"] == client.attempts(parts[0].id)[0].fence
