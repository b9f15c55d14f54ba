"""Where a request goes, and whether, where and when it goes again if it failed. No I/O but reading certificates."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import random
import ssl
from collections.abc import Mapping
from typing import Any, TypedDict
from urllib.parse import urlsplit

import httpx

from . import limits, tls
from .calls import Call
from .errors import Problem, Unreachable, problem
from .version import __version__

#: Where a server is if nobody says.
DEFAULT_URL = "http://127.0.0.1:8080"
#: Delays between tries: twice as long each time, from the first to the longest.
FIRST_DELAY = 0.1
LONGEST_DELAY = 2.0
#: Tries in all before a client gives up; about half a minute.
TRIES = 20
#: Longest that a `Retry-After` is obeyed.
LONGEST_RETRY_AFTER = 10.0
#: Seconds until a connection must stand, and until an answer must come beyond what the server holds on purpose.
CONNECT = 5.0
ANSWER = 30.0

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class HttpOptions(TypedDict):
    """Settings of the HTTP library."""

    follow_redirects: bool
    trust_env: bool
    verify: bool | ssl.SSLContext


def backoff(failures: int, first: float = FIRST_DELAY, longest: float = LONGEST_DELAY) -> float:
    """A delay between half of the doubled one and all of it: a thousand clients do not come back at once."""
    return float(min(first * 2 ** min(failures, 20), longest) * random.uniform(0.5, 1.0))


def named_servers(url: str | None) -> list[str]:
    """The servers named by a text such as ``http://a:8080,http://b:8080``, or by ``GANGER_URL``."""
    source = "url" if url is not None else "GANGER_URL"
    text = url if url is not None else os.environ.get("GANGER_URL") or DEFAULT_URL
    urls = [part.strip().rstrip("/") for part in text.split(",") if part.strip()][: limits.SERVERS]
    for each in urls:
        if not each.startswith(("http://", "https://")):
            raise ValueError(f"{source} {each!r} is not an address; write it as in {DEFAULT_URL}")
    if not urls:
        raise ValueError(f"{source} names no server; write it as in {DEFAULT_URL}")
    return urls


def token(given: str | None) -> str | None:
    """The access token, or that of ``GANGER_TOKEN``."""
    return given if given is not None else os.environ.get("GANGER_TOKEN") or None


def is_loopback(url: str) -> bool:
    """Whether it is this machine, to which no proxy leads, whatever the environment says about proxies."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Servers:
    """The servers of one cluster, and which of them is asked."""

    def __init__(self, url: str | None, access_token: str | None) -> None:
        self.urls = named_servers(url)
        self._token = token(access_token)
        self._asked = 0

    @property
    def asked(self) -> str:
        """The one that answered last, or is to be tried next."""
        return self.urls[self._asked % len(self.urls)]

    @property
    def http(self) -> HttpOptions:
        """How the HTTP library is to be set up."""
        secured = any(url.startswith("https://") for url in self.urls)
        return {
            "follow_redirects": False,
            "trust_env": not all(is_loopback(url) for url in self.urls),
            "verify": tls.context() if secured else True,
        }

    def failed(self, url: str) -> None:
        """That one did not answer: the next one is asked, unless another call has moved on already."""
        if url == self.asked:
            self._asked = (self._asked + 1) % len(self.urls)

    def headers(self, call: Call[Any]) -> dict[str, str]:
        """Headers of a request."""
        headers = {"user-agent": f"ganger-python/{__version__}"}
        if call.body is not None:
            headers["content-type"] = call.media
        if call.idempotency_key is not None:
            headers["idempotency-key"] = call.idempotency_key
        headers.update(call.trace)
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        return headers


class Tries:
    """The tries of one request."""

    def __init__(self, servers: Servers, call: Call[Any]) -> None:
        self._servers = servers
        self._call = call
        self._failures = 0
        #: It may have been carried out, although nobody said so.
        self.unsure = False
        self.url = servers.asked

    @property
    def request(self) -> dict[str, Any]:
        """What the HTTP library is asked for."""
        return {
            "method": self._call.method,
            "url": self.url + self._call.path,
            "params": self._call.query or None,
            "content": self._call.body,
            "headers": self._servers.headers(self._call),
            "timeout": httpx.Timeout(ANSWER + self._call.holds, connect=CONNECT),
        }

    def broke(self, error: httpx.TransportError) -> float:
        """No answer came. How long to wait before the next try. Raises Unreachable."""
        self.unsure = self.unsure or not isinstance(error, _NOT_SENT)
        self._failures += 1
        if self._call.once and self.unsure:
            raise Unreachable(
                f"{self.url} did not answer: {self._call.path} may have been carried out, or not\n"
                "  hint: look at the job, then ask again if need be"
            ) from error
        if self._failures >= TRIES:
            what = str(error) or type(error).__name__
            tried = ", ".join(self._servers.urls)
            raise Unreachable(
                f"cannot reach {tried}: {what}\n  hint: is the server running? GANGER_URL or url= names it"
            ) from error
        return self._elsewhere(backoff(self._failures - 1))

    def refused(self, refusal: Problem, headers: Mapping[str, str]) -> float:
        """An answer came, and is no success. How long to wait before the next try. Raises the problem."""
        unknown = refusal.code == "outcome_unknown" or refusal.status in (502, 504)
        self.unsure = self.unsure or unknown
        self._failures += 1
        if not refusal.retryable or self._failures >= TRIES or (self._call.once and self.unsure):
            raise refusal
        delay = backoff(self._failures - 1)
        with contextlib.suppress(ValueError):
            delay = max(delay, min(float(headers.get("retry-after", "0")), LONGEST_RETRY_AFTER))
        return self._elsewhere(delay)

    def _elsewhere(self, delay: float) -> float:
        self._servers.failed(self.url)
        fresh = self.url != self._servers.asked
        self.url = self._servers.asked
        # Another server is asked at once; only when all have been asked is it time to wait.
        return 0.0 if fresh and self._failures < len(self._servers.urls) else delay


def refusal_of(response: httpx.Response) -> Problem | None:
    """The problem that a response tells; None if it tells of success."""
    if response.is_success:
        return None
    try:
        body = json.loads(response.content)
    except ValueError:
        body = {"detail": response.text[:500] or response.reason_phrase}
    return problem(response.status_code, body)
