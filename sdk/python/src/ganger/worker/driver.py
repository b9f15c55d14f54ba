"""The session's thread: drives the state machine over the wire.

It is a thread of its own, so that handlers and event loops, however busy, cannot keep it from pinging. Everything it
decides comes from ``session.py``; here are only the clock, the connection, the threads and the handlers around it.
Whatever happens elsewhere is posted to its inbox; nothing else touches its state.

What can go wrong:

- *The connection breaks, or the server restarts.* Another is dialled, at the next address if there are several, with
  growing delays. Handlers go on; what was not acknowledged is sent again by the state machine.
- *The leader closed the session.* A new life begins under a fresh id, on the next connection.
- *The server is slow.* Messages wait in the outbox, log lines in their attempts; both are bounded.
- *A handler does not stop.* It keeps its threads until it ends, because they are not free.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from ..context import Attempt, Context
from ..handler import Handler
from ..model import Job
from ..outcome import Failed, Report, outcome_name
from .addresses import Addresses
from .connection import Connection
from .drain import Draining, Step
from .health import Status
from .messages import Fence, Log, Progress, ToLeader, ToWorker, Welcome, Why, Work, fresh_session, identity
from .running import Alarm, Live, Running
from .session import Act, DrainAsked, Finished, Offer, Reborn, Reconnect, Send, Session, Stop, TellMark, Withdraw
from .threads import Threads

_log = logging.getLogger("ganger.worker")

#: Progress and log lines are sent at most this often.
CHATTER_EVERY = 0.2
#: Events taken in one turn before time is looked at again.
TURN = 256
#: The session looks around at least this often.
LONGEST_SLEEP = 3600.0
#: Log texts of attempts that ended while there was no connection.
LATE_LOGS = 64
#: How long handlers may take to stop when the worker leaves at once.
ABANDON_WITHIN = 1.0


@dataclass(frozen=True)
class Finish:
    """How a worker's run ended."""

    #: Leases whose end was not acknowledged; the leader gives them to others when the session runs out.
    unfinished: int

    @property
    def drained(self) -> bool:
        """Everything it held was acknowledged."""
        return self.unfinished == 0


@dataclass
class Setup:
    """What a session needs to begin."""

    session: Session
    handlers: Mapping[str, Handler]
    addresses: Addresses
    token: str | None
    loop: asyncio.AbstractEventLoop
    cancel_grace: float
    drain_grace: float
    #: Asks the server for the jobs that a job waited for.
    find_parents: Callable[[str], list[Job]]
    #: Told once for each connection: the address and the worker's id.
    on_connected: Callable[[str, str], None]


class Driver:
    """A session at work."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._session = setup.session
        self._threads = Threads(setup.session.worker.threads)
        self._running = Running(setup.loop, self._post_ended)
        self._late_logs: deque[ToLeader] = deque(maxlen=LATE_LOGS)
        #: Leases that wait for their threads, and since when.
        self._held: dict[Fence, tuple[float, Work]] = {}
        self._started: dict[Fence, float] = {}
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._connection = Connection(setup.addresses, setup.token, self._inbox.put, self)
        self._chatter_at: float | None = None
        self._chatter_rung = False
        self._draining: Draining | None = None
        #: Attempts that ended, by outcome.
        self._ended: dict[str, int] = {}
        self._finish: Finish | None = None
        self._thread = threading.Thread(target=self._run, name="ganger-session", daemon=True)
        #: Done when the worker has left.
        self.finished: concurrent.futures.Future[Finish] = concurrent.futures.Future()

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def drain(self, grace: float | None = None) -> None:
        """Takes nothing new; leaves when the rest is done, or after so long. From any thread."""
        self._inbox.put(partial(self._begin_drain, grace))

    def abandon(self) -> None:
        """Leaves at once. From any thread."""
        self._inbox.put(self._abandon)

    def status(self) -> Status:
        """How it is at this moment. From any thread."""
        jobs = [
            {"id": live.context.job_id, "kind": live.work.kind, "queue": live.work.queue, "attempt": live.work.attempt}
            for live in list(self._running)
        ]
        capacity = self._session.worker.threads
        return Status(
            alive=self._thread.is_alive(),
            connected=self._session.is_open,
            draining=self._draining is not None,
            threads=capacity,
            threads_used=capacity - self._threads.free,
            jobs=jobs,
            ended=dict(self._ended),
        )

    def _run(self) -> None:
        try:
            self._connection.dial()
            self._send()
            while self._finish is None:
                self._turn()
            self._leave()
        except BaseException as error:
            _log.exception("the session's thread failed")
            self.finished.set_exception(error)
        else:
            self.finished.set_result(self._finish)
        finally:
            self._running.close()
            self._connection.hang_up()

    def _turn(self) -> None:
        try:
            self._inbox.get(timeout=max(0.0, self._due() - time.monotonic()))()
            # Many events come at once under load; one turn takes them all.
            for _ in range(TURN):
                self._inbox.get_nowait()()
        except queue.Empty:
            pass
        self._tick()
        self._start_what_fits()
        self._send()

    def _due(self) -> float:
        draining = self._draining.due() if self._draining is not None else None
        times = (
            self._session.next_tick(),
            self._running.due(),
            self._connection.due(),
            self._chatter_at,
            draining,
        )
        return min((at for at in times if at is not None), default=time.monotonic() + LONGEST_SLEEP)

    def _tick(self) -> None:
        now = time.monotonic()
        due = self._session.next_tick()
        if due is not None and now >= due:
            self._perform(self._session.tick(now))
        for fence, alarm in self._running.alarms(now):
            if alarm is Alarm.TIMEOUT:
                self._perform(self._session.stop_handler(fence, Why.TIMEOUT))
            else:
                self._running.still_deaf(now, fence, self._setup.cancel_grace)
        self._tick_drain(now)
        if self._chatter_at is not None and now >= self._chatter_at:
            self._chatter_at = None
            self._send_chatter(now)
        self._connection.tick(now)

    def _tick_drain(self, now: float) -> None:
        if self._draining is None:
            return
        if self._session.unfinished == 0 and not self._session.is_open:
            self._draining.only_goodbye_is_left(now)
        step = self._draining.step(now)
        if step is Step.STOP_HANDLERS:
            for fence in self._running.fences():
                self._perform(self._session.stop_handler(fence, Why.DRAINING))
        elif step is Step.GIVE_UP and self._finish is None:
            self._finish = Finish(self._session.unfinished)

    def _perform(self, acts: list[Act]) -> None:
        now = time.monotonic()
        for act in acts:
            if isinstance(act, Send):
                self._connection.push(now, act.message)
            elif isinstance(act, Offer):
                self._held[act.work.fence] = (time.monotonic(), act.work)
                self._threads.queue(act.work.fence, act.work.threads)
            elif isinstance(act, Withdraw):
                self._threads.withdraw(act.fence)
                self._held.pop(act.fence, None)
            elif isinstance(act, Stop):
                self._running.stop(now, act.fence, act.why, self._setup.cancel_grace)
            elif isinstance(act, TellMark):
                self._running.tell_mark(act.fence, act.stands)
            elif isinstance(act, Reconnect):
                self._connection.unanswered()
            elif isinstance(act, Reborn):
                self._be_reborn()
            elif isinstance(act, DrainAsked):
                self._begin_drain(None)
            elif isinstance(act, Finished):
                self._finish = Finish(0)

    def _start_what_fits(self) -> None:
        while self._finish is None:
            granted = self._threads.next()
            if granted is None:
                return
            fence, threads = granted
            now = time.monotonic()
            held = self._held.pop(fence, None)
            if held is None or not self._session.try_start(now, fence):
                # Withdrawn or lapsed meanwhile: the state machine hands it back.
                self._threads.release(threads)
                continue
            self._start(now, held, threads)

    def _start(self, now: float, held: tuple[float, Work], granted: int) -> None:
        since, work = held
        handler = self._setup.handlers.get(work.kind)
        if handler is None:
            self._threads.release(granted)
            report = Failed(f"this worker has no handler for kind `{work.kind}`")
            self._perform(self._session.ended(work.fence, report, 0.0))
            return
        attempt = Attempt(
            job_id=identity("job_", work.job),
            kind=work.kind,
            queue=work.queue,
            number=work.attempt,
            max_attempts=work.max_attempts,
            threads=work.threads,
            timeout=work.timeout,
            traceparent=work.traceparent,
            tracestate=work.tracestate,
            waited=work.waited + now - since,
            occurrence=work.occurrence,
            fence=str(work.fence),
        )
        self._started[work.fence] = now
        find_parents = partial(self._setup.find_parents, attempt.job_id)
        context = Context(attempt, self._ring, partial(self._ask_mark, work.fence), find_parents)
        self._running.begin(now, Live(work, context, handler, granted))

    def _post_ended(self, fence: Fence, report: Report) -> None:
        at = time.monotonic()
        self._inbox.put(lambda: self._on_ended(fence, report, at))

    def _on_ended(self, fence: Fence, report: Report, at: float) -> None:
        live = self._running.remove(fence)
        if live is None:
            return
        text = live.context._take().log
        if text:
            log = Log(live.work.job, fence, text)
            if self._session.is_open:
                self._connection.push(at, log)
            else:
                self._late_logs.append(log)
        self._threads.release(live.granted)
        outcome = outcome_name(report)
        self._ended[outcome] = self._ended.get(outcome, 0) + 1
        self._perform(self._session.ended(fence, report, at - self._started.pop(fence, at)))

    def _ask_mark(self, fence: Fence, stands: bool) -> None:
        """A handler asks for its mark, or for its removal. From any thread."""
        self._inbox.put(lambda: self._perform(self._session.mark(fence, stands)))

    def _send(self) -> None:
        self._connection.send(idle=len(self._running) == 0)

    def _ring(self) -> None:
        """A handler has something to say. From any thread."""
        if not self._chatter_rung:
            self._chatter_rung = True
            self._inbox.put(self._on_chatter)

    def _on_chatter(self) -> None:
        if self._chatter_at is None:
            self._chatter_at = time.monotonic() + CHATTER_EVERY

    def _send_chatter(self, now: float) -> None:
        if not self._session.is_open:
            # The next welcome sends it.
            return
        # Before what was said is taken: whoever speaks from here on rings again.
        self._chatter_rung = False
        for live in self._running:
            if not self._connection.has_room:
                self._chatter_at = now + CHATTER_EVERY
                return
            job, fence, said = live.work.job, live.work.fence, live.context._take()
            if said.progress is not None:
                self._connection.push(now, Progress(job, fence, *said.progress))
            if said.log:
                self._connection.push(now, Log(job, fence, said.log))

    def dialled(self) -> None:
        """A new stream is there: greet."""
        self._perform(self._session.connected(time.monotonic()))

    def heard(self, message: ToWorker) -> None:
        """The server said something on the present stream."""
        now, was_open = time.monotonic(), self._session.is_open
        acts = self._session.receive(now, self._session.stream, message)
        if self._session.is_open and not was_open:
            # Before the results: the log of an attempt that is over is not taken any more.
            while self._late_logs:
                self._connection.push(now, self._late_logs.popleft())
            self._chatter_at = now
            self._setup.on_connected(self._connection.url, identity("wrk_", self._session.id))
            self._connection.welcomed(message.leader if isinstance(message, Welcome) else "")
        self._perform(acts)

    def broke(self) -> None:
        """The present stream is over. That alone proves nothing."""
        self._session.disconnected()

    def _be_reborn(self) -> None:
        old, new = self._session.id, fresh_session()
        was, becomes = identity("wrk_", old), identity("wrk_", new)
        _log.warning("session %s was closed by the server; going on as %s", was, becomes)
        self._session = self._session.reborn(new)
        self._connection.reconnect("the server closed the session")

    def _begin_drain(self, grace: float | None) -> None:
        now = time.monotonic()
        grace = self._setup.drain_grace if grace is None else grace
        if self._draining is not None:
            self._draining.hasten(now, grace)
            return
        _log.info("draining: takes nothing new, running handlers have %.0f s", grace)
        self._draining = Draining(now, grace, self._setup.cancel_grace)
        self._perform(self._session.drain())

    def _abandon(self) -> None:
        """Stops every handler that can be stopped, and says nothing: the leader ends the session by its TTL."""
        now = time.monotonic()
        self._finish = Finish(self._session.unfinished)
        self._connection.hang_up()
        for fence in self._running.fences():
            self._running.stop(now, fence, Why.DRAINING, self._setup.cancel_grace)
        while len(self._running) and time.monotonic() < now + ABANDON_WITHIN:
            try:
                self._inbox.get(timeout=max(0.0, now + ABANDON_WITHIN - time.monotonic()))()
            except queue.Empty:
                return

    def _leave(self) -> None:
        finish = self._finish
        if finish is not None and not finish.drained:
            _log.warning("left with %d leases whose end was not acknowledged", finish.unfinished)
        else:
            self._connection.finish()
