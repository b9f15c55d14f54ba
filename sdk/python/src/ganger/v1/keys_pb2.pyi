import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Key(_message.Message):
    __slots__ = ("queue", "key", "waiting", "running", "closed_until")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    CLOSED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    queue: str
    key: str
    waiting: int
    running: int
    closed_until: _timestamp_pb2.Timestamp
    def __init__(self, queue: _Optional[str] = ..., key: _Optional[str] = ..., waiting: _Optional[int] = ..., running: _Optional[int] = ..., closed_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListKeysRequest(_message.Message):
    __slots__ = ("queue", "limit")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    queue: str
    limit: int
    def __init__(self, queue: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListKeysResponse(_message.Message):
    __slots__ = ("keys", "total")
    KEYS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[Key]
    total: int
    def __init__(self, keys: _Optional[_Iterable[_Union[Key, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class CloseKeyRequest(_message.Message):
    __slots__ = ("queue", "key", "until")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    FOR_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    queue: str
    key: str
    until: _timestamp_pb2.Timestamp
    def __init__(self, queue: _Optional[str] = ..., key: _Optional[str] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., **kwargs) -> None: ...

class OpenKeyRequest(_message.Message):
    __slots__ = ("queue", "key")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    queue: str
    key: str
    def __init__(self, queue: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...
