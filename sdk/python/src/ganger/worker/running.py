"""The attempts that run now, with the moments at which something must happen to them."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

from ..context import Context
from ..handler import Handler
from ..outcome import Released, Report, WasCancelled
from .hands import Hands
from .messages import Fence, Why, Work

_log = logging.getLogger("ganger.worker")

#: Alarms of attempts that are over, kept before they are cleared away.
SPENT_ALARMS = 64


class Alarm(Enum):
    """What an attempt's time brings."""

    #: It ran longer than its timeout: tell it to stop.
    TIMEOUT = "timeout"
    #: It was told to stop and did not.
    DEAF = "deaf"


@dataclass
class Live:
    """One attempt that runs."""

    work: Work
    context: Context
    handler: Handler
    granted: int
    alarm: tuple[float, Alarm] | None = None
    #: On the event loop, once it has begun there.
    task: asyncio.Task[Report] | None = field(default=None, repr=False)


class Running:
    """All attempts that run. `ended` is called once for each, from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ended: Callable[[Fence, Report], None]) -> None:
        self._loop = loop
        self._ended = ended
        self._hands = Hands()
        self._live: dict[Fence, Live] = {}
        self._alarms: list[tuple[float, Fence]] = []

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[Live]:
        return iter(self._live.values())

    def begin(self, now: float, live: Live) -> None:
        """Runs the handler: on the user's loop if it is async, in a thread if it is not."""
        fence = live.work.fence
        self._live[fence] = live
        if live.work.timeout is not None:
            self._set_alarm(live, now + live.work.timeout, Alarm.TIMEOUT)
        if live.handler.is_async:
            self._on_loop(live, partial(self._begin_task, live))
        else:
            self._hands.run(lambda: self._ended(fence, live.handler.run(live.work.payload, live.context)))

    def stop(self, now: float, fence: Fence, why: Why, grace: float) -> None:
        """Tells a handler to stop."""
        live = self._live.get(fence)
        if live is None:
            return
        live.context._cancel(why.value)
        self._set_alarm(live, now + grace, Alarm.DEAF)
        if live.handler.is_async:
            self._on_loop(live, partial(_cancel_task, live))

    def still_deaf(self, now: float, fence: Fence, grace: float) -> None:
        """It was told to stop, and runs on. Its threads are not free, whatever we would like."""
        live = self._live.get(fence)
        if live is None:
            return
        _log.warning("%s was told to stop %.0f s ago and runs on", live.context, grace)
        self._set_alarm(live, now + grace, Alarm.DEAF)
        if live.handler.is_async:
            self._on_loop(live, partial(_cancel_task, live))

    def tell_mark(self, fence: Fence, stands: bool) -> None:
        """Whether its mark stands."""
        live = self._live.get(fence)
        if live is not None:
            live.context._marked(stands)

    def remove(self, fence: Fence) -> Live | None:
        """It is over."""
        live = self._live.pop(fence, None)
        if len(self._alarms) > 2 * len(self._live) + SPENT_ALARMS:
            # Most belong to attempts that are over, and would lie there until the timeouts of those.
            self._alarms = [(one.alarm[0], one.work.fence) for one in self if one.alarm is not None]
            heapq.heapify(self._alarms)
        return live

    def fences(self) -> list[Fence]:
        """Leases that run."""
        return list(self._live)

    def due(self) -> float | None:
        """When :meth:`alarms` next has something."""
        return self._alarms[0][0] if self._alarms else None

    def alarms(self, now: float) -> Iterator[tuple[Fence, Alarm]]:
        """Alarms whose time has come; each rings once."""
        while self._alarms and self._alarms[0][0] <= now:
            at, fence = heapq.heappop(self._alarms)
            live = self._live.get(fence)
            if live is not None and live.alarm is not None and live.alarm[0] == at:
                alarm, live.alarm = live.alarm[1], None
                yield fence, alarm

    def close(self) -> None:
        """Threads end when they have nothing to do."""
        self._hands.close()

    def _set_alarm(self, live: Live, at: float, alarm: Alarm) -> None:
        live.alarm = (at, alarm)
        heapq.heappush(self._alarms, (at, live.work.fence))

    def _on_loop(self, live: Live, act: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(act)
        except RuntimeError:
            # The loop is closed, and the handler with it.
            self._ended(live.work.fence, Released(started=True))

    def _begin_task(self, live: Live) -> None:
        live.task = self._loop.create_task(live.handler.run_async(live.work.payload, live.context))
        live.task.add_done_callback(partial(self._task_done, live))

    def _task_done(self, live: Live, task: asyncio.Task[Report]) -> None:
        # Cancelled before its first step, it could not say so itself.
        report: Report = WasCancelled() if task.cancelled() else task.result()
        self._ended(live.work.fence, report)


def _cancel_task(live: Live) -> None:
    if live.task is not None and not live.task.done():
        live.task.cancel()
