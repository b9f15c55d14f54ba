"""What both clients share: from arguments to a job, and from a job to its result."""

from __future__ import annotations

import time
from typing import Any

from . import tracing
from .context import current_context
from .errors import BadArguments, JobCancelled, JobDead, WaitTimeout
from .model import Job, JobOptions, NewJob


def submission(kind: str | NewJob, payload: Any, options: JobOptions) -> NewJob:
    """The job that an enqueue asks for."""
    if isinstance(kind, NewJob):
        if payload is not None or options:
            raise BadArguments("a NewJob has its payload and options already")
        return kind
    return NewJob(kind, payload, traced(options))


def traced(options: JobOptions) -> JobOptions:
    """The options, with the trace of the attempt in which this runs.

    A current span travels in the headers instead: what is submitted again under the same idempotency key, in another
    span, must be the same.
    """
    context = current_context()
    if context.traceparent is None or "traceparent" in options or tracing.headers():
        return options
    carried: JobOptions = {**options, "traceparent": context.traceparent}
    if context.tracestate is not None:
        carried["tracestate"] = context.tracestate
    return carried


def wait_over(job: Job, until: float | None) -> None:
    """Raises WaitTimeout if the time is over."""
    if until is not None and time.monotonic() >= until:
        raise WaitTimeout(f"job {job.id} is {job.state} still")


def result_of(job: Job) -> Any:
    """The result of a final job. Raises JobDead or JobCancelled."""
    if job.state == "succeeded":
        return job.result
    if job.state == "dead":
        raise JobDead(job.id, job.last_error or job.reason or "no reason is known")
    raise JobCancelled(job.id, job.reason or "")
