"""A handler: the user's function for a kind, and how one attempt of it is run."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import jsontext, outcome, tracing
from .arguments import Arguments
from .context import Context, running
from .outcome import Failed, FailedForGood, Fatal, Report, RetryAfter, Snooze, Throttled, WasCancelled

#: What is entered around each attempt.
Around = Callable[[Context], contextlib.AbstractContextManager[Any]]


class Handler:
    """The function of a kind."""

    def __init__(
        self, kind: str, function: Callable[..., Any], raw: bool = False, around: Sequence[Around] = ()
    ) -> None:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"the handler of {kind} is a generator; a handler returns its result")
        self.kind = kind
        self.function = function
        # The app's own list: what is added to it later counts too.
        self._around = around
        self.arguments = Arguments(function, raw)
        #: Whether it runs on the event loop; otherwise it runs in a thread.
        self.is_async = inspect.iscoroutinefunction(function)

    def run(self, payload: str, context: Context) -> Report:
        """Runs one attempt in this thread. Never raises."""
        with tracing.processing(context._attempt) as span:
            try:
                returned = None
                with running(context), self._hooks(context):
                    args, kwargs = self.arguments.call(payload, context)
                    returned = self.function(*args, **kwargs)
                report = _returned(returned)
            except BaseException as error:
                report = _raised(error, context)
            span.ended(report, context.cancel_reason)
        return report

    @contextlib.contextmanager
    def _hooks(self, context: Context) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for around in self._around:
                stack.enter_context(around(context))
            yield

    async def run_async(self, payload: str, context: Context) -> Report:
        """Runs one attempt on this loop. Raises only if it is cancelled before it begins."""
        with tracing.processing(context._attempt) as span:
            try:
                returned = None
                with running(context), self._hooks(context):
                    args, kwargs = self.arguments.call(payload, context)
                    returned = await self.function(*args, **kwargs)
                report = _returned(returned)
            except BaseException as error:
                report = _raised(error, context)
            span.ended(report, context.cancel_reason)
        return report


def _returned(value: Any) -> Report:
    try:
        text = jsontext.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        # It has done its work; doing it again would not change what it returns.
        return FailedForGood(f"result cannot be written as JSON: {error}")
    return outcome.of_result(text)


def _raised(error: BaseException, context: Context) -> Report:
    if isinstance(error, asyncio.CancelledError):
        if context.cancelled:
            return WasCancelled()
        return Failed("CancelledError: something else than Ganger cancelled the handler")
    if not context.cancelled and not isinstance(error, (Fatal, RetryAfter, Snooze, Throttled)):
        # Without the frame of this module.
        where = error.__traceback__.tb_next if error.__traceback__ is not None else None
        context.log("".join(traceback.format_exception(type(error), error, where)))
    return outcome.of_exception(error, context.cancelled)
