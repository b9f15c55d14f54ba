import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListOperationsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListOperationsResponse(_message.Message):
    __slots__ = ("operations",)
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    def __init__(self, operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ...) -> None: ...

class GetOperationRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class CancelOperationRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class StartOperationRequest(_message.Message):
    __slots__ = ("action", "filter", "ids", "all", "dry_run", "rate", "reason", "idempotency_key")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    action: str
    filter: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    all: bool
    dry_run: bool
    rate: int
    reason: str
    idempotency_key: str
    def __init__(self, action: _Optional[str] = ..., filter: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ..., all: bool = ..., dry_run: bool = ..., rate: _Optional[int] = ..., reason: _Optional[str] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class StartOperationResponse(_message.Message):
    __slots__ = ("operation", "preview", "replayed")
    OPERATION_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    operation: Operation
    preview: OperationPreview
    replayed: bool
    def __init__(self, operation: _Optional[_Union[Operation, _Mapping]] = ..., preview: _Optional[_Union[OperationPreview, _Mapping]] = ..., replayed: bool = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("id", "action", "state", "filter", "ids", "all", "rate", "reason", "created_at", "finished_at", "examined", "done", "skipped", "skipped_by", "by", "total")
    class SkippedByEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    ALL_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    FINISHED_AT_FIELD_NUMBER: _ClassVar[int]
    EXAMINED_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_BY_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    id: str
    action: str
    state: str
    filter: str
    ids: int
    all: bool
    rate: int
    reason: str
    created_at: _timestamp_pb2.Timestamp
    finished_at: _timestamp_pb2.Timestamp
    examined: int
    done: int
    skipped: int
    skipped_by: _containers.ScalarMap[str, int]
    by: str
    total: int
    def __init__(self, id: _Optional[str] = ..., action: _Optional[str] = ..., state: _Optional[str] = ..., filter: _Optional[str] = ..., ids: _Optional[int] = ..., all: bool = ..., rate: _Optional[int] = ..., reason: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., finished_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., examined: _Optional[int] = ..., done: _Optional[int] = ..., skipped: _Optional[int] = ..., skipped_by: _Optional[_Mapping[str, int]] = ..., by: _Optional[str] = ..., total: _Optional[int] = ...) -> None: ...

class OperationPreview(_message.Message):
    __slots__ = ("matched", "skipped", "by_state", "by_kind", "by_queue", "sample", "examined", "complete")
    class ByStateEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class ByKindEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    class ByQueueEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    MATCHED_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    BY_STATE_FIELD_NUMBER: _ClassVar[int]
    BY_KIND_FIELD_NUMBER: _ClassVar[int]
    BY_QUEUE_FIELD_NUMBER: _ClassVar[int]
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    EXAMINED_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    matched: int
    skipped: int
    by_state: _containers.ScalarMap[str, int]
    by_kind: _containers.ScalarMap[str, int]
    by_queue: _containers.ScalarMap[str, int]
    sample: _containers.RepeatedScalarFieldContainer[str]
    examined: int
    complete: bool
    def __init__(self, matched: _Optional[int] = ..., skipped: _Optional[int] = ..., by_state: _Optional[_Mapping[str, int]] = ..., by_kind: _Optional[_Mapping[str, int]] = ..., by_queue: _Optional[_Mapping[str, int]] = ..., sample: _Optional[_Iterable[str]] = ..., examined: _Optional[int] = ..., complete: bool = ...) -> None: ...
