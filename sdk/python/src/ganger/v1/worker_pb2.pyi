import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Term(_message.Message):
    __slots__ = ("number", "id")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    number: int
    id: int
    def __init__(self, number: _Optional[int] = ..., id: _Optional[int] = ...) -> None: ...

class Fence(_message.Message):
    __slots__ = ("term", "seq")
    TERM_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    term: Term
    seq: int
    def __init__(self, term: _Optional[_Union[Term, _Mapping]] = ..., seq: _Optional[int] = ...) -> None: ...

class FromWorker(_message.Message):
    __slots__ = ("hello", "ping", "results", "progress", "log", "drain", "goodbye", "mark")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    ping: Ping
    results: Results
    progress: Progress
    log: Log
    drain: Drain
    goodbye: Goodbye
    mark: Mark
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., ping: _Optional[_Union[Ping, _Mapping]] = ..., results: _Optional[_Union[Results, _Mapping]] = ..., progress: _Optional[_Union[Progress, _Mapping]] = ..., log: _Optional[_Union[Log, _Mapping]] = ..., drain: _Optional[_Union[Drain, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., mark: _Optional[_Union[Mark, _Mapping]] = ...) -> None: ...

class ToWorker(_message.Message):
    __slots__ = ("welcome", "pong", "assign", "ack", "cancel", "drain", "gone", "marked")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    PONG_FIELD_NUMBER: _ClassVar[int]
    ASSIGN_FIELD_NUMBER: _ClassVar[int]
    ACK_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    DRAIN_FIELD_NUMBER: _ClassVar[int]
    GONE_FIELD_NUMBER: _ClassVar[int]
    MARKED_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    pong: Pong
    assign: Assign
    ack: Ack
    cancel: Cancel
    drain: Drain
    gone: Gone
    marked: Marked
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., pong: _Optional[_Union[Pong, _Mapping]] = ..., assign: _Optional[_Union[Assign, _Mapping]] = ..., ack: _Optional[_Union[Ack, _Mapping]] = ..., cancel: _Optional[_Union[Cancel, _Mapping]] = ..., drain: _Optional[_Union[Drain, _Mapping]] = ..., gone: _Optional[_Union[Gone, _Mapping]] = ..., marked: _Optional[_Union[Marked, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("session", "stream", "name", "queues", "kinds", "threads", "labels", "version", "highest", "ttl", "draining")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SESSION_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    session: bytes
    stream: int
    name: str
    queues: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    threads: int
    labels: _containers.ScalarMap[str, str]
    version: str
    highest: Term
    ttl: _duration_pb2.Duration
    draining: bool
    def __init__(self, session: _Optional[bytes] = ..., stream: _Optional[int] = ..., name: _Optional[str] = ..., queues: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., threads: _Optional[int] = ..., labels: _Optional[_Mapping[str, str]] = ..., version: _Optional[str] = ..., highest: _Optional[_Union[Term, _Mapping]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., draining: bool = ...) -> None: ...

class Ping(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class Pong(_message.Message):
    __slots__ = ("number",)
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    number: int
    def __init__(self, number: _Optional[int] = ...) -> None: ...

class Drain(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Gone(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("term", "ttl", "leader")
    TERM_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    term: Term
    ttl: _duration_pb2.Duration
    leader: str
    def __init__(self, term: _Optional[_Union[Term, _Mapping]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., leader: _Optional[str] = ...) -> None: ...

class Results(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[Result]
    def __init__(self, results: _Optional[_Iterable[_Union[Result, _Mapping]]] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("job", "fence", "ran", "ok", "error", "fatal", "retry_after", "snooze", "timeout", "cancelled", "released", "throttled")
    JOB_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    RAN_FIELD_NUMBER: _ClassVar[int]
    OK_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FATAL_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    SNOOZE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    THROTTLED_FIELD_NUMBER: _ClassVar[int]
    job: bytes
    fence: Fence
    ran: _duration_pb2.Duration
    ok: str
    error: str
    fatal: str
    retry_after: RetryAfter
    snooze: _duration_pb2.Duration
    timeout: TimedOut
    cancelled: WasCancelled
    released: Released
    throttled: _duration_pb2.Duration
    def __init__(self, job: _Optional[bytes] = ..., fence: _Optional[_Union[Fence, _Mapping]] = ..., ran: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., ok: _Optional[str] = ..., error: _Optional[str] = ..., fatal: _Optional[str] = ..., retry_after: _Optional[_Union[RetryAfter, _Mapping]] = ..., snooze: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., timeout: _Optional[_Union[TimedOut, _Mapping]] = ..., cancelled: _Optional[_Union[WasCancelled, _Mapping]] = ..., released: _Optional[_Union[Released, _Mapping]] = ..., throttled: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RetryAfter(_message.Message):
    __slots__ = ("delay", "error")
    DELAY_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    delay: _duration_pb2.Duration
    error: str
    def __init__(self, delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., error: _Optional[str] = ...) -> None: ...

class TimedOut(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class WasCancelled(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Released(_message.Message):
    __slots__ = ("started",)
    STARTED_FIELD_NUMBER: _ClassVar[int]
    started: bool
    def __init__(self, started: bool = ...) -> None: ...

class Progress(_message.Message):
    __slots__ = ("job", "fence", "fraction", "note")
    JOB_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    job: bytes
    fence: Fence
    fraction: float
    note: str
    def __init__(self, job: _Optional[bytes] = ..., fence: _Optional[_Union[Fence, _Mapping]] = ..., fraction: _Optional[float] = ..., note: _Optional[str] = ...) -> None: ...

class Log(_message.Message):
    __slots__ = ("job", "fence", "text")
    JOB_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    job: bytes
    fence: Fence
    text: str
    def __init__(self, job: _Optional[bytes] = ..., fence: _Optional[_Union[Fence, _Mapping]] = ..., text: _Optional[str] = ...) -> None: ...

class Mark(_message.Message):
    __slots__ = ("job", "fence", "stands")
    JOB_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    STANDS_FIELD_NUMBER: _ClassVar[int]
    job: bytes
    fence: Fence
    stands: bool
    def __init__(self, job: _Optional[bytes] = ..., fence: _Optional[_Union[Fence, _Mapping]] = ..., stands: bool = ...) -> None: ...

class Marked(_message.Message):
    __slots__ = ("fence", "stands")
    FENCE_FIELD_NUMBER: _ClassVar[int]
    STANDS_FIELD_NUMBER: _ClassVar[int]
    fence: Fence
    stands: bool
    def __init__(self, fence: _Optional[_Union[Fence, _Mapping]] = ..., stands: bool = ...) -> None: ...

class Assign(_message.Message):
    __slots__ = ("work",)
    WORK_FIELD_NUMBER: _ClassVar[int]
    work: _containers.RepeatedCompositeFieldContainer[Work]
    def __init__(self, work: _Optional[_Iterable[_Union[Work, _Mapping]]] = ...) -> None: ...

class Work(_message.Message):
    __slots__ = ("job", "fence", "attempt", "threads", "kind", "queue", "payload", "timeout", "max_attempts", "traceparent", "tracestate", "waited", "occurrence")
    JOB_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    TRACESTATE_FIELD_NUMBER: _ClassVar[int]
    WAITED_FIELD_NUMBER: _ClassVar[int]
    OCCURRENCE_FIELD_NUMBER: _ClassVar[int]
    job: bytes
    fence: Fence
    attempt: int
    threads: int
    kind: str
    queue: str
    payload: str
    timeout: _duration_pb2.Duration
    max_attempts: int
    traceparent: str
    tracestate: str
    waited: _duration_pb2.Duration
    occurrence: bool
    def __init__(self, job: _Optional[bytes] = ..., fence: _Optional[_Union[Fence, _Mapping]] = ..., attempt: _Optional[int] = ..., threads: _Optional[int] = ..., kind: _Optional[str] = ..., queue: _Optional[str] = ..., payload: _Optional[str] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_attempts: _Optional[int] = ..., traceparent: _Optional[str] = ..., tracestate: _Optional[str] = ..., waited: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., occurrence: bool = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ("fences",)
    FENCES_FIELD_NUMBER: _ClassVar[int]
    fences: _containers.RepeatedCompositeFieldContainer[Fence]
    def __init__(self, fences: _Optional[_Iterable[_Union[Fence, _Mapping]]] = ...) -> None: ...

class Cancel(_message.Message):
    __slots__ = ("job", "fence", "why")
    class Why(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        WHY_UNSPECIFIED: _ClassVar[Cancel.Why]
        WHY_CANCELLED: _ClassVar[Cancel.Why]
        WHY_TIMEOUT: _ClassVar[Cancel.Why]
        WHY_LEASE_LOST: _ClassVar[Cancel.Why]
        WHY_DRAINING: _ClassVar[Cancel.Why]
        WHY_LAPSED: _ClassVar[Cancel.Why]
    WHY_UNSPECIFIED: Cancel.Why
    WHY_CANCELLED: Cancel.Why
    WHY_TIMEOUT: Cancel.Why
    WHY_LEASE_LOST: Cancel.Why
    WHY_DRAINING: Cancel.Why
    WHY_LAPSED: Cancel.Why
    JOB_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    job: bytes
    fence: Fence
    why: Cancel.Why
    def __init__(self, job: _Optional[bytes] = ..., fence: _Optional[_Union[Fence, _Mapping]] = ..., why: _Optional[_Union[Cancel.Why, str]] = ...) -> None: ...

class ReportDeathRequest(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: bytes
    def __init__(self, session: _Optional[bytes] = ...) -> None: ...

class ReportDeathResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
