"""Every request of a client as a value: what is asked, and how the answer is read. No I/O."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from . import limits, tracing
from .errors import BadArguments, FieldProblem
from .model import AttemptRecord, BatchItem, Imported, Job, NewJob, Page, Receipt, Refused, moment

T = TypeVar("T")

#: Longest wait of one request, in seconds.
LONGEST_WAIT = 30.0
#: Jobs of an import that travel together, and can be sent again together.
IMPORT_JOBS = 10_000
IMPORT_BYTES = 8 << 20
#: Refusals of an import that are kept.
TOLD = 100


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request."""

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Sequence[tuple[str, str]] = ()
    body: bytes | None = None
    media: str = "application/json"
    #: Makes it harmless to send the request again.
    idempotency_key: str | None = None
    #: Seconds that the server may take on purpose.
    holds: float = 0.0
    #: It is not sent again where it may have been carried out already.
    once: bool = False
    #: Headers that say which trace it is part of.
    trace: Mapping[str, str] = field(default_factory=dict)


def enqueue(job: NewJob, key: str | None) -> Call[Receipt]:
    """Submits one job."""
    body = job.text().encode("utf-8")
    return Call("POST", "/v1/jobs", _receipt, body=body, idempotency_key=key or fresh_key(), trace=tracing.headers())


def batch(jobs: Iterable[NewJob], atomic: bool, key: str | None) -> Call[list[BatchItem]]:
    """Submits up to a thousand jobs."""
    texts = [job.text() for job in jobs]
    if not 1 <= len(texts) <= limits.BATCH_JOBS:
        raise BadArguments(f"a batch of {len(texts)} jobs; it has 1 to {limits.BATCH_JOBS}, and an import any number")
    atomic_text = ',"atomic":true' if atomic else ""
    body = ('{"jobs":[' + ",".join(texts) + "]" + atomic_text + "}").encode("utf-8")
    trace = tracing.headers()
    return Call("POST", "/v1/jobs:batch", _batch_items, body=body, idempotency_key=key or fresh_key(), trace=trace)


def imports(jobs: Iterable[NewJob]) -> Iterator[tuple[int, Call[Imported]]]:
    """Submits any number of jobs: requests of bounded size, each with the index of its first job."""
    lines: list[bytes] = []
    first = size = 0
    for job in jobs:
        line = job.text().encode("utf-8") + b"\n"
        if lines and (len(lines) == IMPORT_JOBS or size + len(line) > IMPORT_BYTES):
            yield first, _import(lines)
            first, lines, size = first + len(lines), [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield first, _import(lines)


def together(before: Imported, first: int, part: Imported) -> Imported:
    """Two parts of an import as one."""
    moved = [Refused(first + e.index, e.code, e.detail, e.errors) for e in part.errors]
    return Imported(
        accepted=before.accepted + part.accepted,
        deduplicated=before.deduplicated + part.deduplicated,
        rejected=before.rejected + part.rejected,
        errors=[*before.errors, *moved][:TOLD],
    )


def get(job: str, wait: float = 0.0) -> Call[Job]:
    """Reads one job, waiting so long for it to be final."""
    wait = min(wait, LONGEST_WAIT)
    query = [("wait", f"{int(wait * 1000)}ms")] if wait > 0 else []
    return Call("GET", _path(job), _job, query=query, holds=wait)


def attempts(job: str) -> Call[list[AttemptRecord]]:
    """Reads the recorded attempts of a job."""
    return Call("GET", _path(job) + "/attempts", _attempts)


def parents(job: str, cursor: str) -> Call[tuple[list[Mapping[str, Any]], str]]:
    """Reads one page of the jobs that a job waits for: their ids, and how they ended."""
    query = [("cursor", cursor)] if cursor else []
    return Call("GET", _path(job) + "/parents", _related, query=query)


def removed(related: Mapping[str, Any]) -> Job:
    """A parent that is not kept any more: what its child still knows of it."""
    return Job.of({"kind": "", "queue": "", "state": related.get("settled") or "dead", **related})


def logs(job: str, attempt: int | None) -> Call[str]:
    """Reads what an attempt logged."""
    query = [] if attempt is None else [("attempt", str(attempt))]
    return Call("GET", _path(job) + "/logs", lambda body: body.decode("utf-8", "replace"), query=query)


def listing(filters: Mapping[str, Any], limit: int | None, cursor: str | None, full: bool) -> Call[Page]:
    """Reads one page of jobs."""
    query: list[tuple[str, str]] = []
    for name, value in filters.items():
        if value is None:
            continue
        if name == "state" and not isinstance(value, str):
            query += [("state", str(state)) for state in value]
        else:
            query.append((name, moment(value) if isinstance(value, datetime) else str(value)))
    if limit is not None:
        query.append(("limit", str(limit)))
    if cursor is not None:
        query.append(("cursor", cursor))
    if full:
        query.append(("include", "payload,result"))
    return Call("GET", "/v1/jobs", _page, query=query)


def verb(job: str, name: str) -> Call[None]:
    """Does something to a job: cancel, replay, run-now."""
    # A second replay could let a job that died again meanwhile run once more than was asked for.
    return Call("POST", f"{_path(job)}:{name}", lambda _: None, body=b"", once=name == "replay")


def fresh_key() -> str:
    """A key that nobody used before."""
    return str(uuid.uuid4())


def identity(job: str | Job | Receipt) -> str:
    """The id of a job."""
    return job if isinstance(job, str) else job.id


def _path(job: str) -> str:
    if not job or not all(c.isalnum() or c in "_-" for c in job):
        raise BadArguments(f"{job!r} is not the id of a job")
    return f"/v1/jobs/{job}"


def _import(lines: Sequence[bytes]) -> Call[Imported]:
    return Call(
        "POST",
        "/v1/jobs:import",
        _imported,
        body=b"".join(lines),
        media="application/x-ndjson",
        trace=tracing.headers(),
        idempotency_key=fresh_key(),
        holds=60.0,
    )


def _receipt(body: bytes) -> Receipt:
    fields = json.loads(body)
    return Receipt(fields["id"], bool(fields.get("deduplicated")))


def _batch_items(body: bytes) -> list[BatchItem]:
    return [_batch_item(item) for item in json.loads(body)["results"]]


def _batch_item(item: Mapping[str, Any]) -> BatchItem:
    problem = item.get("problem")
    if problem:
        return Refused(item["index"], problem["code"], problem["detail"], _field_problems(problem))
    return Receipt(item["id"], bool(item.get("deduplicated")))


def _imported(body: bytes) -> Imported:
    fields = json.loads(body)
    errors = [Refused(e["line"] - 1, e["code"], e["detail"], _field_problems(e)) for e in fields["errors"]]
    return Imported(fields["accepted"], fields["deduplicated"], fields["rejected"], errors)


def _field_problems(problem: Mapping[str, Any]) -> list[FieldProblem]:
    return [FieldProblem(e["pointer"], e["detail"]) for e in problem.get("errors") or []]


def _job(body: bytes) -> Job:
    return Job.of(json.loads(body))


def _page(body: bytes) -> Page:
    fields = json.loads(body)
    jobs = [Job.of(item) for item in fields["items"]]
    return Page(jobs, fields.get("next_cursor"), bool(fields.get("scan", {}).get("complete", True)))


def _related(body: bytes) -> tuple[list[Mapping[str, Any]], str]:
    fields = json.loads(body)
    return fields["items"], fields.get("next_cursor") or ""


def _attempts(body: bytes) -> list[AttemptRecord]:
    return [AttemptRecord.of(item) for item in json.loads(body)["items"]]
