"""The one place where the messages of a session meet the wire types."""

from __future__ import annotations

from typing import Any

from ..outcome import Failed, FailedForGood, KeyClosed, Later, Ok, Released, Snoozed, TimedOut, WasCancelled
from ..v1 import worker_pb2 as wire
from .messages import (
    Ack,
    Assign,
    AttemptReport,
    Cancel,
    Drain,
    Fence,
    Gone,
    Hello,
    Log,
    Mark,
    Marked,
    Ping,
    Pong,
    Progress,
    Results,
    Term,
    ToLeader,
    ToWorker,
    Welcome,
    Why,
    Work,
)

_WHY = {
    wire.Cancel.WHY_CANCELLED: Why.CANCELLED,
    wire.Cancel.WHY_TIMEOUT: Why.TIMEOUT,
    wire.Cancel.WHY_LEASE_LOST: Why.LEASE_LOST,
    wire.Cancel.WHY_DRAINING: Why.DRAINING,
    wire.Cancel.WHY_LAPSED: Why.LAPSED,
}


def encode(message: ToLeader) -> wire.FromWorker:
    """A message to the leader, for the wire."""
    if isinstance(message, Hello):
        return wire.FromWorker(hello=_hello(message))
    if isinstance(message, Ping):
        return wire.FromWorker(ping=wire.Ping(number=message.number))
    if isinstance(message, Results):
        return wire.FromWorker(results=wire.Results(results=[_result(each) for each in message.reports]))
    if isinstance(message, Progress):
        said = wire.Progress(job=message.job, fence=_fence(message.fence), fraction=message.fraction, note=message.note)
        return wire.FromWorker(progress=said)
    if isinstance(message, Log):
        return wire.FromWorker(log=wire.Log(job=message.job, fence=_fence(message.fence), text=message.text))
    if isinstance(message, Mark):
        asked = wire.Mark(job=message.job, fence=_fence(message.fence), stands=message.stands)
        return wire.FromWorker(mark=asked)
    if isinstance(message, Drain):
        return wire.FromWorker(drain=wire.Drain())
    return wire.FromWorker(goodbye=wire.Goodbye())


def decode(message: wire.ToWorker) -> ToWorker | None:
    """A message of the leader; None if it is one of a later version of the protocol."""
    which = message.WhichOneof("message")
    if which == "welcome":
        said = message.welcome
        return Welcome(_read_term(said.term), _seconds(said.ttl), said.leader)
    if which == "pong":
        return Pong(message.pong.number)
    if which == "assign":
        return Assign([_work(each) for each in message.assign.work])
    if which == "ack":
        return Ack([_read_fence(each) for each in message.ack.fences])
    if which == "cancel":
        asked = message.cancel
        return Cancel(asked.job, _read_fence(asked.fence), _WHY.get(asked.why, Why.CANCELLED))
    if which == "marked":
        return Marked(_read_fence(message.marked.fence), message.marked.stands)
    if which == "drain":
        return Drain()
    if which == "gone":
        return Gone()
    return None


def _hello(hello: Hello) -> wire.Hello:
    worker = hello.worker
    said = wire.Hello(
        session=hello.session,
        stream=hello.stream,
        name=worker.name,
        queues=worker.queues,
        kinds=worker.kinds,
        threads=worker.threads,
        labels=worker.labels,
        version=worker.version,
        draining=hello.draining,
    )
    _set_duration(said.ttl, worker.ttl)
    if hello.highest != Term():
        said.highest.CopyFrom(wire.Term(number=hello.highest.number, id=hello.highest.id))
    return said


def _result(each: AttemptReport) -> wire.Result:
    result = wire.Result(job=each.job, fence=_fence(each.fence))
    _set_duration(result.ran, each.ran)
    report = each.report
    if isinstance(report, Ok):
        result.ok = report.result
    elif isinstance(report, Failed):
        result.error = report.error
    elif isinstance(report, FailedForGood):
        result.fatal = report.error
    elif isinstance(report, Later):
        result.retry_after.error = report.error
        _set_duration(result.retry_after.delay, report.delay)
    elif isinstance(report, Snoozed):
        result.snooze.SetInParent()
        _set_duration(result.snooze, report.delay)
    elif isinstance(report, KeyClosed):
        result.throttled.SetInParent()
        _set_duration(result.throttled, report.delay)
    elif isinstance(report, TimedOut):
        result.timeout.SetInParent()
    elif isinstance(report, WasCancelled):
        result.cancelled.SetInParent()
    elif isinstance(report, Released):
        result.released.SetInParent()
        result.released.started = report.started
    return result


def _work(work: wire.Work) -> Work:
    return Work(
        job=work.job,
        fence=_read_fence(work.fence),
        attempt=work.attempt,
        threads=work.threads,
        kind=work.kind,
        queue=work.queue,
        payload=work.payload,
        timeout=_seconds(work.timeout) if work.HasField("timeout") else None,
        max_attempts=work.max_attempts,
        traceparent=work.traceparent or None,
        tracestate=work.tracestate or None,
        waited=_seconds(work.waited) if work.HasField("waited") else 0.0,
        occurrence=work.occurrence,
    )


def _fence(fence: Fence) -> wire.Fence:
    return wire.Fence(term=wire.Term(number=fence.term.number, id=fence.term.id), seq=fence.seq)


def _read_fence(fence: wire.Fence) -> Fence:
    return Fence(_read_term(fence.term), fence.seq)


def _read_term(term: wire.Term) -> Term:
    return Term(term.number, term.id)


def _seconds(duration: Any) -> float:
    return float(duration.seconds) + float(duration.nanos) / 1e9


def _set_duration(duration: Any, seconds: float) -> None:
    duration.seconds = int(seconds)
    duration.nanos = int((seconds - int(seconds)) * 1e9)
