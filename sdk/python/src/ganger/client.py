"""The client for programs without an event loop. :class:`AsyncClient` is its twin for those with one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
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
from .schedules import Schedules
from .submission import result_of, submission, wait_over
from .tries import Servers, Tries, refusal_of

T = TypeVar("T")
R = TypeVar("R")


class Handle(Generic[R]):
    """A job that was enqueued, and the way to its result."""

    def __init__(self, client: Client, receipt: Receipt, read: Callable[[Any], R] | None = None) -> None:
        self._client = client
        self._read = read
        #: Its id.
        self.id = receipt.id
        #: The unique key was held: this is the job that holds it, and nothing new exists.
        self.deduplicated = receipt.deduplicated

    def wait(self, timeout: float | None = None) -> R:
        """What the handler returned. Raises JobDead, JobCancelled or WaitTimeout."""
        result = self._client.result(self.id, timeout)
        return result if self._read is None else self._read(result)

    def get(self) -> Job:
        """The job as it is now."""
        return self._client.get(self.id)

    def cancel(self) -> Job:
        """Asks for it to stop."""
        return self._client.cancel(self.id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id})"


class Client:
    """Speaks to the servers of one cluster.

    Without arguments it reads ``GANGER_URL`` (one address, or several between commas) and ``GANGER_TOKEN``. Requests
    that fail because a server is away are sent again, for about half a minute, to each server in turn; an
    idempotency key makes that harmless. It can be used by several threads.
    """

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._servers = Servers(url, token)
        self._http = httpx.Client(**self._servers.http)
        self._process = os.getpid()
        #: Its schedules.
        self.schedules = Schedules(self._ask)

    def enqueue(
        self,
        kind: str | NewJob,
        payload: Any = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Handle[Any]:
        """Submits a job. When it returns, the job is on disk."""
        job = submission(kind, payload, options)
        return Handle(self, self._submit(job, idempotency_key))

    def enqueue_batch(
        self, jobs: Iterable[NewJob], *, atomic: bool = False, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        """Submits up to a thousand jobs, and answers each; `atomic` takes all or none."""
        return self._ask(calls.batch(jobs, atomic, idempotency_key))

    def import_jobs(self, jobs: Iterable[NewJob]) -> Imported:
        """Submits any number of jobs, in bounded memory. Jobs that are not valid are counted and skipped."""
        total = Imported()
        for first, call in calls.imports(jobs):
            total = calls.together(total, first, self._ask(call))
        return total

    def get(self, job: str | Job | Receipt) -> Job:
        """The job as it is now."""
        return self._ask(calls.get(identity(job)))

    def wait(self, job: str | Job | Receipt, timeout: float | None = None) -> Job:
        """The job, once it is final. Raises WaitTimeout."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = calls.LONGEST_WAIT if until is None else max(0.0, until - time.monotonic())
            seen = self._ask(calls.get(identity(job), left))
            if seen.is_final:
                return seen
            wait_over(seen, until)

    def result(self, job: str | Job | Receipt, timeout: float | None = None) -> Any:
        """What the handler returned, once the job is final. Raises JobDead, JobCancelled or WaitTimeout."""
        return result_of(self.wait(job, timeout))

    def attempts(self, job: str | Job | Receipt) -> list[AttemptRecord]:
        """Every recorded attempt of a job, first to last."""
        return self._ask(calls.attempts(identity(job)))

    def parents(self, job: str | Job | Receipt) -> list[Job]:
        """The jobs that a job waits for, or waited for, oldest first: one request for each."""
        found: list[Job] = []
        cursor = ""
        # Bounded: a job has at most a thousand parents.
        while True:
            page, cursor = self._ask(calls.parents(identity(job), cursor))
            for related in page:
                try:
                    found.append(self.get(related["id"]))
                except NotFound:
                    found.append(calls.removed(related))
            if not cursor:
                return found

    def logs(self, job: str | Job | Receipt, attempt: int | None = None) -> str:
        """What an attempt logged; the last or present one if not said."""
        return self._ask(calls.logs(identity(job), attempt))

    def list_jobs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        full: bool = False,
        **filters: Unpack[ListFilters],
    ) -> Page:
        """One page of jobs, newest first; `full` includes payloads and results."""
        return self._ask(calls.listing(filters, limit, cursor, full))

    def iter_jobs(self, *, full: bool = False, **filters: Unpack[ListFilters]) -> Iterator[Job]:
        """Every job that matches, newest first, page by page."""
        cursor = None
        while True:
            page = self._ask(calls.listing(filters, 500, cursor, full))
            yield from page.jobs
            cursor = page.next_cursor
            if cursor is None:
                return

    def cancel(self, job: str | Job | Receipt) -> Job:
        """Asks for a job to stop; the answer is the job as it is then. Raises Conflict if it is final already."""
        return self._verb(identity(job), "cancel")

    def replay(self, job: str | Job | Receipt) -> Job:
        """Lets a final job run again, under the same id. Raises Conflict if it is not final."""
        return self._verb(identity(job), "replay")

    def run_now(self, job: str | Job | Receipt) -> Job:
        """Lets a scheduled or retrying job run at once."""
        return self._verb(identity(job), "run-now")

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _submit(self, job: NewJob, key: str | None) -> Receipt:
        return self._ask(calls.enqueue(job, key))

    def _verb(self, job: str, name: str) -> Job:
        call = calls.verb(job, name)
        tries = Tries(self._servers, call)
        try:
            self._try(tries, call)
        except Conflict:
            # An earlier try, whose answer was lost, may have done it.
            if not tries.unsure:
                raise
        return self.get(job)

    def _ask(self, call: Call[T]) -> T:
        return self._try(Tries(self._servers, call), call)

    def _try(self, tries: Tries, call: Call[T]) -> T:
        if self._process != os.getpid():
            # A child of a fork must not talk on its parent's connections.
            self._http, self._process = httpx.Client(**self._servers.http), os.getpid()
        while True:
            try:
                response = self._http.request(**tries.request)
            except httpx.TransportError as error:
                delay = tries.broke(error)
            else:
                refusal = refusal_of(response)
                if refusal is None:
                    return call.read(response.content)
                delay = tries.refused(refusal, response.headers)
            time.sleep(delay)
