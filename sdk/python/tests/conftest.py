"""Real servers and real workers for the tests: the binary on free ports, its data in a folder of the test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ganger import App, Client, Finish

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent.parent
#: Longest that anything may take: only a test that fails waits so long.
PATIENCE = 60.0


def binary() -> Path:
    """The program under test: GANGER_BIN, else what was built last in the repository."""
    named = os.environ.get("GANGER_BIN")
    if named:
        return Path(named)
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    built = [target / profile / "ganger" for profile in ("debug", "release")]
    found = [path for path in built if path.exists()]
    if not found:
        pytest.fail("there is no ganger binary: run `cargo build -p ganger`, or set GANGER_BIN")
    return max(found, key=lambda path: path.stat().st_mtime)


def eventually(what: str, condition: Callable[[], Any]) -> Any:
    """Waits until it is so, and returns what it is."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """A server on its own port, with its own data."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._flags = flags
        self._log = (folder.parent / f"{folder.name}.log").open("ab")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        where = [] if "--store" in self._flags else ["--data", str(self._folder)]
        command = [str(binary()), "server", *where, "--listen", f"127.0.0.1:{self.port}", *self._flags]
        environment = {**os.environ, "GANGER_LOG": "warn", "GANGER_CLUSTER_SECRET": "of these tests, long enough"}
        environment["GANGER_AUTH"] = "off"
        environment.pop("GANGER_URL", None)
        self._process = subprocess.Popen(command, env=environment, stdout=self._log, stderr=self._log)
        eventually(f"{self.url} is ready", self.is_ready)

    def is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, Path(self._log.name).read_text()
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        return False

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


class Process:
    """A worker as a process of its own."""

    def __init__(self, url: str, folder: Path, *flags: str) -> None:
        self.log = folder / f"worker-{time.monotonic_ns()}.log"
        environment = {**os.environ, "GANGER_URL": url, "GANGER_TEST_FOLDER": str(folder), "PYTHONUNBUFFERED": "1"}
        with self.log.open("wb") as log:
            self.popen = subprocess.Popen(
                [sys.executable, "-m", "ganger", "worker", "jobs:app", *flags],
                cwd=HERE,
                env=environment,
                stdout=log,
                stderr=log,
            )

    def wait_connected(self) -> Process:
        eventually("the worker is connected", lambda: "connected http" in self.said())
        return self

    def said(self) -> str:
        assert self.popen.poll() is None or "connected http" in self.log.read_text(), self.log.read_text()
        return self.log.read_text()

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def finished(self) -> int:
        return self.popen.wait(PATIENCE)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that no test hurts."""
    one = Server(tmp_path_factory.mktemp("server") / "data")
    yield one
    one.kill()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.url) as one:
        yield one


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Servers that a test may hurt."""
    made: list[Server] = []

    def make(*flags: str) -> Server:
        made.append(Server(tmp_path / f"data-{len(made)}", *flags))
        return made[-1]

    yield make
    for one in made:
        one.kill()


@pytest.fixture
def make_process(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Workers that a test may hurt."""
    made: list[Process] = []

    def make(url: str, *flags: str) -> Process:
        made.append(Process(url, tmp_path, *flags))
        return made[-1]

    yield make
    for one in made:
        if one.popen.poll() is None:
            one.signal(signal.SIGCONT)
            one.popen.kill()
        one.popen.wait()


def program(name: str) -> str:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return str(versions[-1] / name) if versions else name


@pytest.fixture
def postgres() -> Iterator[str]:
    """A private PostgreSQL on a free port. Below /tmp: the user that it runs as must get there."""
    folder, port = tempfile.mkdtemp(prefix="ganger-pg-"), free_port()
    data, as_user = f"{folder}/data", []
    if os.getuid() == 0:
        # It refuses to run as root.
        user = next(u for u in ("postgres", "nobody") if any(u == entry.pw_name for entry in pwd.getpwall()))
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
        as_user = ["setpriv", f"--reuid={user}", "--clear-groups", "--"]
    made = [program("initdb"), "-D", data, "-U", "ganger", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
    subprocess.run([*as_user, *made], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    settings = ["-c", f"port={port}", "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}"]
    command = [*as_user, program("postgres"), "-D", data, *settings, "-c", "fsync=off"]
    with Path(folder, "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    ready = [program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    eventually("PostgreSQL is ready", lambda: subprocess.run(ready).returncode == 0)
    yield f"postgres://ganger@127.0.0.1:{port}/postgres"
    server.terminate()
    server.wait()
    shutil.rmtree(folder)


@contextlib.contextmanager
def working(app: App, url: str, **options: Any) -> Iterator[list[Finish]]:
    """A worker in this process, on a thread with its own event loop; drained at the end."""
    worker = app.worker(url=url, **options)
    finishes: list[Finish] = []
    thread = threading.Thread(target=lambda: finishes.append(asyncio.run(worker.run())))
    thread.start()
    try:
        yield finishes
    finally:
        eventually("the worker has begun", lambda: worker._driver is not None)
        worker.drain()
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the worker does not end"
