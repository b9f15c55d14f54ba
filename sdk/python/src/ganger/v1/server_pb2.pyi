import datetime

from ganger.v1 import queues_pb2 as _queues_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StatsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StatsResponse(_message.Message):
    __slots__ = ("term", "jobs", "by_kind", "workers", "threads", "threads_used", "store_backlog", "store_trouble", "verdict", "cannot_start")
    class WorkersEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    TERM_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    BY_KIND_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    THREADS_USED_FIELD_NUMBER: _ClassVar[int]
    STORE_BACKLOG_FIELD_NUMBER: _ClassVar[int]
    STORE_TROUBLE_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    CANNOT_START_FIELD_NUMBER: _ClassVar[int]
    term: int
    jobs: _queues_pb2.JobCounts
    by_kind: _containers.RepeatedCompositeFieldContainer[KindCounts]
    workers: _containers.ScalarMap[str, int]
    threads: int
    threads_used: int
    store_backlog: int
    store_trouble: str
    verdict: Verdict
    cannot_start: int
    def __init__(self, term: _Optional[int] = ..., jobs: _Optional[_Union[_queues_pb2.JobCounts, _Mapping]] = ..., by_kind: _Optional[_Iterable[_Union[KindCounts, _Mapping]]] = ..., workers: _Optional[_Mapping[str, int]] = ..., threads: _Optional[int] = ..., threads_used: _Optional[int] = ..., store_backlog: _Optional[int] = ..., store_trouble: _Optional[str] = ..., verdict: _Optional[_Union[Verdict, _Mapping]] = ..., cannot_start: _Optional[int] = ...) -> None: ...

class KindCounts(_message.Message):
    __slots__ = ("queue", "kind", "jobs")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    JOBS_FIELD_NUMBER: _ClassVar[int]
    queue: str
    kind: str
    jobs: _queues_pb2.JobCounts
    def __init__(self, queue: _Optional[str] = ..., kind: _Optional[str] = ..., jobs: _Optional[_Union[_queues_pb2.JobCounts, _Mapping]] = ...) -> None: ...

class Verdict(_message.Message):
    __slots__ = ("severity", "text", "findings")
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    severity: str
    text: str
    findings: _containers.RepeatedCompositeFieldContainer[Finding]
    def __init__(self, severity: _Optional[str] = ..., text: _Optional[str] = ..., findings: _Optional[_Iterable[_Union[Finding, _Mapping]]] = ...) -> None: ...

class Finding(_message.Message):
    __slots__ = ("severity", "text", "queue")
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    severity: str
    text: str
    queue: str
    def __init__(self, severity: _Optional[str] = ..., text: _Optional[str] = ..., queue: _Optional[str] = ...) -> None: ...

class TimeseriesRequest(_message.Message):
    __slots__ = ("metric", "queue", "kind", "by", "step", "to")
    METRIC_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    metric: str
    queue: str
    kind: str
    by: str
    step: _duration_pb2.Duration
    to: _timestamp_pb2.Timestamp
    def __init__(self, metric: _Optional[str] = ..., queue: _Optional[str] = ..., kind: _Optional[str] = ..., by: _Optional[str] = ..., step: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., **kwargs) -> None: ...

class TimeseriesResponse(_message.Message):
    __slots__ = ("metric", "step", "to", "by", "series", "examined", "complete")
    METRIC_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    SERIES_FIELD_NUMBER: _ClassVar[int]
    EXAMINED_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    metric: str
    step: _duration_pb2.Duration
    to: _timestamp_pb2.Timestamp
    by: str
    series: _containers.RepeatedCompositeFieldContainer[Series]
    examined: int
    complete: bool
    def __init__(self, metric: _Optional[str] = ..., step: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., to: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., by: _Optional[str] = ..., series: _Optional[_Iterable[_Union[Series, _Mapping]]] = ..., examined: _Optional[int] = ..., complete: bool = ..., **kwargs) -> None: ...

class Series(_message.Message):
    __slots__ = ("name", "total", "points")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    total: Figure
    points: _containers.RepeatedCompositeFieldContainer[Point]
    def __init__(self, name: _Optional[str] = ..., total: _Optional[_Union[Figure, _Mapping]] = ..., points: _Optional[_Iterable[_Union[Point, _Mapping]]] = ...) -> None: ...

class Point(_message.Message):
    __slots__ = ("at", "figure")
    AT_FIELD_NUMBER: _ClassVar[int]
    FIGURE_FIELD_NUMBER: _ClassVar[int]
    at: _timestamp_pb2.Timestamp
    figure: Figure
    def __init__(self, at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., figure: _Optional[_Union[Figure, _Mapping]] = ...) -> None: ...

class Figure(_message.Message):
    __slots__ = ("count", "succeeded", "dead", "cancelled", "mean_ms", "p50_ms", "p95_ms", "p99_ms")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SUCCEEDED_FIELD_NUMBER: _ClassVar[int]
    DEAD_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    MEAN_MS_FIELD_NUMBER: _ClassVar[int]
    P50_MS_FIELD_NUMBER: _ClassVar[int]
    P95_MS_FIELD_NUMBER: _ClassVar[int]
    P99_MS_FIELD_NUMBER: _ClassVar[int]
    count: int
    succeeded: int
    dead: int
    cancelled: int
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    def __init__(self, count: _Optional[int] = ..., succeeded: _Optional[int] = ..., dead: _Optional[int] = ..., cancelled: _Optional[int] = ..., mean_ms: _Optional[float] = ..., p50_ms: _Optional[float] = ..., p95_ms: _Optional[float] = ..., p99_ms: _Optional[float] = ...) -> None: ...

class CapabilitiesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CapabilitiesResponse(_message.Message):
    __slots__ = ("product", "version", "api", "limits", "environment", "auth", "signup")
    PRODUCT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    API_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_FIELD_NUMBER: _ClassVar[int]
    AUTH_FIELD_NUMBER: _ClassVar[int]
    SIGNUP_FIELD_NUMBER: _ClassVar[int]
    product: str
    version: str
    api: _containers.RepeatedScalarFieldContainer[str]
    limits: ServerLimits
    environment: str
    auth: bool
    signup: bool
    def __init__(self, product: _Optional[str] = ..., version: _Optional[str] = ..., api: _Optional[_Iterable[str]] = ..., limits: _Optional[_Union[ServerLimits, _Mapping]] = ..., environment: _Optional[str] = ..., auth: bool = ..., signup: bool = ...) -> None: ...

class ServerLimits(_message.Message):
    __slots__ = ("payload_bytes", "result_bytes", "error_bytes", "log_bytes", "json_depth", "batch_jobs", "batch_bytes", "name_bytes", "tags", "tag_bytes", "labels", "key_bytes", "threads", "attempts", "page", "longest", "idempotency_kept")
    PAYLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESULT_BYTES_FIELD_NUMBER: _ClassVar[int]
    ERROR_BYTES_FIELD_NUMBER: _ClassVar[int]
    LOG_BYTES_FIELD_NUMBER: _ClassVar[int]
    JSON_DEPTH_FIELD_NUMBER: _ClassVar[int]
    BATCH_JOBS_FIELD_NUMBER: _ClassVar[int]
    BATCH_BYTES_FIELD_NUMBER: _ClassVar[int]
    NAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    KEY_BYTES_FIELD_NUMBER: _ClassVar[int]
    THREADS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    LONGEST_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEPT_FIELD_NUMBER: _ClassVar[int]
    payload_bytes: int
    result_bytes: int
    error_bytes: int
    log_bytes: int
    json_depth: int
    batch_jobs: int
    batch_bytes: int
    name_bytes: int
    tags: int
    tag_bytes: int
    labels: int
    key_bytes: int
    threads: int
    attempts: int
    page: int
    longest: _duration_pb2.Duration
    idempotency_kept: _duration_pb2.Duration
    def __init__(self, payload_bytes: _Optional[int] = ..., result_bytes: _Optional[int] = ..., error_bytes: _Optional[int] = ..., log_bytes: _Optional[int] = ..., json_depth: _Optional[int] = ..., batch_jobs: _Optional[int] = ..., batch_bytes: _Optional[int] = ..., name_bytes: _Optional[int] = ..., tags: _Optional[int] = ..., tag_bytes: _Optional[int] = ..., labels: _Optional[int] = ..., key_bytes: _Optional[int] = ..., threads: _Optional[int] = ..., attempts: _Optional[int] = ..., page: _Optional[int] = ..., longest: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., idempotency_kept: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ClusterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ClusterResponse(_message.Message):
    __slots__ = ("server", "role", "embedded", "leader", "servers", "incomplete")
    SERVER_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    LEADER_FIELD_NUMBER: _ClassVar[int]
    SERVERS_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_FIELD_NUMBER: _ClassVar[int]
    server: str
    role: str
    embedded: bool
    leader: Leader
    servers: _containers.RepeatedCompositeFieldContainer[ServerView]
    incomplete: str
    def __init__(self, server: _Optional[str] = ..., role: _Optional[str] = ..., embedded: bool = ..., leader: _Optional[_Union[Leader, _Mapping]] = ..., servers: _Optional[_Iterable[_Union[ServerView, _Mapping]]] = ..., incomplete: _Optional[str] = ...) -> None: ...

class Leader(_message.Message):
    __slots__ = ("name", "address", "term", "since", "batch", "lag")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    TERM_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    name: str
    address: str
    term: int
    since: _timestamp_pb2.Timestamp
    batch: int
    lag: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., address: _Optional[str] = ..., term: _Optional[int] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., batch: _Optional[int] = ..., lag: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ServerView(_message.Message):
    __slots__ = ("name", "role", "address", "version", "started_at", "silent")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    address: str
    version: str
    started_at: _timestamp_pb2.Timestamp
    silent: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., address: _Optional[str] = ..., version: _Optional[str] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., silent: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...
