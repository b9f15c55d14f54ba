from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class ScheduleTaskRequest(_message.Message):
    __slots__ = ("scheduled_at", "command")
    SCHEDULED_AT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    scheduled_at: str
    command: str
    def __init__(self, scheduled_at: _Optional[str] = ..., command: _Optional[str] = ...) -> None: ...

class ScheduleTaskResponse(_message.Message):
    __slots__ = ("task_id", "scheduled_at", "command")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_AT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    scheduled_at: int
    command: str
    def __init__(self, task_id: _Optional[str] = ..., scheduled_at: _Optional[int] = ..., command: _Optional[str] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__ = ("task_id",)
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    def __init__(self, task_id: _Optional[str] = ...) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("task_id", "command", "scheduled_at", "picked_at", "started_at", "completed_at", "failed_at")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    COMMAND_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_AT_FIELD_NUMBER: _ClassVar[int]
    PICKED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    FAILED_AT_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    command: str
    scheduled_at: str
    picked_at: str
    started_at: str
    completed_at: str
    failed_at: str
    def __init__(self, task_id: _Optional[str] = ..., command: _Optional[str] = ..., scheduled_at: _Optional[str] = ..., picked_at: _Optional[str] = ..., started_at: _Optional[str] = ..., completed_at: _Optional[str] = ..., failed_at: _Optional[str] = ...) -> None: ...

class FileChunk(_message.Message):
    __slots__ = ("filename", "content", "is_last")
    FILENAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_LAST_FIELD_NUMBER: _ClassVar[int]
    filename: str
    content: bytes
    is_last: bool
    def __init__(self, filename: _Optional[str] = ..., content: _Optional[bytes] = ..., is_last: bool = ...) -> None: ...

class FileTransferResponse(_message.Message):
    __slots__ = ("success", "message", "file_id")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FILE_ID_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    file_id: str
    def __init__(self, success: bool = ..., message: _Optional[str] = ..., file_id: _Optional[str] = ...) -> None: ...
