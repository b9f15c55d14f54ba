"""The way to the server: dialling, dialling again, moving to the leader, and what waits to be sent meanwhile.

Everything here happens on the session's thread. What the wire's own threads meet is posted to it, and whatever comes
from a wire that was given up is dropped.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Protocol

from ..tries import backoff
from .addresses import Addresses
from .messages import ToLeader, ToWorker
from .outbox import Outbox
from .wire import Wire, answers

_log = logging.getLogger("ganger.worker")

#: Delays between tries to connect.
FIRST_REDIAL = 0.1
LONGEST_REDIAL = 5.0
#: Between tries of a worker that is not let in: what is wrong with it is mended by people, not by trying.
DENIED = 30.0
#: A server that has too many, or was asked too often, is left alone at least and at most so long.
THROTTLED = 5.0
LONGEST_THROTTLED = 300.0


class Listener(Protocol):
    """Whoever wants to know how the connection fares."""

    def dialled(self) -> None:
        """A new stream is there to be greeted on."""

    def heard(self, message: ToWorker) -> None:
        """The server said something on the present stream."""

    def broke(self) -> None:
        """The present stream is over."""


class Connection:
    """At most one wire at a time."""

    def __init__(
        self, addresses: Addresses, token: str | None, post: Callable[[Callable[[], None]], None], listener: Listener
    ) -> None:
        self._addresses = addresses
        self._token = token
        self._post = post
        self._listener = listener
        self._wire: Wire | None = None
        self._outbox = Outbox()
        self._failures = 0
        self._greeted = False
        self._redial_at: float | None = None
        #: The server does not let it in, and that was said.
        self._denied = False

    @property
    def url(self) -> str:
        """Where it goes, or went."""
        return self._addresses.current

    @property
    def has_room(self) -> bool:
        """Whether log and progress may be pushed."""
        return self._outbox.has_room

    def due(self) -> float | None:
        """When :meth:`tick` or :meth:`send` is next needed."""
        times = [at for at in (self._redial_at, self._outbox.due()) if at is not None]
        return min(times, default=None)

    def dial(self) -> None:
        """Begins to connect, to the server whose turn it is."""
        self._redial_at = None
        self._open(self._addresses.dial())

    def tick(self, now: float) -> None:
        """Time passed: perhaps it is time to dial again."""
        if self._redial_at is not None and now >= self._redial_at:
            self.dial()

    def push(self, now: float, message: ToLeader) -> None:
        """A message for the present stream."""
        self._outbox.push(now, message)

    def send(self, idle: bool) -> None:
        """Sends what can go; `idle` if nothing more is coming soon."""
        self._outbox.settle(time.monotonic(), idle)
        while self._wire is not None and self._outbox.is_ready:
            if not self._wire.try_send(self._outbox.peek()):
                # There will be word when there is room.
                return
            self._outbox.pop()

    def welcomed(self, leader: str) -> None:
        """The leader took the stream, and perhaps named where it can be reached directly."""
        self._failures = 0
        self._greeted = True
        self._denied = False
        if leader:
            self._call(leader)

    def unanswered(self) -> None:
        """The server did not answer in time: another one is tried."""
        self._addresses.broke(greeted=False)
        self.reconnect("the server did not answer in time")

    def reconnect(self, reason: str, retry_after: float | None = None) -> None:
        """Gives up the present wire, and dials again after a while."""
        delay = backoff(self._failures, FIRST_REDIAL, LONGEST_REDIAL)
        self._failures += 1
        if reason.startswith(("unauthenticated:", "permission denied:")):
            delay = max(delay, DENIED * random.uniform(0.5, 1.0))
            if not self._denied:
                _log.error(
                    "the server does not let this worker in: %s; give it a token of the role `worker` in GANGER_TOKEN "
                    "(`ganger token create NAME --role worker`) and start it again; until then it tries every %.0f s",
                    reason,
                    DENIED,
                )
            self._denied = True
        elif reason.startswith("resource exhausted:"):
            delay = max(delay, min(max(retry_after or 0.0, THROTTLED), LONGEST_THROTTLED))
            # Whoever was turned away too often is throttled: what to do about it was said.
            if not self._denied:
                _log.warning("the server takes no more for now: %s; trying again in %.1f s", reason, delay)
        else:
            _log.warning("not connected: %s; trying again in %.1f s", reason, delay)
        self.hang_up()
        self._redial_at = time.monotonic() + delay

    def hang_up(self) -> None:
        """Gives up the present wire at once. What was to be sent on it, the session sends again."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self._outbox.clear()

    def finish(self) -> None:
        """Ends the stream in order, after its last message."""
        if self._wire is not None:
            self._wire.finish()

    def _open(self, url: str) -> None:
        self._greeted = False
        self._wire = Wire(
            url,
            self._token,
            on_message=lambda wire, message: self._post(partial(self._on_message, wire, message)),
            on_room=lambda: self._post(_look_around),
            on_broken=lambda wire, reason: self._post(partial(self._on_broken, wire, reason)),
        )
        self._listener.dialled()

    def _on_message(self, wire: Wire, message: ToWorker) -> None:
        if wire is self._wire:
            self._listener.heard(message)

    def _on_broken(self, wire: Wire, reason: str) -> None:
        if wire is self._wire:
            self._addresses.broke(self._greeted)
            self._listener.broke()
            self.reconnect(reason, wire.retry_after)

    def _call(self, url: str) -> None:
        """Calls the leader that a welcome named; the present connection stays until it answers."""
        leader, wire = self._addresses.leader(url), self._wire
        if leader is None or wire is None:
            return

        def probe() -> None:
            if answers(leader):
                self._post(partial(self._move, wire, leader))
            else:
                _log.debug("the leader at %s cannot be reached from here", leader)

        threading.Thread(target=probe, name="ganger-probe", daemon=True).start()

    def _move(self, wire: Wire, leader: str) -> None:
        if wire is not self._wire:
            return
        _log.info("moves to the leader at %s", leader)
        self._listener.broke()
        self.hang_up()
        self._addresses.move_to(leader)
        self._open(leader)


def _look_around() -> None:
    """Wakes the session's thread, which sends what waits."""
