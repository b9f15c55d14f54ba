import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from ganger.v1 import jobs_pb2 as _jobs_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Queue(_message.Message):
    __slots__ = ("queue", "paused", "draining", "policy", "finished", "dead", "limits", "key_limits", "block", "ageing", "jobs", "oldest_ready", "workers", "weight", "precedence")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    DEAD_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    KEY_LIMITS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    AGEING_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    OLDEST_READY_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PRECEDENCE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    paused: bool
    draining: bool
    policy: str
    finished: Keep
    dead: Keep
    limits: QueueLimits
    key_limits: QueueLimits
    block: _duration_pb2.Duration
    ageing: Ageing
    jobs: JobCounts
    oldest_ready: _duration_pb2.Duration
    workers: int
    weight: int
    precedence: int
    def __init__(self, queue: _Optional[str] = ..., paused: bool = ..., draining: bool = ..., policy: _Optional[str] = ..., finished: _Optional[_Union[Keep, _Mapping]] = ..., dead: _Optional[_Union[Keep, _Mapping]] = ..., limits: _Optional[_Union[QueueLimits, _Mapping]] = ..., key_limits: _Optional[_Union[QueueLimits, _Mapping]] = ..., block: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., ageing: _Optional[_Union[Ageing, _Mapping]] = ..., jobs: _Optional[_Union[JobCounts, _Mapping]] = ..., oldest_ready: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., workers: _Optional[int] = ..., weight: _Optional[int] = ..., precedence: _Optional[int] = ...) -> None: ...

class Keep(_message.Message):
    __slots__ = ("nothing", "forever")
    FOR_FIELD_NUMBER: _ClassVar[int]
    NOTHING_FIELD_NUMBER: _ClassVar[int]
    FOREVER_FIELD_NUMBER: _ClassVar[int]
    nothing: bool
    forever: bool
    def __init__(self, nothing: bool = ..., forever: bool = ..., **kwargs) -> None: ...

class QueueLimits(_message.Message):
    __slots__ = ("max_running", "rate", "burst", "max_depth")
    MAX_RUNNING_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    BURST_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    max_running: int
    rate: Rate
    burst: int
    max_depth: int
    def __init__(self, max_running: _Optional[int] = ..., rate: _Optional[_Union[Rate, _Mapping]] = ..., burst: _Optional[int] = ..., max_depth: _Optional[int] = ...) -> None: ...

class Rate(_message.Message):
    __slots__ = ("n", "per")
    N_FIELD_NUMBER: _ClassVar[int]
    PER_FIELD_NUMBER: _ClassVar[int]
    n: int
    per: _duration_pb2.Duration
    def __init__(self, n: _Optional[int] = ..., per: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Ageing(_message.Message):
    __slots__ = ("every", "at_most")
    EVERY_FIELD_NUMBER: _ClassVar[int]
    AT_MOST_FIELD_NUMBER: _ClassVar[int]
    every: _duration_pb2.Duration
    at_most: int
    def __init__(self, every: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., at_most: _Optional[int] = ...) -> None: ...

class JobCounts(_message.Message):
    __slots__ = ("scheduled", "blocked", "queued", "running", "retrying", "succeeded", "dead", "cancelled")
    SCHEDULED_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    RETRYING_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    DEAD_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    scheduled: int
    blocked: int
    queued: int
    running: int
    retrying: int
    succeeded: int
    dead: int
    cancelled: int
    def __init__(self, scheduled: _Optional[int] = ..., blocked: _Optional[int] = ..., queued: _Optional[int] = ..., running: _Optional[int] = ..., retrying: _Optional[int] = ..., succeeded: _Optional[int] = ..., dead: _Optional[int] = ..., cancelled: _Optional[int] = ...) -> None: ...

class ListQueuesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListQueuesResponse(_message.Message):
    __slots__ = ("queues",)
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    queues: _containers.RepeatedCompositeFieldContainer[Queue]
    def __init__(self, queues: _Optional[_Iterable[_Union[Queue, _Mapping]]] = ...) -> None: ...

class GetQueueRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    def __init__(self, queue: _Optional[str] = ...) -> None: ...

class PauseQueueRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    def __init__(self, queue: _Optional[str] = ...) -> None: ...

class ResumeQueueRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    def __init__(self, queue: _Optional[str] = ...) -> None: ...

class DrainQueueRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    def __init__(self, queue: _Optional[str] = ...) -> None: ...

class PurgeQueueRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    def __init__(self, queue: _Optional[str] = ...) -> None: ...

class PurgeQueueResponse(_message.Message):
    __slots__ = ("purged",)
    PURGED_FIELD_NUMBER: _ClassVar[int]
    purged: int
    def __init__(self, purged: _Optional[int] = ...) -> None: ...

class QueueScalingRequest(_message.Message):
    __slots__ = ("queue", "max", "threads_per_worker")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    THREADS_PER_WORKER_FIELD_NUMBER: _ClassVar[int]
    queue: str
    max: int
    threads_per_worker: int
    def __init__(self, queue: _Optional[str] = ..., max: _Optional[int] = ..., threads_per_worker: _Optional[int] = ...) -> None: ...

class QueueScaling(_message.Message):
    __slots__ = ("queue", "ready", "running", "oldest_ready", "threads", "threads_per_worker", "workers", "desired_workers")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    OLDEST_READY_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    THREADS_PER_WORKER_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    DESIRED_WORKERS_FIELD_NUMBER: _ClassVar[int]
    queue: str
    ready: int
    running: int
    oldest_ready: _duration_pb2.Duration
    threads: int
    threads_per_worker: int
    workers: int
    desired_workers: int
    def __init__(self, queue: _Optional[str] = ..., ready: _Optional[int] = ..., running: _Optional[int] = ..., oldest_ready: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., threads: _Optional[int] = ..., threads_per_worker: _Optional[int] = ..., workers: _Optional[int] = ..., desired_workers: _Optional[int] = ...) -> None: ...

class HeadRequest(_message.Message):
    __slots__ = ("queue", "limit")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    queue: str
    limit: int
    def __init__(self, queue: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class HeadResponse(_message.Message):
    __slots__ = ("jobs", "exact", "other_queues")
    JOBS_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    OTHER_QUEUES_FIELD_NUMBER: _ClassVar[int]
    jobs: _containers.RepeatedCompositeFieldContainer[HeadJob]
    exact: bool
    other_queues: _containers.RepeatedCompositeFieldContainer[_jobs_pb2.QueueAhead]
    def __init__(self, jobs: _Optional[_Iterable[_Union[HeadJob, _Mapping]]] = ..., exact: bool = ..., other_queues: _Optional[_Iterable[_Union[_jobs_pb2.QueueAhead, _Mapping]]] = ...) -> None: ...

class HeadJob(_message.Message):
    __slots__ = ("id", "kind", "priority", "attempt", "ready_since", "gate", "why")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    READY_SINCE_FIELD_NUMBER: _ClassVar[int]
    GATE_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    priority: int
    attempt: int
    ready_since: _timestamp_pb2.Timestamp
    gate: str
    why: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., priority: _Optional[int] = ..., attempt: _Optional[int] = ..., ready_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., gate: _Optional[str] = ..., why: _Optional[str] = ...) -> None: ...

class PutQueueRequest(_message.Message):
    __slots__ = ("queue", "paused", "draining", "policy", "finished", "dead", "limits", "key_limits", "block", "ageing", "weight", "precedence")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    PAUSED_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    DEAD_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    KEY_LIMITS_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    AGEING_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    PRECEDENCE_FIELD_NUMBER: _ClassVar[int]
    queue: str
    paused: bool
    draining: bool
    policy: str
    finished: Keep
    dead: Keep
    limits: QueueLimits
    key_limits: QueueLimits
    block: _duration_pb2.Duration
    ageing: Ageing
    weight: int
    precedence: int
    def __init__(self, queue: _Optional[str] = ..., paused: bool = ..., draining: bool = ..., policy: _Optional[str] = ..., finished: _Optional[_Union[Keep, _Mapping]] = ..., dead: _Optional[_Union[Keep, _Mapping]] = ..., limits: _Optional[_Union[QueueLimits, _Mapping]] = ..., key_limits: _Optional[_Union[QueueLimits, _Mapping]] = ..., block: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., ageing: _Optional[_Union[Ageing, _Mapping]] = ..., weight: _Optional[int] = ..., precedence: _Optional[int] = ...) -> None: ...
