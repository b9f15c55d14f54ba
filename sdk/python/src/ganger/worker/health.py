"""The worker's own HTTP server, for those who keep it running: ``/livez``, ``/readyz``, ``/metrics`` and ``/jobs``.

It has a thread of its own and only reads. Requests of web pages (with an ``Origin``) are refused.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..errors import BadArguments

#: Media type of a scrape.
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
#: A caller that sends nothing is left after so many seconds.
PATIENCE = 10.0


@dataclass(frozen=True)
class Status:
    """How a worker is at this moment."""

    #: Its session's thread runs.
    alive: bool
    #: A server has welcomed it.
    connected: bool
    draining: bool
    threads: int
    threads_used: int
    #: The attempts that run: job, kind, attempt.
    jobs: list[dict[str, Any]]
    #: Attempts that ended, by outcome.
    ended: dict[str, int]

    @property
    def trouble(self) -> str | None:
        """Why it is not ready."""
        if not self.alive:
            return "the session's thread has ended"
        if self.draining:
            return "draining"
        return None if self.connected else "no server has welcomed it"

    def metrics(self) -> str:
        """For Prometheus, under the names of the worker in Rust."""
        lines = []
        for name, text, value in (
            ("jobs_running", "Attempts that run", len(self.jobs)),
            ("threads", "Units of capacity", self.threads),
            ("threads_used", "Units that attempts hold", self.threads_used),
            ("session_open", "Whether a server has welcomed it", int(self.connected)),
        ):
            lines += [f"# HELP ganger_worker_{name} {text}.", f"# TYPE ganger_worker_{name} gauge"]
            lines.append(f"ganger_worker_{name} {value}")
        lines += [
            "# HELP ganger_worker_attempts_ended Attempts that ended.",
            "# TYPE ganger_worker_attempts_ended counter",
        ]
        lines += [f'ganger_worker_attempts_ended_total{{outcome="{k}"}} {n}' for k, n in sorted(self.ended.items())]
        return "\n".join([*lines, "# EOF", ""])


class Health:
    """The server. `look` tells how the worker is."""

    def __init__(self, address: str, look: Callable[[], Status]) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise BadArguments(f"health {address!r} is no address; write it as in 127.0.0.1:9100")
        handler = type("Handler", (_Handler,), {"look": staticmethod(look)})
        try:
            self._server = ThreadingHTTPServer((host.strip("[]"), int(port)), handler)
        except OSError as error:
            raise BadArguments(f"cannot serve health on {address}: {error.strerror or error}") from None
        self._server.daemon_threads = True
        #: Where it listens.
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, name="ganger-health", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answers no more."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    look: Callable[[], Status]
    timeout = PATIENCE
    server_version = "ganger"
    sys_version = ""

    def do_GET(self) -> None:
        if "Origin" in self.headers or "Sec-Fetch-Site" in self.headers:
            self._answer(403, "text/plain", "web pages are not answered\n")
            return
        status = self.look()
        path = self.path.partition("?")[0]
        if path == "/livez":
            self._answer(200 if status.alive else 503, "text/plain", "ok\n" if status.alive else f"{status.trouble}\n")
        elif path == "/readyz":
            self._answer(503 if status.trouble else 200, "text/plain", f"{status.trouble or 'ok'}\n")
        elif path == "/metrics":
            self._answer(200, OPEN_METRICS, status.metrics())
        elif path == "/jobs":
            self._answer(200, "application/json", json.dumps({"jobs": status.jobs}))
        else:
            self._answer(404, "text/plain", "there are /livez, /readyz, /metrics and /jobs\n")

    def _answer(self, code: int, media: str, text: str) -> None:
        body = text.encode("utf-8")
        self.send_response(code)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *_: Any) -> None:
        """Scrapes are not worth a line."""
