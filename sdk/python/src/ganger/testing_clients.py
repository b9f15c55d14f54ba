"""Clients that speak to a harness instead of a server. Nothing here touches the network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from typing_extensions import Unpack

from .async_client import AsyncClient
from .calls import Call, identity
from .client import Client
from .errors import Invalid, WaitTimeout
from .model import FINAL, BatchItem, Imported, Job, ListFilters, NewJob, Page, Receipt, Refused
from .tries import Tries

if TYPE_CHECKING:
    from .testing import Harness

#: Never asked: the address says so where it is shown.
NOWHERE = "http://in-memory.invalid"


class HarnessClient(Client):
    """The client of a harness. Waiting for a job runs it."""

    def __init__(self, harness: Harness) -> None:
        super().__init__(NOWHERE)
        self._harness = harness

    def _submit(self, job: NewJob, key: str | None) -> Receipt:
        return self._harness.submit([job])[0][0]

    def enqueue_batch(
        self, jobs: Iterable[NewJob], *, atomic: bool = False, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        """Enqueues them in memory. A parent that does not exist refuses the whole batch."""
        return [receipt for receipt, _job in self._harness.submit(jobs)]

    def import_jobs(self, jobs: Iterable[NewJob]) -> Imported:
        """Enqueues them in memory, one by one."""
        return _imported(self._harness, jobs)

    def get(self, job: str | Job | Receipt) -> Job:
        """The job as it is now."""
        return self._harness.view(self._harness.find(identity(job)))

    def wait(self, job: str | Job | Receipt, timeout: float | None = None) -> Job:
        """Runs the job. Raises WaitTimeout if it cannot become final."""
        from .testing import here

        return here(_finished(self._harness, identity(job)))

    def parents(self, job: str | Job | Receipt) -> list[Job]:
        """The jobs that it waited for."""
        return self._harness.parents_of(self._harness.find(identity(job)))

    def logs(self, job: str | Job | Receipt, attempt: int | None = None) -> str:
        """What all its attempts logged."""
        return self._harness.find(identity(job)).log

    def list_jobs(
        self, *, limit: int | None = None, cursor: str | None = None, full: bool = False, **filters: Unpack[ListFilters]
    ) -> Page:
        """All jobs that match, newest first, on one page."""
        return Page(list(_matching(self._harness, filters)), None, True)

    def iter_jobs(self, *, full: bool = False, **filters: Unpack[ListFilters]) -> Iterator[Job]:
        """All jobs that match, newest first."""
        return _matching(self._harness, filters)

    def _verb(self, job: str, name: str) -> Job:
        return _done(self._harness, job, name)

    def _try(self, tries: Tries, call: Call[Any]) -> NoReturn:
        _not_in_memory(call)


class AsyncHarnessClient(AsyncClient):
    """The same for programs with an event loop."""

    def __init__(self, harness: Harness) -> None:
        super().__init__(NOWHERE)
        self._harness = harness

    async def _submit(self, job: NewJob, key: str | None) -> Receipt:
        return self._harness.submit([job])[0][0]

    async def enqueue_batch(
        self, jobs: Iterable[NewJob], *, atomic: bool = False, idempotency_key: str | None = None
    ) -> list[BatchItem]:
        """Enqueues them in memory. A parent that does not exist refuses the whole batch."""
        return [receipt for receipt, _job in self._harness.submit(jobs)]

    async def import_jobs(self, jobs: Iterable[NewJob]) -> Imported:
        """Enqueues them in memory, one by one."""
        return _imported(self._harness, jobs)

    async def get(self, job: str | Job | Receipt) -> Job:
        """The job as it is now."""
        return self._harness.view(self._harness.find(identity(job)))

    async def wait(self, job: str | Job | Receipt, timeout: float | None = None) -> Job:
        """Runs the job. Raises WaitTimeout if it cannot become final."""
        return await _finished(self._harness, identity(job))

    async def parents(self, job: str | Job | Receipt) -> list[Job]:
        """The jobs that it waited for."""
        return self._harness.parents_of(self._harness.find(identity(job)))

    async def logs(self, job: str | Job | Receipt, attempt: int | None = None) -> str:
        """What all its attempts logged."""
        return self._harness.find(identity(job)).log

    async def list_jobs(
        self, *, limit: int | None = None, cursor: str | None = None, full: bool = False, **filters: Unpack[ListFilters]
    ) -> Page:
        """All jobs that match, newest first, on one page."""
        return Page(list(_matching(self._harness, filters)), None, True)

    async def iter_jobs(self, *, full: bool = False, **filters: Unpack[ListFilters]) -> AsyncIterator[Job]:
        """All jobs that match, newest first."""
        for job in _matching(self._harness, filters):
            yield job

    async def _verb(self, job: str, name: str) -> Job:
        return _done(self._harness, job, name)

    async def _try(self, tries: Tries, call: Call[Any]) -> NoReturn:
        _not_in_memory(call)


async def _finished(harness: Harness, id: str) -> Job:
    job = harness.find(id)
    await harness.run_until_final(job)
    if job.state not in FINAL:
        raise WaitTimeout(f"job {id} is {job.state} still, and nothing is left that could run")
    return harness.view(job)


def _done(harness: Harness, id: str, verb: str) -> Job:
    act = {"cancel": harness.cancel, "replay": harness.replay, "run-now": harness.run_now}[verb]
    return harness.view(act(id))


def _imported(harness: Harness, jobs: Iterable[NewJob]) -> Imported:
    receipts: list[Receipt] = []
    errors: list[Refused] = []
    for index, job in enumerate(jobs):
        try:
            receipts.append(harness.submit([job])[0][0])
        except Invalid as refusal:
            errors.append(Refused(index, refusal.code, refusal.detail, refusal.errors))
    held = sum(receipt.deduplicated for receipt in receipts)
    return Imported(len(receipts) - held, held, len(errors), errors)


def _matching(harness: Harness, filters: ListFilters) -> Iterator[Job]:
    for name in filters:
        if name.startswith("created_"):
            raise NotImplementedError(f"{name}: jobs in memory have no time of day; test it on a server")
    state = filters.get("state")
    states = (state,) if isinstance(state, str) else state
    for job in [harness.view(each) for each in reversed(harness.jobs)]:
        wanted = (
            (states is None or job.state in states)
            and filters.get("queue") in (None, job.queue)
            and filters.get("kind") in (None, job.kind)
            and filters.get("unique_key") in (None, job.unique_key)
            and ("tag" not in filters or filters["tag"] in job.tags)
        )
        if wanted:
            yield job


def _not_in_memory(call: Call[Any]) -> NoReturn:
    raise NotImplementedError(f"{call.method} {call.path} cannot be answered in memory; test it on a server")
