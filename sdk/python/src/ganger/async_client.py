"""The client for programs with an event loop: the twin of :class:`Client`, method for method."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Generic, TypeVar

import httpx
from typing_extensions import Unpack

from . import calls
from .calls import Call, identity
from .errors import Conflict, NotFound
from .model import (
    AttemptRecord,
    BatchItem,
    Imported,
    Job,
    JobOptions,
    ListFilters,
    NewJob,
    Page,
    Receipt,
)
from .schedules import AsyncSchedules
from .submission import result_of, submission, wait_over
from .tries import Servers, Tries, refusal_of

T = TypeVar("T")
R = TypeVar("R")


class AsyncHandle(Generic[R]):
    """A job that was enqueued, and the way to its result."""

    def __init__(self, client: AsyncClient, receipt: Receipt, read: Callable[[Any], R] | None = None) -> None:
        self._client = client
        self._read = read
        #: Its id.
        self.id = receipt.id
        #: The unique key was held: this is the job that holds it, and nothing new exists.
        self.deduplicated = receipt.deduplicated

    async def wait(self, timeout: float | None = None) -> R:
        """What the handler returned. Raises JobDead, JobCancelled or WaitTimeout."""
        result = await self._client.result(self.id, timeout)
        return result if self._read is None else self._read(result)

    async def get(self) -> Job:
        """The job as it is now."""
        return await self._client.get(self.id)

    async def cancel(self) -> Job:
        """Asks for it to stop."""
        return await self._client.cancel(self.id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"


class AsyncClient:
    """Speaks to the servers of one cluster.

    Without arguments it reads ``GANGER_URL`` (one address, or several between commas) and ``GANGER_TOKEN``. Requests
    that fail because a server is away are sent again, for about half a minute, to each server in turn; an
    idempotency key makes that harmless. It belongs to the event loop in which it is first used.
    """

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._servers = Servers(url, token)
        self._http = httpx.AsyncClient(**self._servers.http)
        #: Its schedules.
        self.schedules = AsyncSchedules(self._ask)

    async def enqueue(
        self,
        kind: str | NewJob,
        payload: Any = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> AsyncHandle[Any]:
        """Submits a job. When it returns, the job is on disk."""
        job = submission(kind, payload, options)
        return AsyncHandle(self, await self._submit(job, idempotency_key))

    async def enqueue_batch(
        self, jobs: Iterable[NewJob], *, atomic: bool = False, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        """Submits up to a thousand jobs, and answers each; `atomic` takes all or none."""
        return await self._ask(calls.batch(jobs, atomic, idempotency_key))

    async def import_jobs(self, jobs: Iterable[NewJob]) -> Imported:
        """Submits any number of jobs, in bounded memory. Jobs that are not valid are counted and skipped."""
        total = Imported()
        for first, call in calls.imports(jobs):
            total = calls.together(total, first, await self._ask(call))
        return total

    async def get(self, job: str | Job | Receipt) -> Job:
        """The job as it is now."""
        return await self._ask(calls.get(identity(job)))

    async def wait(self, job: str | Job | Receipt, timeout: float | None = None) -> Job:
        """The job, once it is final. Raises WaitTimeout."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = calls.LONGEST_WAIT if until is None else max(0.0, until - time.monotonic())
            seen = await self._ask(calls.get(identity(job), left))
            if seen.is_final:
                return seen
            wait_over(seen, until)

    async def result(self, job: str | Job | Receipt, timeout: float | None = None) -> Any:
        """What the handler returned, once the job is final. Raises JobDead, JobCancelled or WaitTimeout."""
        return result_of(await self.wait(job, timeout))

    async def attempts(self, job: str | Job | Receipt) -> list[AttemptRecord]:
        """Every recorded attempt of a job, first to last."""
        return await self._ask(calls.attempts(identity(job)))

    async def parents(self, job: str | Job | Receipt) -> list[Job]:
        """The jobs that a job waits for, or waited for, oldest first: one request for each."""
        found: list[Job] = []
        cursor = ""
        # Bounded: a job has at most a thousand parents.
        while True:
            page, cursor = await self._ask(calls.parents(identity(job), cursor))
            for related in page:
                try:
                    found.append(await self.get(related["id"]))
                except NotFound:
                    found.append(calls.removed(related))
            if not cursor:
                return found

    async def logs(self, job: str | Job | Receipt, attempt: int | None = None) -> str:
        """What an attempt logged; the last or present one if not said."""
        return await self._ask(calls.logs(identity(job), attempt))

    async def list_jobs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        full: bool = False,
        **filters: Unpack[ListFilters],
    ) -> Page:
        """One page of jobs, newest first; `full` includes payloads and results."""
        return await self._ask(calls.listing(filters, limit, cursor, full))

    async def iter_jobs(self, *, full: bool = False, **filters: Unpack[ListFilters]) -> AsyncIterator[Job]:
        """Every job that matches, newest first, page by page."""
        cursor = None
        while True:
            page = await self._ask(calls.listing(filters, 500, cursor, full))
            for job in page.jobs:
                yield job
            cursor = page.next_cursor
            if cursor is None:
                return

    async def cancel(self, job: str | Job | Receipt) -> Job:
        """Asks for a job to stop; the answer is the job as it is then. Raises Conflict if it is final already."""
        return await self._verb(identity(job), "cancel")

    async def replay(self, job: str | Job | Receipt) -> Job:
        """Lets a final job run again, under the same id. Raises Conflict if it is not final."""
        return await self._verb(identity(job), "replay")

    async def run_now(self, job: str | Job | Receipt) -> Job:
        """Lets a scheduled or retrying job run at once."""
        return await self._verb(identity(job), "run-now")

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _submit(self, job: NewJob, key: str | None) -> Receipt:
        return await self._ask(calls.enqueue(job, key))

    async def _verb(self, job: str, name: str) -> Job:
        call = calls.verb(job, name)
        tries = Tries(self._servers, call)
        try:
            await self._try(tries, call)
        except Conflict:
            # An earlier try, whose answer was lost, may have done it.
            if not tries.unsure:
                raise
        return await self.get(job)

    async def _ask(self, call: Call[T]) -> T:
        return await self._try(Tries(self._servers, call), call)

    async def _try(self, tries: Tries, call: Call[T]) -> T:
        while True:
            try:
                response = await self._http.request(**tries.request)
            except httpx.TransportError as error:
                delay = tries.broke(error)
            else:
                refusal = refusal_of(response)
                if refusal is None:
                    return call.read(response.content)
                delay = tries.refused(refusal, response.headers)
            await asyncio.sleep(delay)
