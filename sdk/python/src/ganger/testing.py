"""Running jobs in memory: no server, no waiting, real handlers.

Time is virtual: a retry in an hour is run when nothing earlier is left. What is decided about a job follows the rules
of the server, without jitter. Queues have no limits here, nothing times out, and a job whose kind has no handler in
the app stays queued.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import heapq
import math
import uuid
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import jsontext
from .context import Attempt, Context
from .durations import seconds
from .errors import Conflict, Invalid, NotFound, Problem
from .handler import Handler
from .model import FINAL, Job, JobOptions, NewJob, Parent, Receipt, State, moment, named_parents
from .outcome import Failed, FailedForGood, KeyClosed, Later, Ok, Report, Snoozed
from .testing_clients import AsyncHarnessClient, HarnessClient
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
    #: Why it is dead or cancelled.
    reason: str | None = None
    #: The payload as it would travel.
    text: str = field(default="null", repr=False)
    #: The jobs that it waits for, with what to do if one does not succeed.
    parents: list[tuple[str, str]] = field(default_factory=list, repr=False)
    #: It dies if it has not started by then.
    expires: float = field(default=math.inf, repr=False)
    #: Until when its unique key is held, once it is final.
    held_until: float = field(default=-math.inf, repr=False)
    #: Its handler announced what cannot be repeated.
    marked: bool = field(default=False, repr=False)
    #: Its place in line is valid only with this number: a job that was moved has an older entry there.
    place: int = field(default=0, repr=False)


class Harness:
    """The jobs of one test. While it is entered, the app and its clients enqueue here instead of on a server."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._line: list[tuple[float, int, int, TestJob]] = []
        self._taken = 0
        self._by_id: dict[str, TestJob] = {}
        #: Every job, in the order in which they were enqueued.
        self.jobs: list[TestJob] = []
        #: Virtual seconds that have passed.
        self.now = 0.0
        #: What :attr:`App.client` is meanwhile. No request of it leaves the process.
        self.client = HarnessClient(self)
        #: The same for programs with an event loop.
        self.async_client = AsyncHarnessClient(self)

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
        return here(self.run_async())

    async def run_async(self) -> list[TestJob]:
        """The same, for tests that are async."""
        await self.run_until_final(None)
        return self.jobs

    async def run_until_final(self, wanted: TestJob | None) -> None:
        """Runs what is due, in order, until this job is final, or until nothing is left that could run."""
        for _ in range(MOST_ATTEMPTS):
            if not self._line or (wanted is not None and wanted.state in FINAL):
                return
            due, _priority, place, job = heapq.heappop(self._line)
            if place != job.place:
                continue
            self.now = max(self.now, due)
            if self.now > job.expires and job.attempt == 0:
                self._end(job, "dead", "expired before it could start")
            else:
                await self._attempt(job)
        raise RuntimeError(f"{MOST_ATTEMPTS} attempts were run, and there is no end")

    def submit(self, jobs: Iterable[NewJob]) -> list[tuple[Receipt, TestJob]]:
        """Enqueues them; ``#0`` in `depends_on` is the first of them. Raises Invalid if a parent does not exist."""
        taken: list[tuple[Receipt, TestJob]] = []
        for new in jobs:
            parents = [(self._parent(name, taken), on_dead) for name, on_dead in named_parents(new.options)]
            holder = self._holder(new)
            if holder is not None:
                taken.append((Receipt(holder.id, deduplicated=True), holder))
                continue
            job = self._made(new, parents)
            taken.append((Receipt(job.id, deduplicated=False), job))
        return taken

    def find(self, id: str) -> TestJob:
        """The job. Raises NotFound."""
        job = self._by_id.get(id)
        if job is None:
            raise _refusal(NotFound, "no_such_job", f"there is no job {id}")
        return job

    def cancel(self, id: str) -> TestJob:
        """Cancels a job that does not run; one that runs is told to stop by a server, not here."""
        job = self.find(id)
        if job.state in FINAL:
            raise _refusal(Conflict, "wrong_state", f"job {id} is {job.state} already")
        if job.state != "running":
            self._end(job, "cancelled", "cancelled by a person")
        return job

    def replay(self, id: str) -> TestJob:
        """Lets a final job run again."""
        job = self.find(id)
        if job.state not in FINAL:
            raise _refusal(Conflict, "wrong_state", f"job {id} is {job.state}")
        job.failures, job.marked, job.reason, job.parents = 0, False, None, []
        self._queue(job, self.now, "queued")
        return job

    def run_now(self, id: str) -> TestJob:
        """Lets a scheduled or retrying job run at once."""
        job = self.find(id)
        if job.state not in ("scheduled", "retrying"):
            raise _refusal(Conflict, "wrong_state", f"job {id} is {job.state}")
        self._queue(job, self.now, "queued")
        return job

    async def _attempt(self, job: TestJob) -> None:
        handler = self._app._handlers[job.kind]
        job.attempt += 1
        job.state = "running"

        def mark(stands: bool) -> None:
            job.marked = stands
            context._marked(stands)

        context = Context(_facts(job), bell=lambda: None, ask_mark=mark, find_parents=lambda: self.parents_of(job))
        report = await _report_of(handler, job.text, context)
        said = context._take()
        job.log += said.log
        job.progress = said.progress or job.progress
        self._conclude(job, report)

    def _conclude(self, job: TestJob, report: Report) -> None:
        if isinstance(report, Ok):
            job.result = jsontext.decode(report.result)
            self._end(job, "succeeded", None)
            return
        if isinstance(report, (Snoozed, KeyClosed)) and not job.marked:
            self._queue(job, self.now + report.delay, "retrying")
            return
        error = report.error if isinstance(report, (Failed, FailedForGood, Later)) else "cancelled"
        job.errors.append(error)
        job.failures += 1
        if isinstance(report, FailedForGood):
            self._end(job, "dead", "failed fatally")
        elif job.marked:
            self._end(job, "dead", "delivery unknown")
        elif job.failures >= job.options.get("max_attempts", 5):
            self._end(job, "dead", "no attempts left")
        else:
            policy = job.options.get("retry", {})
            delay = seconds(policy.get("base", 1)) * policy.get("factor", 2.0) ** (job.failures - 1)
            delay = min(delay, seconds(policy.get("max", 3600)))
            self._queue(job, self.now + (report.delay if isinstance(report, Later) else delay), "retrying")

    def _end(self, job: TestJob, state: State, reason: str | None) -> None:
        job.state, job.reason, job.place = state, reason, 0
        if state == "succeeded" or reason == "delivery unknown":
            held = job.options.get("unique_for", 0)
            job.held_until = math.inf if held == "forever" else self.now + seconds(held)
        for child in [child for child in self.jobs if child.state == "blocked"]:
            self._look_at_parents(child)

    def _look_at_parents(self, child: TestJob) -> None:
        left = []
        for parent, on_dead in child.parents:
            state = self._by_id[parent].state
            if state in ("dead", "cancelled") and on_dead == "cancel":
                self._end(child, "cancelled", f"its parent {parent} died")
                return
            if state not in FINAL or (state != "succeeded" and on_dead == "wait"):
                left.append((parent, on_dead))
        if not left:
            self._queue(child, child.due, "scheduled" if child.due > self.now else "queued")

    def _parent(self, name: str, batch: list[tuple[Receipt, TestJob]]) -> str:
        if name.startswith("#") and name[1:].isdigit() and int(name[1:]) < len(batch):
            return batch[int(name[1:])][1].id
        if name not in self._by_id:
            raise _refusal(Invalid, "validation_failed", f"depends_on: there is no job {name}")
        return name

    def parents_of(self, job: TestJob) -> list[Job]:
        """The jobs that it waited for."""
        return [self.view(self._by_id[parent]) for parent, _on_dead in named_parents(job.options)]

    def _holder(self, new: NewJob) -> TestJob | None:
        key = new.options.get("unique_key")
        if key is None:
            return None
        same = (job for job in self.of(new.kind) if job.options.get("unique_key") == key)
        return next((job for job in same if job.state not in FINAL or self.now < job.held_until), None)

    def _made(self, new: NewJob, parents: list[tuple[str, str]]) -> TestJob:
        delay = seconds(new.options.get("delay", 0))
        run_at, expires_at = new.options.get("run_at"), new.options.get("expires_at")
        if run_at is not None:
            delay = max(0.0, _from_now(run_at))
        options: JobOptions = {**new.options}
        if parents:
            options["depends_on"] = [cast(Parent, {"job": job, "on_dead": on_dead}) for job, on_dead in parents]
        job = TestJob(
            id=identity("job_", uuid.uuid4().bytes),
            kind=new.kind,
            payload=jsontext.decode(new.payload_text),
            options=options,
            state="blocked",
            due=self.now + delay,
            text=new.payload_text,
            parents=parents,
        )
        if expires_at is not None:
            job.expires = self.now + _from_now(expires_at)
        self.jobs.append(job)
        self._by_id[job.id] = job
        self._look_at_parents(job)
        return job

    def _queue(self, job: TestJob, due: float, state: State) -> None:
        self._taken += 1
        job.state, job.due, job.place = state, due, self._taken
        if job.kind in self._app._handlers:
            heapq.heappush(self._line, (due, -job.options.get("priority", 0), self._taken, job))

    def view(self, job: TestJob) -> Job:
        """The job as a client shows it."""
        return Job.of(
            {
                "id": job.id,
                "kind": job.kind,
                "queue": job.options.get("queue", "default"),
                "state": job.state,
                "priority": job.options.get("priority", 0),
                "attempt": job.attempt,
                "max_attempts": job.options.get("max_attempts", 5),
                "payload": job.payload,
                "result": job.result,
                "last_error": job.errors[-1] if job.errors else None,
                "reason": job.reason,
                "progress": {"fraction": job.progress[0], "note": job.progress[1]} if job.progress else None,
                "tags": job.options.get("tags"),
                "unique_key": job.options.get("unique_key"),
                "run_at": moment(run_at) if (run_at := job.options.get("run_at")) is not None else None,
            }
        )


def _refusal(kind: type[Problem], code: str, detail: str) -> Problem:
    return kind({NotFound: 404, Conflict: 409}.get(kind, 422), {"code": code, "detail": detail})


def _from_now(at: datetime) -> float:
    return (at.astimezone(timezone.utc) - datetime.now(timezone.utc)).total_seconds()


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


def here(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, also where an event loop runs in this thread already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        return one.submit(asyncio.run, work).result()
