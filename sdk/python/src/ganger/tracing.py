"""Traces: how an attempt goes on with the trace of whoever submitted its job.

With ``opentelemetry-api`` installed (``pip install ganger[otel]``) every handler runs in a span ``process {queue}``,
and what is enqueued carries the current span along. Without it a handler finds the submitter's context in
``ctx.traceparent``, and nothing here costs anything. Spans go wherever the program's own OpenTelemetry SDK sends them.

The rule is the one of the server: a first attempt that begins soon is a child of the submitter's span; retries, delayed
jobs and occurrences of schedules are roots of traces of their own, with a link to it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .outcome import Failed, FailedForGood, Later, Report, TimedOut, WasCancelled
from .version import __version__

if TYPE_CHECKING:
    from .context import Attempt

try:
    from opentelemetry import trace as _otel
    from opentelemetry.context import Context as _OtelContext
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    _installed = False
else:
    _installed = True

#: An attempt that begins within so many seconds of the submission is part of the submitter's trace.
PROMPT = 10.0

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII | re.DOTALL)


def is_child(attempt: int, waited: float, occurrence: bool) -> bool:
    """Whether an attempt is a child of the submitter's span; otherwise it is a root with a link to it."""
    return attempt <= 1 and waited <= PROMPT and not occurrence


def read_traceparent(text: str) -> str | None:
    """A W3C ``traceparent`` in the version that is understood, or None if it is none."""
    found = _PARENT.fullmatch(text)
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more is not None) or int(trace, 16) == 0 or int(span, 16) == 0:
        return None
    return f"00-{trace}-{span}-{flags}"


def headers() -> dict[str, str]:
    """``traceparent`` and ``tracestate`` of the current span of OpenTelemetry; nothing without one."""
    carrier: dict[str, str] = {}
    if _installed:
        TraceContextTextMapPropagator().inject(carrier)
    return carrier


class Span:
    """What can be said about the span of an attempt. Does nothing without OpenTelemetry."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def ended(self, report: Report, why: str | None) -> None:
        """What the handler came to."""
        kind = _error_type(report, why)
        if self._span is not None and kind is not None:
            self._span.set_attribute("error.type", kind)
            self._span.set_status(_otel.Status(_otel.StatusCode.ERROR))


@contextlib.contextmanager
def processing(attempt: Attempt) -> Iterator[Span]:
    """The span in which a handler runs; it is the current one inside."""
    if not _installed:
        yield Span()
        return
    context, links = _OtelContext(), []
    carrier = {"traceparent": attempt.traceparent or "", "tracestate": attempt.tracestate or ""}
    submitter = TraceContextTextMapPropagator().extract(carrier, context=_OtelContext())
    remote = _otel.get_current_span(submitter).get_span_context()
    if remote.is_valid:
        if is_child(attempt.number, attempt.waited, attempt.occurrence):
            context = submitter
        else:
            links = [_otel.Link(remote)]
    attributes: dict[str, str | int] = {
        "messaging.system": "ganger",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": attempt.queue,
        "messaging.message.id": attempt.job_id,
        "ganger.job.kind": attempt.kind,
        "ganger.job.attempt": attempt.number,
    }
    tracer = _otel.get_tracer("ganger", __version__)
    with tracer.start_as_current_span(
        f"process {attempt.queue}",
        context=context,
        kind=_otel.SpanKind.CONSUMER,
        attributes=attributes,
        links=links,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield Span(span)


def _error_type(report: Report, why: str | None) -> str | None:
    if isinstance(report, (Failed, Later)):
        return "error"
    if isinstance(report, FailedForGood):
        return "fatal"
    if isinstance(report, TimedOut):
        return "timeout"
    if isinstance(report, WasCancelled):
        return {"timeout": "timeout", "lease_lost": "lost", "lapsed": "lost"}.get(why or "", "cancelled")
    return None
