import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NewJob(_message.Message):
    __slots__ = ("kind", "queue", "payload", "priority", "run_at", "expires_at", "threads", "min_threads", "fallback", "require", "max_attempts", "retry", "timeout", "max_lost", "unique_key", "unique_for", "tags", "traceparent", "concurrency_key", "fair_key", "fair_weight", "tracestate", "depends_on")
    class RequireEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    KIND_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    RUN_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    MIN_THREADS_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_FIELD_NUMBER: _ClassVar[int]
    REQUIRE_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    MAX_LOST_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_KEY_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_FOR_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    FAIR_KEY_FIELD_NUMBER: _ClassVar[int]
    FAIR_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    TRACESTATE_FIELD_NUMBER: _ClassVar[int]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    kind: str
    queue: str
    payload: str
    priority: int
    run_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    threads: int
    min_threads: int
    fallback: str
    require: _containers.ScalarMap[str, str]
    max_attempts: int
    retry: RetryPolicy
    timeout: _duration_pb2.Duration
    max_lost: int
    unique_key: str
    unique_for: _duration_pb2.Duration
    tags: _containers.RepeatedScalarFieldContainer[str]
    traceparent: str
    concurrency_key: str
    fair_key: str
    fair_weight: int
    tracestate: str
    depends_on: _containers.RepeatedCompositeFieldContainer[Parent]
    def __init__(self, kind: _Optional[str] = ..., queue: _Optional[str] = ..., payload: _Optional[str] = ..., priority: _Optional[int] = ..., run_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., threads: _Optional[int] = ..., min_threads: _Optional[int] = ..., fallback: _Optional[str] = ..., require: _Optional[_Mapping[str, str]] = ..., max_attempts: _Optional[int] = ..., retry: _Optional[_Union[RetryPolicy, _Mapping]] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_lost: _Optional[int] = ..., unique_key: _Optional[str] = ..., unique_for: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., tags: _Optional[_Iterable[str]] = ..., traceparent: _Optional[str] = ..., concurrency_key: _Optional[str] = ..., fair_key: _Optional[str] = ..., fair_weight: _Optional[int] = ..., tracestate: _Optional[str] = ..., depends_on: _Optional[_Iterable[_Union[Parent, _Mapping]]] = ...) -> None: ...

class Parent(_message.Message):
    __slots__ = ("job", "on_dead")
    JOB_FIELD_NUMBER: _ClassVar[int]
    ON_DEAD_FIELD_NUMBER: _ClassVar[int]
    job: str
    on_dead: str
    def __init__(self, job: _Optional[str] = ..., on_dead: _Optional[str] = ...) -> None: ...

class RetryPolicy(_message.Message):
    __slots__ = ("base", "factor", "max", "jitter")
    BASE_FIELD_NUMBER: _ClassVar[int]
    FACTOR_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    JITTER_FIELD_NUMBER: _ClassVar[int]
    base: _duration_pb2.Duration
    factor: float
    max: _duration_pb2.Duration
    jitter: float
    def __init__(self, base: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., factor: _Optional[float] = ..., max: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., jitter: _Optional[float] = ...) -> None: ...

class EnqueueRequest(_message.Message):
    __slots__ = ("job", "idempotency_key", "buffered")
    JOB_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    BUFFERED_FIELD_NUMBER: _ClassVar[int]
    job: NewJob
    idempotency_key: str
    buffered: bool
    def __init__(self, job: _Optional[_Union[NewJob, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., buffered: bool = ...) -> None: ...

class EnqueueResponse(_message.Message):
    __slots__ = ("id", "deduplicated", "replayed", "buffered")
    ID_FIELD_NUMBER: _ClassVar[int]
    DEDUPLICATED_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    BUFFERED_FIELD_NUMBER: _ClassVar[int]
    id: str
    deduplicated: bool
    replayed: bool
    buffered: bool
    def __init__(self, id: _Optional[str] = ..., deduplicated: bool = ..., replayed: bool = ..., buffered: bool = ...) -> None: ...

class EnqueueBatchRequest(_message.Message):
    __slots__ = ("jobs", "idempotency_key", "atomic", "buffered", "callback")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    ATOMIC_FIELD_NUMBER: _ClassVar[int]
    BUFFERED_FIELD_NUMBER: _ClassVar[int]
    CALLBACK_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[NewJob]
    idempotency_key: str
    atomic: bool
    buffered: bool
    callback: NewJob
    def __init__(self, jobs: _Optional[_Iterable[_Union[NewJob, _Mapping]]] = ..., idempotency_key: _Optional[str] = ..., atomic: bool = ..., buffered: bool = ..., callback: _Optional[_Union[NewJob, _Mapping]] = ...) -> None: ...

class EnqueueBatchResponse(_message.Message):
    __slots__ = ("items", "replayed")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[BatchItem]
    replayed: bool
    def __init__(self, items: _Optional[_Iterable[_Union[BatchItem, _Mapping]]] = ..., replayed: bool = ...) -> None: ...

class BatchItem(_message.Message):
    __slots__ = ("job", "problem")
    JOB_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    job: EnqueueResponse
    problem: Problem
    def __init__(self, job: _Optional[_Union[EnqueueResponse, _Mapping]] = ..., problem: _Optional[_Union[Problem, _Mapping]] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("code", "detail")
    CODE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    code: str
    detail: str
    def __init__(self, code: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...

class GetRequest(_message.Message):
    __slots__ = ("id", "wait")
    ID_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    id: str
    wait: _duration_pb2.Duration
    def __init__(self, id: _Optional[str] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class RunNowRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class AttemptsRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class JobEventsRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ListRequest(_message.Message):
    __slots__ = ("states", "queue", "kind", "tag", "unique_key", "created_from", "created_before", "cursor", "limit", "q")
    STATES_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TAG_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_KEY_FIELD_NUMBER: _ClassVar[int]
    CREATED_FROM_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    Q_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[str]
    queue: str
    kind: str
    tag: str
    unique_key: str
    created_from: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    cursor: str
    limit: int
    q: str
    def __init__(self, states: _Optional[_Iterable[str]] = ..., queue: _Optional[str] = ..., kind: _Optional[str] = ..., tag: _Optional[str] = ..., unique_key: _Optional[str] = ..., created_from: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cursor: _Optional[str] = ..., limit: _Optional[int] = ..., q: _Optional[str] = ...) -> None: ...

class ListResponse(_message.Message):
    __slots__ = ("jobs", "next_cursor", "complete", "examined")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    EXAMINED_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[Job]
    next_cursor: str
    complete: bool
    examined: int
    def __init__(self, jobs: _Optional[_Iterable[_Union[Job, _Mapping]]] = ..., next_cursor: _Optional[str] = ..., complete: bool = ..., examined: _Optional[int] = ...) -> None: ...

class ExplainRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class ExplainResponse(_message.Message):
    __slots__ = ("id", "state", "summary", "gates", "position", "estimate", "per_second", "next_step")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    GATES_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    ESTIMATE_FIELD_NUMBER: _ClassVar[int]
    PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEP_FIELD_NUMBER: _ClassVar[int]
    id: str
    state: str
    summary: str
    gates: _containers.RepeatedCompositeFieldContainer[Gate]
    position: Position
    estimate: _duration_pb2.Duration
    per_second: float
    next_step: str
    def __init__(self, id: _Optional[str] = ..., state: _Optional[str] = ..., summary: _Optional[str] = ..., gates: _Optional[_Iterable[_Union[Gate, _Mapping]]] = ..., position: _Optional[_Union[Position, _Mapping]] = ..., estimate: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., per_second: _Optional[float] = ..., next_step: _Optional[str] = ...) -> None: ...

class Gate(_message.Message):
    __slots__ = ("gate", "closed", "evidence")
    GATE_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    gate: str
    closed: bool
    evidence: str
    def __init__(self, gate: _Optional[str] = ..., closed: bool = ..., evidence: _Optional[str] = ...) -> None: ...

class Position(_message.Message):
    __slots__ = ("ahead", "exact", "other_queues")
    AHEAD_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    OTHER_QUEUES_FIELD_NUMBER: _ClassVar[int]
    ahead: int
    exact: bool
    other_queues: _containers.RepeatedCompositeFieldContainer[QueueAhead]
    def __init__(self, ahead: _Optional[int] = ..., exact: bool = ..., other_queues: _Optional[_Iterable[_Union[QueueAhead, _Mapping]]] = ...) -> None: ...

class QueueAhead(_message.Message):
    __slots__ = ("queue", "jobs")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    queue: str
    jobs: int
    def __init__(self, queue: _Optional[str] = ..., jobs: _Optional[int] = ...) -> None: ...

class HistogramRequest(_message.Message):
    __slots__ = ("jobs", "buckets")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    BUCKETS_FIELD_NUMBER: _ClassVar[int]
    jobs: ListRequest
    buckets: int
    def __init__(self, jobs: _Optional[_Union[ListRequest, _Mapping]] = ..., buckets: _Optional[int] = ...) -> None: ...

class HistogramResponse(_message.Message):
    __slots__ = ("matched", "step", "buckets", "examined", "complete")
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    BUCKETS_FIELD_NUMBER: _ClassVar[int]
    EXAMINED_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    matched: int
    step: _duration_pb2.Duration
    buckets: _containers.RepeatedCompositeFieldContainer[Bucket]
    examined: int
    complete: bool
    def __init__(self, matched: _Optional[int] = ..., step: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., buckets: _Optional[_Iterable[_Union[Bucket, _Mapping]]] = ..., examined: _Optional[int] = ..., complete: bool = ...) -> None: ...

class Bucket(_message.Message):
    __slots__ = ("at", "count", "states")
    class StatesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    AT_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    STATES_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    count: int
    states: _containers.ScalarMap[str, int]
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., count: _Optional[int] = ..., states: _Optional[_Mapping[str, int]] = ...) -> None: ...

class LogsRequest(_message.Message):
    __slots__ = ("id", "attempt")
    ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    id: str
    attempt: int
    def __init__(self, id: _Optional[str] = ..., attempt: _Optional[int] = ...) -> None: ...

class LogsResponse(_message.Message):
    __slots__ = ("attempt", "text")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    text: str
    def __init__(self, attempt: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class DeleteRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class DeleteResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class RelatedRequest(_message.Message):
    __slots__ = ("id", "children", "cursor", "limit")
    ID_FIELD_NUMBER: _ClassVar[int]
    CHILDREN_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    id: str
    children: bool
    cursor: str
    limit: int
    def __init__(self, id: _Optional[str] = ..., children: bool = ..., cursor: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class RelatedResponse(_message.Message):
    __slots__ = ("jobs", "next_cursor")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[RelatedJob]
    next_cursor: str
    def __init__(self, jobs: _Optional[_Iterable[_Union[RelatedJob, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class RelatedJob(_message.Message):
    __slots__ = ("id", "state", "kind", "queue", "on_dead", "settled")
    ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    ON_DEAD_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    id: str
    state: str
    kind: str
    queue: str
    on_dead: str
    settled: str
    def __init__(self, id: _Optional[str] = ..., state: _Optional[str] = ..., kind: _Optional[str] = ..., queue: _Optional[str] = ..., on_dead: _Optional[str] = ..., settled: _Optional[str] = ...) -> None: ...

class AttemptsResponse(_message.Message):
    __slots__ = ("attempts",)
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    attempts: _containers.RepeatedCompositeFieldContainer[Attempt]
    def __init__(self, attempts: _Optional[_Iterable[_Union[Attempt, _Mapping]]] = ...) -> None: ...

class JobEventsResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[JobEvent]
    def __init__(self, events: _Optional[_Iterable[_Union[JobEvent, _Mapping]]] = ...) -> None: ...

class JobEvent(_message.Message):
    __slots__ = ("at", "event", "attempt", "worker", "outcome", "who", "text")
    AT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    WHO_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    event: str
    attempt: int
    worker: str
    outcome: str
    who: str
    text: str
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., event: _Optional[str] = ..., attempt: _Optional[int] = ..., worker: _Optional[str] = ..., outcome: _Optional[str] = ..., who: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("id", "kind", "queue", "state", "priority", "payload", "result", "reason", "attempt", "max_attempts", "created_at", "due_at", "finished_at", "tags", "unique_key", "last_error", "worker", "threads", "expires_at", "concurrency_key", "fair_key", "schedule", "schedule_due_at", "progress", "cancel_requested", "failure")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MAX_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    DUE_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    UNIQUE_KEY_FIELD_NUMBER: _ClassVar[int]
    LAST_ERROR_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    CONCURRENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    FAIR_KEY_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_DUE_AT_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    CANCEL_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    queue: str
    state: str
    priority: int
    payload: str
    result: str
    reason: str
    attempt: int
    max_attempts: int
    created_at: _timestamp_pb2.Timestamp
    due_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    tags: _containers.RepeatedScalarFieldContainer[str]
    unique_key: str
    last_error: str
    worker: str
    threads: int
    expires_at: _timestamp_pb2.Timestamp
    concurrency_key: str
    fair_key: str
    schedule: str
    schedule_due_at: _timestamp_pb2.Timestamp
    progress: JobProgress
    cancel_requested: bool
    failure: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., queue: _Optional[str] = ..., state: _Optional[str] = ..., priority: _Optional[int] = ..., payload: _Optional[str] = ..., result: _Optional[str] = ..., reason: _Optional[str] = ..., attempt: _Optional[int] = ..., max_attempts: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., due_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tags: _Optional[_Iterable[str]] = ..., unique_key: _Optional[str] = ..., last_error: _Optional[str] = ..., worker: _Optional[str] = ..., threads: _Optional[int] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., concurrency_key: _Optional[str] = ..., fair_key: _Optional[str] = ..., schedule: _Optional[str] = ..., schedule_due_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., progress: _Optional[_Union[JobProgress, _Mapping]] = ..., cancel_requested: bool = ..., failure: _Optional[str] = ...) -> None: ...

class JobProgress(_message.Message):
    __slots__ = ("fraction", "note")
    FRACTION_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    fraction: float
    note: str
    def __init__(self, fraction: _Optional[float] = ..., note: _Optional[str] = ...) -> None: ...

class Attempt(_message.Message):
    __slots__ = ("number", "outcome", "error", "worker", "threads", "leased_at", "started_at", "ended_at")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    WORKER_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    LEASED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    number: int
    outcome: str
    error: str
    worker: str
    threads: int
    leased_at: _timestamp_pb2.Timestamp
    started_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    def __init__(self, number: _Optional[int] = ..., outcome: _Optional[str] = ..., error: _Optional[str] = ..., worker: _Optional[str] = ..., threads: _Optional[int] = ..., leased_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
