import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkerView(_message.Message):
    __slots__ = ("id", "name", "state", "queues", "kinds", "threads", "threads_used", "stuck", "labels", "version", "local", "opened_at", "silent", "leases", "left")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    THREADS_USED_FIELD_NUMBER: _ClassVar[int]
    STUCK_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    OPENED_AT_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    LEASES_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    state: str
    queues: _containers.RepeatedScalarFieldContainer[str]
    kinds: _containers.RepeatedScalarFieldContainer[str]
    threads: int
    threads_used: int
    stuck: int
    labels: _containers.ScalarMap[str, str]
    version: str
    local: bool
    opened_at: _timestamp_pb2.Timestamp
    silent: _duration_pb2.Duration
    leases: _containers.RepeatedCompositeFieldContainer[LeaseView]
    left: WorkerLeft
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., state: _Optional[str] = ..., queues: _Optional[_Iterable[str]] = ..., kinds: _Optional[_Iterable[str]] = ..., threads: _Optional[int] = ..., threads_used: _Optional[int] = ..., stuck: _Optional[int] = ..., labels: _Optional[_Mapping[str, str]] = ..., version: _Optional[str] = ..., local: bool = ..., opened_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., silent: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., leases: _Optional[_Iterable[_Union[LeaseView, _Mapping]]] = ..., left: _Optional[_Union[WorkerLeft, _Mapping]] = ...) -> None: ...

class WorkerLeft(_message.Message):
    __slots__ = ("at", "why", "held", "jobs")
    AT_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    why: str
    held: int
    jobs: _containers.RepeatedCompositeFieldContainer[HeldJob]
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., why: _Optional[str] = ..., held: _Optional[int] = ..., jobs: _Optional[_Iterable[_Union[HeldJob, _Mapping]]] = ...) -> None: ...

class HeldJob(_message.Message):
    __slots__ = ("job", "state")
    JOB_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    job: str
    state: str
    def __init__(self, job: _Optional[str] = ..., state: _Optional[str] = ...) -> None: ...

class LeaseView(_message.Message):
    __slots__ = ("job", "attempt", "threads", "fence", "since")
    JOB_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    FENCE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    job: str
    attempt: int
    threads: int
    fence: str
    since: _timestamp_pb2.Timestamp
    def __init__(self, job: _Optional[str] = ..., attempt: _Optional[int] = ..., threads: _Optional[int] = ..., fence: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListWorkersRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListWorkersResponse(_message.Message):
    __slots__ = ("workers",)
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    workers: _containers.RepeatedCompositeFieldContainer[WorkerView]
    def __init__(self, workers: _Optional[_Iterable[_Union[WorkerView, _Mapping]]] = ...) -> None: ...

class GetWorkerRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class DrainWorkerRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...
