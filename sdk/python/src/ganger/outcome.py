"""How a handler ends: it returns a result, raises any exception, or one of the three that say more.

Any other exception is a failed attempt; the job's retry policy decides what follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from . import limits
from .durations import Duration, seconds


class Fatal(Exception):
    """Failed, and trying again is pointless: the job dies."""


class RetryAfter(Exception):
    """Failed; try again after this delay instead of the policy's."""

    def __init__(self, delay: Duration, error: str = "asked to be tried again later") -> None:
        super().__init__(error)
        #: Seconds to wait.
        self.delay = seconds(delay)


class Snooze(Exception):
    """Not now: run again after this delay. No attempt is burnt."""

    def __init__(self, delay: Duration) -> None:
        super().__init__("snoozed")
        #: Seconds to wait.
        self.delay = seconds(delay)


class Throttled(Exception):
    """The other side asked to be left alone for so long: the job's `concurrency_key` is closed. No attempt is burnt."""

    def __init__(self, delay: Duration) -> None:
        super().__init__("throttled")
        #: Seconds for which no job with that key is started.
        self.delay = seconds(delay)


class Cancelled(Exception):
    """A handler in a thread was told to stop, and noticed it by :meth:`Context.check`."""


class EffectRefused(Exception):
    """The lease is lost: what :meth:`Context.mark_effect` announced must not be done."""


@dataclass(frozen=True)
class Ok:
    """It returned this, as JSON text."""

    result: str


@dataclass(frozen=True)
class Failed:
    """It failed; the retry policy decides."""

    error: str


@dataclass(frozen=True)
class FailedForGood:
    """It failed, and trying again is pointless."""

    error: str


@dataclass(frozen=True)
class Later:
    """It failed, and is to be tried again after so many seconds."""

    delay: float
    error: str


@dataclass(frozen=True)
class Snoozed:
    """It wants to run after so many seconds; nothing failed."""

    delay: float


@dataclass(frozen=True)
class KeyClosed:
    """It wants its key closed for so many seconds; nothing failed."""

    delay: float


@dataclass(frozen=True)
class TimedOut:
    """It ran longer than it may, and stopped when it was told to."""


@dataclass(frozen=True)
class WasCancelled:
    """It stopped when it was told to."""


@dataclass(frozen=True)
class Released:
    """It is handed back."""

    started: bool


#: What is reported of an attempt.
Report = Union[Ok, Failed, FailedForGood, Later, Snoozed, KeyClosed, TimedOut, WasCancelled, Released]


def of_result(text: str) -> Report:
    """The report of a result, which may be too large to keep."""
    size = len(text.encode("utf-8"))
    if size > limits.RESULT_BYTES:
        return FailedForGood(f"result_too_large: {size} bytes, the limit is {limits.RESULT_BYTES}")
    return Ok(text)


def of_exception(error: BaseException, cancelled: bool) -> Report:
    """The report of a handler that raised, `cancelled` if it had been told to stop."""
    text = limits.cut(_words(error), limits.ERROR_BYTES)
    if isinstance(error, Fatal):
        return FailedForGood(text or "fatal")
    if isinstance(error, RetryAfter):
        return Later(error.delay, text)
    if isinstance(error, Snooze):
        return Snoozed(error.delay)
    if isinstance(error, Throttled):
        return KeyClosed(error.delay)
    if cancelled:
        # It failed because it was told to stop.
        return WasCancelled()
    name = type(error).__name__
    return Failed(limits.cut(f"{name}: {text}" if text else name, limits.ERROR_BYTES))


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as worse:
        return f"its text cannot be had: {type(worse).__name__}"


def outcome_name(report: Report) -> str:
    """The outcome that the server records for it."""
    if isinstance(report, Ok):
        return "ok"
    if isinstance(report, (Failed, FailedForGood, Later)):
        return "error"
    if isinstance(report, TimedOut):
        return "timeout"
    return "cancelled" if isinstance(report, WasCancelled) else "released"
