"""One connection and one stream to the server.

It has a thread that reads, and gRPC has one that writes; what they meet is posted to the session's thread, in order.
The synchronous API of gRPC is used on purpose: its asyncio twin shares one poller among all event loops of a process,
and would tie the heartbeat to loops that are not ours.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import grpc

from .. import limits
from ..tls import credentials
from ..tries import is_loopback
from ..v1 import worker_pb2 as wire_types
from ..v1.worker_pb2_grpc import WorkerStub
from .convert import decode, encode
from .messages import ToLeader, ToWorker

_log = logging.getLogger("ganger.worker")

#: Seconds that one try to connect may take.
DIAL = 5.0
#: Seconds that the leader has to answer before a worker stays where it is.
PROBE = 2.0
#: Messages on their way to the connection.
BUFFERED = 16
#: Seconds that the server may take to close its side after a goodbye.
CLOSING = 1.0

_OPTIONS = (
    ("grpc.max_receive_message_length", limits.LARGEST_MESSAGE),
    ("grpc.max_send_message_length", limits.LARGEST_MESSAGE),
    # A leader that stands still keeps its connections open; whoever waits on one should leave it soon.
    ("grpc.keepalive_time_ms", 2_600),
    ("grpc.keepalive_timeout_ms", 2_400),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.min_reconnect_backoff_ms", int(DIAL * 1000)),
    # Each connection is its own: a new one must not inherit the patience of one that failed.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)


def channel_to(url: str) -> grpc.Channel:
    """A connection to that server, TLS if its address says so."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    options = (*_OPTIONS, ("grpc.enable_http_proxy", 0 if is_loopback(url) else 1))
    if parts.scheme == "https":
        return grpc.secure_channel(target, credentials(), options=options)
    return grpc.insecure_channel(target, options=options)


def answers(url: str) -> bool:
    """Whether there is a server at that address. Blocks for :data:`PROBE` at most."""
    channel = channel_to(url)
    try:
        grpc.channel_ready_future(channel).result(timeout=PROBE)
        return True
    except grpc.FutureTimeoutError:
        return False
    finally:
        channel.close()


class Wire:
    """One connection, from dialling to its end."""

    def __init__(
        self,
        url: str,
        token: str | None,
        on_message: Callable[[Wire, ToWorker], None],
        on_room: Callable[[], None],
        on_broken: Callable[[Wire, str], None],
    ) -> None:
        self.url = url
        self._token = token
        self._on_message, self._on_room, self._on_broken = on_message, on_room, on_broken
        self._outbound: queue.SimpleQueue[wire_types.FromWorker | None] = queue.SimpleQueue()
        #: After so many seconds it may be tried again, if the server said so.
        self.retry_after: float | None = None
        self._room_wanted = False
        self._closed = False
        self._channel = channel_to(url)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="ganger-wire", daemon=True)
        self._thread.start()

    def try_send(self, message: ToLeader) -> bool:
        """Sends it, unless too much is on its way already: then there will be word when there is room."""
        if self._outbound.qsize() >= BUFFERED:
            self._room_wanted = True
            # Between the two it may have been emptied.
            if self._outbound.qsize() >= BUFFERED:
                return False
        self._outbound.put(encode(message))
        return True

    def close(self) -> None:
        """Ends the connection at once."""
        self._closed = True
        self._outbound.put(None)
        self._channel.close()

    def finish(self) -> None:
        """Ends the stream in order: the server hears what was sent, then closes its side."""
        self._outbound.put(None)
        # A server that does not close its side has heard the goodbye all the same.
        self._over.wait(CLOSING)
        self.close()

    def _requests(self) -> Iterator[wire_types.FromWorker]:
        while True:
            message = self._outbound.get()
            if message is None:
                return
            if self._room_wanted and self._outbound.qsize() < BUFFERED // 2:
                self._room_wanted = False
                self._on_room()
            yield message

    def _read(self) -> None:
        reason = "the server closed the stream"
        try:
            metadata = [("authorization", f"Bearer {self._token}")] if self._token else None
            stub: Any = WorkerStub(self._channel)  # type: ignore[no-untyped-call]
            for message in stub.Session(self._requests(), metadata=metadata):
                said = decode(message)
                if said is not None:
                    self._on_message(self, said)
                else:
                    _log.debug("ignored a message of a later version of the protocol")
        except grpc.RpcError as error:
            reason, self.retry_after = _words(error), _retry_after(error)
        except Exception as error:
            # A closed channel, or a message that cannot be read.
            reason = f"{type(error).__name__}: {error}"
        finally:
            self._over.set()
            self._outbound.put(None)
            self._channel.close()
            if not self._closed:
                self._on_broken(self, reason)


def _words(error: grpc.RpcError) -> str:
    code, details = getattr(error, "code", None), getattr(error, "details", None)
    if code is None or details is None:
        return str(error)
    return f"{code().name.lower().replace('_', ' ')}: {details()}"


def _retry_after(error: grpc.RpcError) -> float | None:
    trailing = getattr(error, "trailing_metadata", None)
    found = [value for name, value in (trailing() or ()) if name == "retry-after"] if trailing is not None else []
    try:
        return float(found[0]) if found else None
    except ValueError:
        return None
