import datetime

from ganger.v1 import operations_pb2 as _operations_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FailureGroup(_message.Message):
    __slots__ = ("fingerprint", "kind", "count", "first_at", "last_at", "error", "job", "recent")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_AT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    JOB_FIELD_NUMBER: _ClassVar[int]
    RECENT_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    kind: str
    count: int
    first_at: _timestamp_pb2.Timestamp
    last_at: _timestamp_pb2.Timestamp
    error: str
    job: str
    recent: RecentFailures
    def __init__(self, fingerprint: _Optional[str] = ..., kind: _Optional[str] = ..., count: _Optional[int] = ..., first_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., error: _Optional[str] = ..., job: _Optional[str] = ..., recent: _Optional[_Union[RecentFailures, _Mapping]] = ...) -> None: ...

class RecentFailures(_message.Message):
    __slots__ = ("count", "trend", "share")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TREND_FIELD_NUMBER: _ClassVar[int]
    SHARE_FIELD_NUMBER: _ClassVar[int]
    count: int
    trend: _containers.RepeatedScalarFieldContainer[int]
    share: float
    def __init__(self, count: _Optional[int] = ..., trend: _Optional[_Iterable[int]] = ..., share: _Optional[float] = ...) -> None: ...

class ListFailuresRequest(_message.Message):
    __slots__ = ("window", "kind", "limit")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    window: _duration_pb2.Duration
    kind: str
    limit: int
    def __init__(self, window: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., kind: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListFailuresResponse(_message.Message):
    __slots__ = ("groups", "to", "step")
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    groups: _containers.RepeatedCompositeFieldContainer[FailureGroup]
    to: _timestamp_pb2.Timestamp
    step: _duration_pb2.Duration
    def __init__(self, groups: _Optional[_Iterable[_Union[FailureGroup, _Mapping]]] = ..., to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., step: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., **kwargs) -> None: ...

class GetFailureRequest(_message.Message):
    __slots__ = ("fingerprint",)
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    def __init__(self, fingerprint: _Optional[str] = ...) -> None: ...

class FailureRequest(_message.Message):
    __slots__ = ("fingerprint", "dry_run", "rate", "reason", "idempotency_key")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    dry_run: bool
    rate: int
    reason: str
    idempotency_key: str
    def __init__(self, fingerprint: _Optional[str] = ..., dry_run: bool = ..., rate: _Optional[int] = ..., reason: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...
