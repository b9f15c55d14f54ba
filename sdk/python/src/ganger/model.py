"""Jobs as a client asks for them, and as the server shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Union

from typing_extensions import Literal, Protocol, Required, TypedDict

from . import jsontext, limits
from .durations import Duration, seconds
from .errors import BadArguments, FieldProblem

#: Where a job is.
State = Literal["scheduled", "blocked", "queued", "running", "retrying", "succeeded", "dead", "cancelled"]

#: States that a job leaves only if a person replays it.
FINAL = frozenset(("succeeded", "dead", "cancelled"))

_NAME = re.compile(r"[A-Za-z0-9_.:-]+")


class RetryPolicy(TypedDict, total=False):
    """Exponential backoff with jitter; what is left out keeps the server's default."""

    base: Duration
    factor: float
    max: Duration
    jitter: float


class HasId(Protocol):
    """A job, a receipt or a handle."""

    @property
    def id(self) -> str:
        """Its id."""


class Parent(TypedDict, total=False):
    """A job that another one waits for, and what to do if it dies or is cancelled: cancel (default), run or wait."""

    job: Required[str]
    on_dead: Literal["cancel", "run", "wait"]


class JobOptions(TypedDict, total=False):
    """Everything that can be said about a job beside its kind and payload."""

    #: The lane it waits in; ``default`` if not given.
    queue: str
    #: −128 to 127; larger runs first.
    priority: int
    #: Earliest moment to run. A naive datetime is local time.
    run_at: datetime
    #: How long from now until it may run.
    delay: Duration
    #: It dies if it has not started by then.
    expires_at: datetime
    #: Threads it wants, all or none.
    threads: int
    #: The least it accepts when no worker is wide enough.
    min_threads: int
    #: What to do when no worker could ever hold all its threads.
    fallback: Literal["widest", "single"]
    #: Labels its worker must carry.
    require: Mapping[str, str]
    #: Attempts allowed in all, the first included.
    max_attempts: int
    #: Delays between attempts.
    retry: RetryPolicy
    #: Longest run of one attempt; ``"none"`` for as long as it likes.
    timeout: Duration
    #: Workers lost in a row before it is quarantined as dead.
    max_lost: int
    #: At most one live job of its kind has this key.
    unique_key: str
    #: How long the unique key is held after success; ``"forever"`` for good.
    unique_for: Duration
    #: Jobs of its queue with the same key share the limits of the queue's keys, and wait while the key is closed.
    concurrency_key: str
    #: Whose job it is: within equal priority the owners of a queue's jobs take turns.
    fair_key: str
    #: The share of its owner, from 1 to 1000.
    fair_weight: int
    #: Jobs that must be final before it may run, as ids, handles or :class:`Parent`; ``#0`` is the first of its batch.
    depends_on: Sequence[str | HasId | Parent]
    #: For finding it again.
    tags: Sequence[str]
    #: W3C trace context of whoever submits it; the current span of OpenTelemetry if not given.
    traceparent: str
    #: The ``tracestate`` that belongs to it.
    tracestate: str


_DURATIONS = ("delay", "timeout", "unique_for")
_MOMENTS = ("run_at", "expires_at")


@dataclass(frozen=True)
class NewJob:
    """A job that is not enqueued yet: ``NewJob("report", {"days": 7}, {"queue": "reports"})``.

    The payload is any value that JSON can carry, or that has a form in it: a text is a text, not JSON. Raises
    BadArguments where it is made, if kind, payload or options cannot be.
    """

    kind: str
    payload: Any = None
    options: JobOptions = field(default_factory=JobOptions)
    #: The payload as it travels.
    payload_text: str = field(init=False, repr=False, compare=False, default="null")

    def __post_init__(self) -> None:
        check_name("kind", self.kind)
        try:
            text = jsontext.encode(self.payload)
            wire_options(self.options)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadArguments(f"cannot enqueue {self.kind}: {error}") from None
        size = len(text.encode("utf-8"))
        if size > limits.PAYLOAD_BYTES:
            raise BadArguments(
                f"cannot enqueue {self.kind}: the payload has {size} bytes, the limit is {limits.PAYLOAD_BYTES}"
            )
        # Frozen, but not yet finished.
        object.__setattr__(self, "payload_text", text)

    def text(self) -> str:
        """The job as the server reads it."""
        fields = {"kind": self.kind, **wire_options(self.options)}
        return jsontext.encode(fields)[:-1] + ',"payload":' + self.payload_text + "}"


def check_name(what: str, name: str) -> None:
    """Raises BadArguments for what cannot name a queue or a kind."""
    if len(name) > limits.NAME_BYTES or not _NAME.fullmatch(name):
        raise BadArguments(
            f"{what} {name!r}: a name has 1 to {limits.NAME_BYTES} letters, digits and characters of `_ . : -`"
        )


def wire_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the server reads them. Raises TypeError or ValueError."""
    wire: dict[str, Any] = {}
    for name, value in options.items():
        if name not in JobOptions.__annotations__:
            raise TypeError(f"there is no option `{name}`; known are {', '.join(JobOptions.__annotations__)}")
        if value is None:
            continue
        if (name, value) in (("timeout", "none"), ("unique_for", "forever")):
            wire[name] = value
        elif name in _DURATIONS:
            wire[name] = seconds(value)
        elif name in _MOMENTS:
            wire[name] = moment(value)
        elif name == "retry":
            wire[name] = {k: seconds(v) if k in ("base", "max") else v for k, v in value.items()}
        elif name == "depends_on":
            wire[name] = [_parent(each) for each in value]
        elif name == "tags":
            wire[name] = [*value] if not isinstance(value, str) else [value]
        else:
            wire[name] = dict(value) if isinstance(value, Mapping) else value
    if "queue" in wire:
        check_name("queue", wire["queue"])
    return wire


def named_parents(options: JobOptions) -> list[tuple[str, str]]:
    """The jobs that it names in `depends_on`, each with what to do if it does not succeed."""
    wire = [_parent(each) for each in options.get("depends_on", ())]
    return [
        (each, "cancel") if isinstance(each, str) else (each["job"], each.get("on_dead", "cancel")) for each in wire
    ]


def _parent(parent: str | HasId | Parent) -> Any:
    if isinstance(parent, str):
        return parent
    return dict(parent) if isinstance(parent, Mapping) else parent.id


def moment(value: datetime) -> str:
    """A moment as the server reads it."""
    if not isinstance(value, datetime):
        raise TypeError(f"{value!r} is not a datetime")
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def read_moment(text: str | None) -> datetime | None:
    """A moment as the server writes it."""
    if text is None:
        return None
    whole, dot, fraction = text.rstrip("Zz").partition(".")
    # Before Python 3.11 only three or six digits were read.
    digits = fraction[:6].ljust(6, "0") if dot else "000000"
    return datetime.strptime(f"{whole}.{digits}", "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class Job:
    """A job, as the server shows it."""

    id: str
    kind: str
    queue: str
    state: State
    priority: int
    attempt: int
    max_attempts: int
    created_at: datetime | None
    run_at: datetime | None
    started_at: datetime | None
    finished_at: datetime | None
    payload: Any
    result: Any
    last_error: str | None
    reason: str | None
    worker: str | None
    #: How far its handler said it is: a fraction and a note.
    progress: tuple[float, str] | None
    tags: Sequence[str]
    unique_key: str | None
    #: Everything that the server said about it.
    fields: Mapping[str, Any] = field(repr=False)

    @property
    def is_final(self) -> bool:
        """Whether it has ended: succeeded, dead or cancelled."""
        return self.state in FINAL

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Job:
        """A job from the server's answer."""
        said = fields.get("progress")
        return Job(
            id=fields["id"],
            kind=fields["kind"],
            queue=fields["queue"],
            state=fields["state"],
            priority=fields.get("priority", 0),
            attempt=fields.get("attempt", 0),
            max_attempts=fields.get("max_attempts", 0),
            created_at=read_moment(fields.get("created_at")),
            run_at=read_moment(fields.get("run_at")),
            started_at=read_moment(fields.get("started_at")),
            finished_at=read_moment(fields.get("finished_at")),
            payload=fields.get("payload"),
            result=fields.get("result"),
            last_error=fields.get("last_error"),
            reason=fields.get("reason"),
            worker=fields.get("worker"),
            progress=(said["fraction"], said["note"]) if said else None,
            tags=tuple(fields.get("tags") or ()),
            unique_key=fields.get("unique_key"),
            fields=fields,
        )


@dataclass(frozen=True)
class AttemptRecord:
    """One recorded attempt of a job."""

    number: int
    outcome: Literal["ok", "error", "timeout", "lost", "released", "cancelled"]
    error: str | None
    worker: str
    threads: int
    leased_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    fence: str

    @staticmethod
    def of(fields: Mapping[str, Any]) -> AttemptRecord:
        """An attempt from the server's answer."""
        return AttemptRecord(
            number=fields["attempt"],
            outcome=fields["outcome"],
            error=fields.get("error"),
            worker=fields.get("worker", ""),
            threads=fields.get("threads", 1),
            leased_at=read_moment(fields.get("leased_at")),
            started_at=read_moment(fields.get("started_at")),
            ended_at=read_moment(fields.get("ended_at")),
            fence=fields.get("fence", ""),
        )


@dataclass(frozen=True)
class Receipt:
    """What became of a submission."""

    id: str
    #: The unique key was held: this is the job that holds it, and nothing new exists.
    deduplicated: bool


@dataclass(frozen=True)
class Refused:
    """A job of a batch or an import that was not taken."""

    #: Position in what was given, from 0.
    index: int
    code: str
    detail: str
    errors: Sequence[FieldProblem] = ()


#: What became of each job of a batch.
BatchItem = Union[Receipt, Refused]


@dataclass(frozen=True)
class Imported:
    """What became of an import."""

    accepted: int = 0
    deduplicated: int = 0
    rejected: int = 0
    #: The first hundred refusals.
    errors: Sequence[Refused] = ()


@dataclass(frozen=True)
class Page:
    """One page of jobs, newest first."""

    jobs: Sequence[Job]
    #: Give it back, with the same filters, for the next page; None at the end.
    next_cursor: str | None
    #: Whether every row that could match was looked at; if not, the next page continues the search.
    complete: bool


class ListFilters(TypedDict, total=False):
    """Filters of a list; every one must hold."""

    state: State | Sequence[State]
    queue: str
    kind: str
    tag: str
    unique_key: str
    created_from: datetime
    created_before: datetime
