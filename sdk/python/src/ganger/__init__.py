"""Client and worker for the Ganger job scheduler.

Declare jobs on an :class:`App`, enqueue them from anywhere, run them with ``python -m ganger worker module:app``.
"""

from .app import App, JobDefinition
from .async_client import AsyncClient, AsyncHandle
from .client import Client, Handle
from .context import Context, current_context
from .errors import (
    BadArguments,
    Conflict,
    Denied,
    FieldProblem,
    GangerError,
    Invalid,
    JobCancelled,
    JobDead,
    JobFailed,
    NotFound,
    Problem,
    Unavailable,
    Unreachable,
    WaitTimeout,
)
from .model import (
    AttemptRecord,
    BatchItem,
    Imported,
    Job,
    JobOptions,
    ListFilters,
    NewJob,
    Page,
    Parent,
    Receipt,
    Refused,
    RetryPolicy,
)
from .outcome import Cancelled, EffectRefused, Fatal, RetryAfter, Snooze, Throttled
from .schedules import AsyncSchedules, Occurrence, Schedule, ScheduleOptions, Schedules
from .version import __version__
from .worker import Finish, Worker

__all__ = [
    "App",
    "AsyncClient",
    "AsyncHandle",
    "AsyncSchedules",
    "AttemptRecord",
    "BadArguments",
    "BatchItem",
    "Cancelled",
    "Client",
    "Conflict",
    "Context",
    "Denied",
    "EffectRefused",
    "Fatal",
    "FieldProblem",
    "Finish",
    "GangerError",
    "Handle",
    "Imported",
    "Invalid",
    "Job",
    "JobCancelled",
    "JobDead",
    "JobDefinition",
    "JobFailed",
    "JobOptions",
    "ListFilters",
    "NewJob",
    "NotFound",
    "Occurrence",
    "Page",
    "Parent",
    "Problem",
    "Receipt",
    "Refused",
    "RetryAfter",
    "RetryPolicy",
    "Schedule",
    "ScheduleOptions",
    "Schedules",
    "Snooze",
    "Throttled",
    "Unavailable",
    "Unreachable",
    "WaitTimeout",
    "Worker",
    "__version__",
    "current_context",
]
