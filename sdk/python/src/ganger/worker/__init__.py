"""The worker: takes jobs from a server and runs their handlers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import Literal

from .. import limits
from ..client import Client
from ..durations import Duration, seconds
from ..errors import BadArguments
from ..handler import Handler
from ..model import Job, check_name
from ..tries import named_servers, token
from ..version import __version__
from .addresses import Addresses
from .driver import Driver, Finish, Setup
from .health import Health
from .messages import WorkerInfo, fresh_session
from .session import OnLapse, Session

_log = logging.getLogger("ganger.worker")

#: Signals that ask for a drain, and the second time for an end.
SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Exit code of a worker that left work unfinished: partial failure, as of the `ganger` binary.
UNFINISHED = 8
#: Called when a worker begins or ends; it may be async.
Hook = Callable[[], Any]


class Worker:
    """Runs the handlers of an app until it is drained.

    Heartbeats come from a thread of its own: neither a handler nor the event loop can keep them from being sent.
    Handlers that are plain functions run in threads, async ones on the loop in which :meth:`run` is awaited.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        url: str | None = None,
        access_token: str | None = None,
        queues: Iterable[str] = (),
        threads: int | None = None,
        name: str | None = None,
        labels: Mapping[str, str] | None = None,
        ttl: Duration = 15,
        on_lapse: Literal["cancel", "continue"] = "cancel",
        cancel_grace: Duration = 10,
        drain_grace: Duration = 30,
        health: str | None = None,
        on_start: Sequence[Hook] = (),
        on_stop: Sequence[Hook] = (),
    ) -> None:
        self._handlers = dict(handlers)
        self._urls = named_servers(url)
        self._token = token(access_token)
        self._threads = min(32, (os.cpu_count() or 1) + 4) if threads is None else threads
        self._queues = list(queues)
        self._name = name or f"{socket.gethostname()}-{os.getpid()}"
        self._labels = dict(labels or {})
        self._ttl = seconds(ttl)
        self._on_lapse = OnLapse(on_lapse)
        self._cancel_grace, self._drain_grace = seconds(cancel_grace), seconds(drain_grace)
        self._health = health
        self._on_start, self._on_stop = on_start, on_stop
        self._driver: Driver | None = None
        #: For what handlers ask of the server; made when the first one does.
        self._client: Client | None = None
        self._client_lock = threading.Lock()
        self._introduced = False
        self._signalled = False
        self._check()

    async def run(self, *, signals: bool = False) -> Finish:
        """Runs until it is drained, by :meth:`drain` or by the server.

        With `signals` the process is the worker's own: SIGTERM and SIGINT drain it, a second one makes it leave at
        once, and if it has to leave work unfinished, the process ends with exit code 8. If the task that awaits it is
        cancelled, handlers are told to stop and their work is handed back.
        """
        if self._driver is not None:
            raise RuntimeError("this worker runs already; each one runs once")
        self._driver = driver = Driver(self._setup(asyncio.get_running_loop()))
        await _call(self._on_start)
        health = None if self._health is None else Health(self._health, driver.status)
        before = {}
        if signals:
            # Neither through the loop, which may be kept busy by the very handler that is to end.
            self._driver.finished.add_done_callback(_exit_if_unfinished)
            before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        finished = asyncio.wrap_future(self._driver.finished)
        self._driver.start()
        try:
            return await asyncio.shield(finished)
        except asyncio.CancelledError:
            self.drain(0)
            try:
                await asyncio.shield(finished)
            except asyncio.CancelledError:
                self._driver.abandon()
            raise
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            if health is not None:
                health.close()
            if self._client is not None:
                self._client.close()
            await _call(self._on_stop)

    def run_sync(self) -> Finish:
        """Runs on an event loop of its own, and obeys SIGTERM and SIGINT."""
        return asyncio.run(self.run(signals=True))

    def drain(self, grace: Duration | None = None) -> None:
        """Takes nothing new, finishes what it has, then leaves. Handlers have so long; then they are told to stop.

        From any thread. Saying it again can only make it shorter.
        """
        if self._driver is not None:
            self._driver.drain(None if grace is None else seconds(grace))

    def abandon(self) -> None:
        """Leaves at once; the server gives its jobs to others when the session runs out. From any thread."""
        if self._driver is not None:
            self._driver.abandon()

    def _on_signal(self, number: int, _frame: object) -> None:
        # Only what is safe in the middle of anything: `print` is not.
        if self._signalled:
            self.abandon()
            return
        self._signalled = True
        name = signal.Signals(number).name
        os.write(2, f"{name}: draining; once more to leave at once\n".encode())
        self.drain()

    def _setup(self, loop: asyncio.AbstractEventLoop) -> Setup:
        info = WorkerInfo(
            name=limits.cut(self._name, limits.NAME_BYTES),
            queues=self._queues,
            kinds=sorted(self._handlers),
            threads=self._threads,
            labels=self._labels,
            version=f"python {__version__}",
            ttl=self._ttl,
        )
        return Setup(
            session=Session(fresh_session(), info, self._on_lapse),
            handlers=self._handlers,
            addresses=Addresses(self._urls),
            token=self._token,
            loop=loop,
            cancel_grace=self._cancel_grace,
            drain_grace=self._drain_grace,
            find_parents=self._find_parents,
            on_connected=self._introduce,
        )

    def _find_parents(self, job: str) -> list[Job]:
        with self._client_lock:
            if self._client is None:
                self._client = Client(",".join(self._urls), self._token)
        return self._client.parents(job)

    def _introduce(self, url: str, worker: str) -> None:
        queues = " ".join(self._queues) or "all"
        kinds = " ".join(sorted(self._handlers))
        line = f"connected {url} · queues {queues}({self._threads}) · kinds {kinds} · worker {worker}"
        if self._introduced:
            _log.info("%s", line)
        else:
            self._introduced = True
            print(line, file=sys.stderr, flush=True)

    def _check(self) -> None:
        if not self._handlers:
            raise BadArguments('the app has no jobs; decorate a function with @app.job("…")')
        if not 1 <= self._threads <= limits.THREADS:
            raise BadArguments(f"threads is {self._threads}, allowed are 1 to {limits.THREADS}")
        for what, names in (("queue", self._queues), ("kind", list(self._handlers))):
            if len(names) > limits.WORKER_NAMES:
                raise BadArguments(f"{len(names)} names of a {what}, the limit is {limits.WORKER_NAMES}")
            for name in names:
                check_name(what, name)


async def _call(hooks: Sequence[Hook]) -> None:
    for hook in hooks:
        returned = hook()
        if inspect.isawaitable(returned):
            await returned


def _exit_if_unfinished(finished: concurrent.futures.Future[Finish]) -> None:
    """Ends the process from the session's thread: handlers that do not end may hold every other one."""
    if finished.exception() is None and not finished.result().drained:
        logging.shutdown()
        os._exit(UNFINISHED)


__all__ = ["Finish", "Worker"]
