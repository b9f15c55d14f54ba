"""The demo workloads of the submitter-and-coordinator profile, in Python.

    python -m ganger worker profile_a:app --threads 8
    curl http://127.0.0.1:8080/v1/jobs -d '{"kind": "cpu_intensive", "payload": "anything", "max_attempts": 4}'

``GANGER_DEMO_SCALE`` (1 if not set) shrinks or stretches them. A payload that contains ``invalid_job`` fails.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import ipaddress
import json
import os
import random
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx

from ganger import App, Context, Fatal

app = App()

#: What is hashed, again and again.
BLOCK = b"x" * 170_000
#: Most targets of one network task.
MOST_TARGETS = 5


@app.job("cpu_intensive", raw=True, max_attempts=4)
def cpu_intensive(payload: Any = None, *, ctx: Context = Context.current) -> dict[str, Any]:
    """Hashes 170 kB 5,000 to 15,000 times, on as many threads as were granted."""
    check(payload)
    rounds = scaled(random.randint(5_000, 15_000))
    share = -(-rounds // ctx.threads)
    others = [threading.Thread(target=hash_block, args=(share, ctx)) for _ in range(ctx.threads - 1)]
    for thread in others:
        thread.start()
    digest = hash_block(share, ctx)
    for thread in others:
        thread.join()
    ctx.check()
    return {"rounds": rounds, "digest": digest}


@app.job("io_intensive", raw=True, max_attempts=4)
def io_intensive(payload: Any = None, *, ctx: Context = Context.current) -> dict[str, Any]:
    """Writes 1,000 to 9,999 lines to a private temporary file, reads them back, deletes it."""
    check(payload)
    lines = scaled(random.randint(1_000, 9_999))
    with tempfile.TemporaryFile("w+") as file:
        for number in range(lines):
            ctx.check()
            file.write(f"line {number}\n")
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        found = sum(1 for _ in file)
    if found != lines:
        raise OSError(f"wrote {lines} lines and read {found}")
    return {"lines": lines}


@app.job("mixed_workload", raw=True, max_attempts=4)
def mixed_workload(payload: Any = None, *, ctx: Context = Context.current) -> dict[str, Any]:
    """Both, one after the other."""
    cpu = cpu_intensive(payload, ctx=ctx)
    ctx.progress(0.5, "hashed")
    return {"cpu": cpu, "io": io_intensive(payload, ctx=ctx)}


@app.job("network_task", raw=True, max_attempts=4, timeout="60s")
async def network_task(payload: Any = None) -> dict[str, Any]:
    """One to five GETs at once; one that fails fails the attempt. Targets are on loopback only."""
    check(payload)
    targets = targets_of(payload) or [own_endpoint()] * random.randint(1, MOST_TARGETS)
    async with httpx.AsyncClient(follow_redirects=False, timeout=10, trust_env=False) as http:
        answers = await asyncio.gather(*(http.get(target) for target in targets))
    for answer in answers:
        answer.raise_for_status()
    return {"targets": len(targets), "statuses": [answer.status_code for answer in answers]}


@app.job("default", raw=True, max_attempts=4)
async def default(payload: Any = None) -> dict[str, Any]:
    """Sleeps: a second, ten, or almost a minute, at random."""
    check(payload)
    sort, least, most = random.choice([("fast", 0.1, 1.0), ("medium", 1.0, 10.0), ("slow", 10.0, 50.0)])
    seconds = random.uniform(least, most) * scale()
    await asyncio.sleep(seconds)
    return {"sort": sort, "slept_ms": round(seconds * 1000)}


def scale() -> float:
    """By how much the workloads are shrunk or stretched."""
    return float(os.environ.get("GANGER_DEMO_SCALE", "1"))


def scaled(amount: int) -> int:
    """So much work, shrunk or stretched, and at least one piece."""
    return max(1, round(amount * scale()))


def check(payload: Any) -> None:
    """Fails where the load scripts want a failure."""
    if "invalid_job" in json.dumps(payload):
        raise ValueError("Invalid job content")


def hash_block(rounds: int, ctx: Context) -> str:
    """Hashes the block so often; the interpreter's lock is not held meanwhile."""
    digest = b""
    for _ in range(rounds):
        if ctx.cancelled:
            break
        digest = hashlib.sha256(BLOCK + digest).digest()
    return digest.hex()


def targets_of(payload: Any) -> list[str]:
    """The targets that a payload names: an object, or the text of one."""
    if isinstance(payload, str):
        try:
            payload = json.loads(payload)
        except ValueError:
            return []
    named = payload.get("targets", []) if isinstance(payload, dict) else []
    for target in named:
        host = urlsplit(str(target)).hostname or ""
        try:
            inside = host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            inside = False
        if not inside:
            raise Fatal(f"{target} is not on loopback, and this worker goes nowhere else")
    return [str(target) for target in named[:MOST_TARGETS]]


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answers."""
        self.send_response(200)
        self.send_header("content-length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@functools.cache
def own_endpoint() -> str:
    """An endpoint of this worker itself, started when it is first needed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hello)
    threading.Thread(target=server.serve_forever, name="endpoint", daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"
