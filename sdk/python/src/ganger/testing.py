"""Running jobs in memory: no server, no waiting, real handlers.

Time is virtual: a retry in an hour is run when nothing earlier is left. What is decided after an attempt follows the
rules of the server, without jitter.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import heapq
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar

from . import jsontext
from .async_client import AsyncHandle
from .client import Handle
from .context import Attempt, Context
from .durations import seconds
from .errors import JobDead
from .handler import Handler
from .model import JobOptions, NewJob, Receipt, State, wire_options
from .outcome import Failed, FailedForGood, KeyClosed, Later, Ok, Report, Snoozed
from .worker.messages import identity

if TYPE_CHECKING:
    from .app import App

T = TypeVar("T")

#: Attempts of one run; a job that snoozes for ever must not hang a test.
MOST_ATTEMPTS = 10_000


@dataclass
class TestJob:
    """A job in memory."""

    # Not a test, whatever pytest makes of its name.
    __test__ = False

    id: str
    kind: str
    payload: Any
    options: JobOptions
    state: State
    due: float
    attempt: int = 0
    failures: int = 0
    result: Any = None
    errors: list[str] = field(default_factory=list)
    #: What its handler logged, all attempts together.
    log: str = ""
    progress: tuple[float, str] | None = None
    #: The payload as it would travel.
    text: str = field(default="null", repr=False)


class Harness:
    """The jobs of one test. While it is entered, the app's jobs are enqueued here instead of on a server."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._line: list[tuple[float, int, int, TestJob]] = []
        self._taken = 0
        #: Every job, in the order in which they were enqueued.
        self.jobs: list[TestJob] = []
        #: Virtual seconds that have passed.
        self.now = 0.0

    def __enter__(self) -> Harness:
        if self._app._harness is not None:
            raise RuntimeError("the app is being tested already")
        self._app._harness = self
        return self

    def __exit__(self, *_: object) -> None:
        self._app._harness = None

    def of(self, kind: str) -> list[TestJob]:
        """The jobs of a kind."""
        return [job for job in self.jobs if job.kind == kind]

    def run(self) -> list[TestJob]:
        """Runs everything, also what is enqueued meanwhile or due later. Returns all jobs."""
        return _here(self.run_async())

    async def run_async(self) -> list[TestJob]:
        """The same, for tests that are async."""
        await self._run(None)
        return self.jobs

    async def _run(self, wanted: TestJob | None) -> None:
        for _ in range(MOST_ATTEMPTS):
            if not self._line or (wanted is not None and wanted.state in ("succeeded", "dead")):
                return
            due, _priority, _order, job = heapq.heappop(self._line)
            self.now = max(self.now, due)
            await self._attempt(job)
        raise RuntimeError(f"{MOST_ATTEMPTS} attempts were run, and there is no end")

    async def _attempt(self, job: TestJob) -> None:
        handler = self._app._handlers[job.kind]
        job.attempt += 1
        job.state = "running"
        context = Context(_facts(job), bell=lambda: None)
        report = await _report_of(handler, job.text, context)
        said = context._take()
        job.log += said.log
        job.progress = said.progress or job.progress
        self._conclude(job, report)

    def _conclude(self, job: TestJob, report: Report) -> None:
        if isinstance(report, Ok):
            job.state, job.result = "succeeded", jsontext.decode(report.result)
            return
        if isinstance(report, (Snoozed, KeyClosed)):
            self._again(job, report.delay)
            return
        error = report.error if isinstance(report, (Failed, FailedForGood, Later)) else "cancelled"
        job.errors.append(error)
        job.failures += 1
        if isinstance(report, FailedForGood) or job.failures >= job.options.get("max_attempts", 5):
            job.state = "dead"
        else:
            policy = job.options.get("retry", {})
            delay = seconds(policy.get("base", 1)) * policy.get("factor", 2.0) ** (job.failures - 1)
            delay = min(delay, seconds(policy.get("max", 3600)))
            self._again(job, report.delay if isinstance(report, Later) else delay)

    def _again(self, job: TestJob, delay: float) -> None:
        job.state, job.due = "retrying", self.now + delay
        self._push(job)

    def _push(self, job: TestJob) -> None:
        self._taken += 1
        heapq.heappush(self._line, (job.due, -job.options.get("priority", 0), self._taken, job))

    def _take(self, new: NewJob) -> tuple[Receipt, TestJob]:
        wire_options(new.options)
        if new.options.get("depends_on"):
            raise NotImplementedError("jobs that wait for others cannot be tested in memory; test them on a server")
        key = new.options.get("unique_key")
        for job in self.of(new.kind) if key is not None else []:
            if job.options.get("unique_key") == key and job.state not in ("succeeded", "dead"):
                return Receipt(job.id, deduplicated=True), job
        delay = seconds(new.options.get("delay", 0))
        run_at = new.options.get("run_at")
        if run_at is not None:
            delay = max(0.0, (run_at.astimezone(timezone.utc) - datetime.now(timezone.utc)).total_seconds())
        job = TestJob(
            id=identity("job_", uuid.uuid4().bytes),
            kind=new.kind,
            payload=jsontext.decode(new.payload),
            options=new.options,
            state="scheduled" if delay > 0 else "queued",
            due=self.now + delay,
            text=new.payload,
        )
        self.jobs.append(job)
        self._push(job)
        return Receipt(job.id, deduplicated=False), job

    def _handle(self, new: NewJob) -> Handle[Any]:
        return TestHandle(self, *self._take(new))

    def _async_handle(self, new: NewJob) -> AsyncHandle[Any]:
        return AsyncTestHandle(self, *self._take(new))


class TestHandle(Handle[Any]):
    """A job of a test: waiting for it runs it."""

    __test__ = False

    def __init__(self, harness: Harness, receipt: Receipt, job: TestJob) -> None:
        super().__init__(None, receipt)  # type: ignore[arg-type]
        self._harness, self._job = harness, job

    def wait(self, timeout: float | None = None) -> Any:
        """What the handler returned. Raises JobDead."""
        _here(self._harness._run(self._job))
        return _result(self._job)


class AsyncTestHandle(AsyncHandle[Any]):
    """A job of a test: waiting for it runs it."""

    __test__ = False

    def __init__(self, harness: Harness, receipt: Receipt, job: TestJob) -> None:
        super().__init__(None, receipt)  # type: ignore[arg-type]
        self._harness, self._job = harness, job

    async def wait(self, timeout: float | None = None) -> Any:
        """What the handler returned. Raises JobDead."""
        await self._harness._run(self._job)
        return _result(self._job)


def _result(job: TestJob) -> Any:
    if job.state == "succeeded":
        return job.result
    raise JobDead(job.id, job.errors[-1] if job.errors else job.state)


def _facts(job: TestJob) -> Attempt:
    timeout = job.options.get("timeout", 3600)
    return Attempt(
        job_id=job.id,
        kind=job.kind,
        queue=job.options.get("queue", "default"),
        number=job.attempt,
        max_attempts=job.options.get("max_attempts", 5),
        threads=job.options.get("threads", 1),
        timeout=None if timeout == "none" else seconds(timeout),
        traceparent=job.options.get("traceparent"),
        tracestate=job.options.get("tracestate"),
    )


async def _report_of(handler: Handler, payload: str, context: Context) -> Report:
    if handler.is_async:
        return await handler.run_async(payload, context)
    return handler.run(payload, context)


def _here(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, also where an event loop runs in this thread already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        return one.submit(asyncio.run, work).result()
