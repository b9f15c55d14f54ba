"""What a worker and the leader tell each other."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Union

from ..outcome import Report

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Term(NamedTuple):
    """The reign of one leader. The zero term is none."""

    number: int = 0
    id: int = 0


class Fence(NamedTuple):
    """Proves one lease. Fences only grow."""

    term: Term
    seq: int

    def __str__(self) -> str:
        """As the server writes it: ``number.sequence.id``, the last in hexadecimal."""
        return f"{self.term.number}.{self.seq}.{self.term.id:016x}"


class Why(Enum):
    """Why a handler is told to stop."""

    CANCELLED = "cancelled"
    TIMEOUT = "timeout"
    LEASE_LOST = "lease_lost"
    DRAINING = "draining"
    LAPSED = "lapsed"


@dataclass(frozen=True)
class Work:
    """A lease, with what its handler needs."""

    job: bytes
    fence: Fence
    attempt: int
    threads: int
    kind: str
    queue: str
    payload: str
    timeout: float | None
    max_attempts: int
    traceparent: str | None
    tracestate: str | None = None
    #: Seconds from the submission until this was sent, if there is a trace.
    waited: float = 0.0
    #: A schedule made the job.
    occurrence: bool = False


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker says about itself."""

    name: str
    queues: Sequence[str]
    kinds: Sequence[str]
    threads: int
    labels: Mapping[str, str]
    version: str
    ttl: float


@dataclass(frozen=True)
class Hello:
    """The first word on a stream."""

    session: bytes
    stream: int
    worker: WorkerInfo
    highest: Term
    draining: bool


@dataclass(frozen=True)
class AttemptReport:
    """What became of one lease."""

    job: bytes
    fence: Fence
    report: Report
    ran: float


@dataclass(frozen=True)
class Results:
    """Ends of attempts."""

    reports: Sequence[AttemptReport]


@dataclass(frozen=True)
class Ping:
    """Asks for a pong."""

    number: int


@dataclass(frozen=True)
class Progress:
    """How far a handler is."""

    job: bytes
    fence: Fence
    fraction: float
    note: str


@dataclass(frozen=True)
class Log:
    """Whole lines that a handler logged."""

    job: bytes
    fence: Fence
    text: str


@dataclass(frozen=True)
class Mark:
    """A handler is about to do what cannot be repeated; or, if not `stands`, is certain that it did not happen."""

    job: bytes
    fence: Fence
    stands: bool


@dataclass(frozen=True)
class Drain:
    """Takes nothing new; the leader asks for it by the same word."""


@dataclass(frozen=True)
class Goodbye:
    """Everything was acknowledged."""


@dataclass(frozen=True)
class Welcome:
    """The leader takes the stream."""

    term: Term
    ttl: float
    leader: str = ""


@dataclass(frozen=True)
class Pong:
    """Answers a ping."""

    number: int


@dataclass(frozen=True)
class Assign:
    """Leases."""

    work: Sequence[Work]


@dataclass(frozen=True)
class Ack:
    """Results that need not be told again."""

    fences: Sequence[Fence]


@dataclass(frozen=True)
class Cancel:
    """A handler is to stop."""

    job: bytes
    fence: Fence
    why: Why


@dataclass(frozen=True)
class Marked:
    """Answers a mark. One that was asked for and does not stand was refused."""

    fence: Fence
    stands: bool


@dataclass(frozen=True)
class Gone:
    """The session is closed for ever."""


ToLeader = Union[Hello, Ping, Results, Progress, Log, Mark, Drain, Goodbye]
ToWorker = Union[Welcome, Pong, Assign, Ack, Cancel, Marked, Drain, Gone]


def identity(prefix: str, raw: bytes) -> str:
    """An id as people see it: a prefix and 26 characters of Crockford's base32."""
    value, digits = int.from_bytes(raw, "big"), []
    for _ in range(26):
        digits.append(_ALPHABET[value & 31])
        value >>= 5
    return prefix + "".join(reversed(digits))


def fresh_session() -> bytes:
    """The id of a new life."""
    return uuid.uuid4().bytes
