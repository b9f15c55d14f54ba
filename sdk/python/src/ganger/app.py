"""An app: the jobs of a program, declared once, used by those who enqueue them and by those who run them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from typing_extensions import ParamSpec, Protocol, TypedDict, Unpack

from .async_client import AsyncClient, AsyncHandle
from .client import Client, Handle
from .context import Context
from .errors import BadArguments
from .handler import Around, Handler
from .model import JobOptions, NewJob, check_name, wire_options
from .schedules import Schedule, ScheduleOptions, check_schedule
from .submission import traced
from .worker import Hook, Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from typing_extensions import Literal

    from .durations import Duration
    from .testing import Harness

P = ParamSpec("P")
#: What a plain call returns: for an async function a coroutine.
C = TypeVar("C")
#: What the job results in.
R = TypeVar("R")
#: A job that is declared.
D = TypeVar("D")
H = TypeVar("H", bound=Hook)


class JobDefinition(Generic[P, C, R]):
    """A decorated function. Calling it calls the function; `enqueue` has it called by a worker."""

    def __init__(self, app: App, handler: Handler, options: JobOptions) -> None:
        functools.update_wrapper(self, handler.function)
        self._app = app
        self._handler = handler
        self._options = options

    @property
    def kind(self) -> str:
        """Its kind."""
        return self._handler.kind

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> C:
        """A plain call: no server, no job."""
        return cast(C, self._handler.function(*args, **kwargs))

    def new(self, *args: P.args, **kwargs: P.kwargs) -> NewJob:
        """The job, not yet enqueued: for batches and imports. Raises BadArguments if the arguments do not fit."""
        return NewJob(self.kind, self._handler.arguments.payload(args, kwargs), traced(self._options))

    async def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> AsyncHandle[R]:
        """Submits it. When it returns, the job is on disk. Raises BadArguments if the arguments do not fit."""
        client = self._app.async_client
        receipt = await client._submit(self.new(*args, **kwargs), None)
        return AsyncHandle(client, receipt, self._handler.arguments.result)

    def enqueue_sync(self, *args: P.args, **kwargs: P.kwargs) -> Handle[R]:
        """The same, for programs without an event loop."""
        client = self._app.client
        return Handle(client, client._submit(self.new(*args, **kwargs), None), self._handler.arguments.result)

    def options(self, **options: Unpack[JobOptions]) -> JobDefinition[P, C, R]:
        """The same job with other options: ``send.options(delay="5m").enqueue("ada@example.com")``."""
        _check_options(self.kind, options)
        return JobDefinition(self._app, self._handler, {**self._options, **options})

    def __repr__(self) -> str:
        return f"<job {self.kind}>"


class _Decorator(Protocol):
    @overload
    def __call__(
        self, function: Callable[P, Coroutine[Any, Any, R]], /
    ) -> JobDefinition[P, Coroutine[Any, Any, R], R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> JobDefinition[P, R, R]: ...


class WorkerOptions(TypedDict, total=False):
    """How a worker is to be."""

    #: Where the servers are, if not where the app says.
    url: str
    #: Queues it serves; all if not given.
    queues: Iterable[str]
    #: Units of capacity; a job takes one unless it asks for more.
    threads: int
    #: How it is called in lists.
    name: str
    #: Labels that jobs can require.
    labels: Mapping[str, str]
    #: How long the server waits for a sign of life before its jobs run elsewhere.
    ttl: Duration
    #: What becomes of handlers when no server answered for a TTL.
    on_lapse: Literal["cancel", "continue"]
    #: How long handlers have to stop when they are told to.
    cancel_grace: Duration
    #: How long handlers have to finish when the worker drains.
    drain_grace: Duration
    #: Where its own HTTP server listens: ``127.0.0.1:9100``.
    health: str


class App:
    """The jobs of a program. Without arguments its servers are those of ``GANGER_URL``."""

    def __init__(self, url: str | None = None, token: str | None = None) -> None:
        self._url, self._token = url, token
        self._handlers: dict[str, Handler] = {}
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._async_clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncClient] = (
            weakref.WeakKeyDictionary()
        )
        self._harness: Harness | None = None
        self._around: list[Around] = []
        self._on_start: list[Hook] = []
        self._on_stop: list[Hook] = []
        self._schedules: dict[str, tuple[NewJob, ScheduleOptions]] = {}

    def job(self, kind: str | None = None, *, raw: bool = False, **options: Unpack[JobOptions]) -> _Decorator:
        """Declares a job: ``@app.job("email.send", queue="mail", max_attempts=8, timeout="30s")``.

        The payload is an object of the function's arguments; with `raw` it is the function's one argument itself. The
        kind is the function's name if it is not given. Options hold for jobs that this program enqueues.
        """

        def declare(function: Callable[..., Any]) -> JobDefinition[..., Any, Any]:
            name = kind or function.__name__
            check_name("kind", name)
            _check_options(name, options)
            if name in self._handlers:
                raise BadArguments(f"there is a job of kind {name!r} already")
            handler = self._handlers[name] = Handler(name, function, raw, self._around)
            return JobDefinition(self, handler, options)

        return cast(_Decorator, declare)

    def schedule(
        self, name: str, *, arguments: Mapping[str, Any] | None = None, **options: Unpack[ScheduleOptions]
    ) -> Callable[[D], D]:
        """Declares a schedule for a job: ``@app.schedule("nightly", cron="30 2 * * *")`` above ``@app.job(…)``.

        Its jobs get these arguments. Declaring changes nothing on a server: :meth:`put_schedules` does, or
        ``python -m ganger schedules module:app``.
        """

        def declare(job: D) -> D:
            if not isinstance(job, JobDefinition):
                raise TypeError(f"schedule {name}: write @app.schedule above @app.job, not below it")
            if name in self._schedules:
                raise BadArguments(f"there is a schedule {name!r} already")
            check_schedule(name, options)
            self._schedules[name] = (job.new(**dict(arguments or {})), options)
            return job

        return declare

    def put_schedules(self) -> list[Schedule]:
        """Makes or replaces the schedules that were declared. The same again changes nothing."""
        return [self.client.schedules.put(name, job, **options) for name, (job, options) in self._schedules.items()]

    def around(self, function: Callable[[Context], Iterator[None]]) -> Callable[[Context], Iterator[None]]:
        """Declares what is done around every attempt: a generator that gets the context, and yields once.

        It runs where the handler runs, in its thread or on the event loop. An exception of the handler is raised
        where it yields.
        """
        self._around.append(contextlib.contextmanager(function))
        return function

    def on_start(self, function: H) -> H:
        """Declares what a worker calls before it takes jobs. It may be async, and runs on the worker's event loop."""
        self._on_start.append(function)
        return function

    def on_stop(self, function: H) -> H:
        """Declares what a worker calls when it has ended, also if it was cancelled."""
        self._on_stop.append(function)
        return function

    @property
    def kinds(self) -> list[str]:
        """The kinds of its jobs."""
        return sorted(self._handlers)

    @property
    def client(self) -> Client:
        """The client through which :meth:`JobDefinition.enqueue_sync` submits; in a test, that of the harness."""
        if self._harness is not None:
            return self._harness.client
        with self._lock:
            if self._client is None:
                self._client = Client(self._url, self._token)
            return self._client

    @property
    def async_client(self) -> AsyncClient:
        """The client of this event loop, through which :meth:`JobDefinition.enqueue` submits."""
        if self._harness is not None:
            return self._harness.async_client
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._async_clients.get(loop)
            if client is None:
                client = self._async_clients[loop] = AsyncClient(self._url, self._token)
            return client

    def close(self) -> None:
        """Closes the connections of its client. It can be used again: they are opened when they are needed."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    async def close_async(self) -> None:
        """Closes the connections of this event loop's client; a program that ends with its loop should."""
        with self._lock:
            client = self._async_clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def worker(self, **options: Unpack[WorkerOptions]) -> Worker:
        """A worker for its jobs: ``await app.worker(threads=8).run()``."""
        if self._url is not None:
            options.setdefault("url", self._url)
        hooks = {"on_start": self._on_start, "on_stop": self._on_stop}
        return Worker(self._handlers, access_token=self._token, **hooks, **options)

    def test(self) -> Harness:
        """Runs jobs in memory, without a server: ``with app.test() as jobs: …``."""
        from .testing import Harness

        return Harness(self)


def _check_options(kind: str, options: JobOptions) -> None:
    try:
        wire_options(options)
    except (TypeError, ValueError) as error:
        raise BadArguments(f"job {kind}: {error}") from None
