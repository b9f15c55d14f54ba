"""What can go wrong between a program and a Ganger server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class GangerError(Exception):
    """Everything that this package raises, and handlers do not."""


class BadArguments(GangerError, TypeError):
    """The arguments of an enqueue do not fit the handler, or JSON cannot carry them. Nothing was sent."""


class Unreachable(GangerError, ConnectionError):
    """No server answered, although it was tried several times."""


class WaitTimeout(GangerError, TimeoutError):
    """The job did not end within the time given. It goes on."""


class JobFailed(GangerError):
    """The job ended without a result."""

    def __init__(self, job: str, reason: str) -> None:
        super().__init__(self._text(job, reason))
        #: Its id.
        self.job = job
        #: Why.
        self.reason = reason

    def _text(self, job: str, reason: str) -> str:
        return f"job {job} has no result: {reason}"


class JobDead(JobFailed):
    """The job died: no attempts were left, or its handler said that trying again is pointless."""

    def _text(self, job: str, reason: str) -> str:
        return f"job {job} is dead: {reason}"


class JobCancelled(JobFailed):
    """The job was cancelled."""

    def _text(self, job: str, reason: str) -> str:
        return f"job {job} was cancelled" + (f": {reason}" if reason else "")


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one part of a request."""

    #: JSON pointer into the body, or ``?name`` for a query parameter.
    pointer: str
    #: What is wrong there, and the limit.
    detail: str


class Problem(GangerError):
    """The server refused a request, and said why (RFC 9457)."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        #: The HTTP status.
        self.status = status
        #: The stable name of the problem; `/problems/<code>` on the server explains it.
        self.code = str(body.get("code") or f"http_{status}")
        #: The sort of problem.
        self.title = str(body.get("title") or "")
        #: This occurrence, for people.
        self.detail = str(body.get("detail") or self.title or f"the server answered {status}")
        #: What to do about it.
        self.hint: str | None = body.get("hint")
        #: What is wrong with which part of the request.
        self.errors = [
            FieldProblem(str(error.get("pointer", "")), str(error.get("detail", "")))
            for error in body.get("errors") or []
            if isinstance(error, Mapping)
        ]
        #: Whether the same request may succeed later.
        self.retryable = bool(body.get("retryable", status in (502, 503, 504)))
        #: Names the request in the server's log.
        self.request_id: str | None = body.get("request_id")
        super().__init__(self._text())

    def _text(self) -> str:
        text = f"{self.code}: {self.detail}"
        for error in self.errors:
            text += f"\n  {error.pointer}: {error.detail}"
        return text + (f"\n  hint: {self.hint}" if self.hint else "")


class Invalid(Problem):
    """The request is malformed, has fields that are not valid, or is too large (400, 413, 415, 422)."""


class Denied(Problem):
    """The caller is not known, or may not do this (401, 403)."""


class NotFound(Problem):
    """There is no such thing (404, 410)."""


class Conflict(Problem):
    """The state of the thing does not allow this (409, 412)."""


class Unavailable(Problem):
    """The server cannot serve now, although it was tried several times (408, 429, 502, 503, 504)."""


_BY_STATUS: dict[int, type[Problem]] = {
    400: Invalid,
    401: Denied,
    403: Denied,
    404: NotFound,
    408: Unavailable,
    409: Conflict,
    410: NotFound,
    412: Conflict,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def problem(status: int, body: Any) -> Problem:
    """The problem that an answer tells, as the class that fits its status."""
    fields = body if isinstance(body, Mapping) else {}
    return _BY_STATUS.get(status, Problem)(status, fields)
