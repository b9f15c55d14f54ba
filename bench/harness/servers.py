"""Private servers for the stores: on free ports, in a directory of their own, gone at the end.

They end with the process that started them, however it ends: each asks the kernel for a signal at its parent's
death, and a small shell at the end of a pipe removes the directory.
"""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from .paths import INSTALLED

PATIENCE = 30.0
# Another process may take a free port before the server does; then the next is tried.
PORTS = 10
# As in production, and the same for everybody. What differs from the defaults is here and in the report.
POSTGRES_SETTINGS = (
    "fsync=on",
    "synchronous_commit=on",
    "max_connections=300",
    "shared_buffers=256MB",
    "max_wal_size=4GB",
)


class CannotStart(Exception):
    """A server does not start, and why."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def directory(parent=None):
    """A directory for everything, which is removed even if this process is killed."""
    path = Path(tempfile.mkdtemp(prefix="ganger-bench-", dir=parent))
    path.chmod(0o755)
    # In a session of its own, so that an interrupt at the terminal does not end it with us. The servers get their
    # signal at the same moment; what they still write is removed in a second round.
    script = 'cat >/dev/null; rm -rf "$1" 2>/dev/null; sleep 2; rm -rf "$1"'
    janitor = subprocess.Popen(
        ["sh", "-c", script, "janitor", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        janitor.stdin.close()
        janitor.wait()


class Server:
    """A process that listens on a port."""

    signal = "TERM"

    def __init__(self, parent, name):
        self.dir = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
        self.process = None
        self.port = None
        self.user = None

    def start(self):
        """Starts it on a free port; `self` again."""
        for _ in range(PORTS):
            self.port = free_port()
            as_user = [f"--reuid={self.user}", "--clear-groups"] if self.user else []
            with open(self.dir / "log", "ab") as log:
                self.process = subprocess.Popen(
                    ["setpriv", "--pdeathsig", self.signal, *as_user, "--", *self.command()],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.dir,
                    start_new_session=True,
                )
            if self._wait():
                return self
        raise CannotStart(f"{self.command()[0]} does not start: {self.log()}")

    def _wait(self):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            if answers(self.port) and self.ready():
                return True
            time.sleep(0.02)
        self.stop()
        return False

    def ready(self):
        return True

    def log(self):
        return (self.dir / "log").read_text(errors="replace")[-2000:].strip()

    @property
    def pid(self):
        return self.process.pid

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal({"TERM": 15, "INT": 2}[self.signal])
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class Postgres(Server):
    """A private cluster. Every measurement gets a database of its own."""

    signal = "INT"

    def __init__(self, parent):
        super().__init__(parent, "postgres")
        if os.getuid() == 0:
            # It refuses to run as root.
            self.user = next(user.pw_name for user in pwd.getpwall() if user.pw_name in ("postgres", "nobody"))
            shutil.chown(self.dir, self.user)
            self.dir.chmod(0o755)
        as_user = ["setpriv", f"--reuid={self.user}", "--clear-groups", "--"] if self.user else []
        made = subprocess.run(
            [*as_user, self.binary("initdb"), "-D", self.dir / "data", "-U", "bench", "--auth=trust"]
            + ["--encoding=UTF8", "--locale=C", "--no-sync"],
            capture_output=True,
            text=True,
            cwd=self.dir,
        )
        if made.returncode:
            raise CannotStart(f"initdb failed: {made.stderr.strip()}")
        self.databases = 0

    @staticmethod
    def binary(name):
        """Where Debian keeps the newest one, or wherever the search path leads."""
        found = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
        newest = sorted(found, key=lambda path: int(path.parent.parent.name), reverse=True)
        return str(newest[0]) if newest else name

    def command(self):
        settings = [word for setting in POSTGRES_SETTINGS for word in ("-c", setting)]
        place = ["-D", str(self.dir / "data"), "-k", str(self.dir), "-h", "127.0.0.1", "-p", str(self.port)]
        return [self.binary("postgres"), *place, *settings]

    def ready(self):
        return self.ask("SELECT 1") == "1"

    def ask(self, statement, database="postgres"):
        """One row, columns between bars; nothing while it does not answer."""
        asked = subprocess.run(
            ["psql", self.url_of(database), "-XAtqc", statement], capture_output=True, text=True, cwd=self.dir
        )
        return asked.stdout.strip() if asked.returncode == 0 else None

    def url_of(self, database):
        return f"postgres://bench@127.0.0.1:{self.port}/{database}"

    def fresh(self):
        """An empty database, with what came before written out: nobody pays for another's checkpoint."""
        self.forget()
        self.databases += 1
        name = f"bench_{self.databases}"
        if self.ask(f"CREATE DATABASE {name}") is None:
            raise CannotStart(f"PostgreSQL makes no database: {self.log()}")
        self.ask("CHECKPOINT")
        return self.url_of(name)

    def forget(self):
        """Drops the last database."""
        if self.databases:
            self.ask(f"DROP DATABASE IF EXISTS bench_{self.databases} WITH (FORCE)")

    def written(self):
        """Bytes of its log so far."""
        found = self.ask("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")
        return int(found) if found else None

    def version(self):
        return self.ask("SHOW server_version")


class Redis(Server):
    """A private Redis with an append-only file, written out `always` or `everysec`."""

    def __init__(self, parent, fsync):
        super().__init__(parent, "redis")
        self.fsync = fsync

    def command(self):
        place = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.dir), "--save", ""]
        return ["redis-server", *place, "--appendonly", "yes", "--appendfsync", self.fsync]

    def ready(self):
        return self.ask("PING") == "PONG"

    def ask(self, *words):
        asked = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True)
        return asked.stdout.strip()

    def fresh(self):
        self.forget()
        return f"redis://127.0.0.1:{self.port}/0"

    def forget(self):
        self.ask("FLUSHALL", "SYNC")

    def version(self):
        told = self.ask("INFO", "server").splitlines()
        return next((line.split(":")[1] for line in told if line.startswith("redis_version")), None)


class Beanstalkd(Server):
    """In memory, or with a log that is written out before each answer (`-f0`)."""

    def __init__(self, parent, durable):
        super().__init__(parent, "beanstalkd")
        self.durable = durable

    def command(self):
        log = ["-b", str(self.dir), "-f0"] if self.durable else []
        return ["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), *log]

    def fresh(self):
        return f"127.0.0.1:{self.port}"

    def forget(self):
        """It is started anew for each measurement."""

    def version(self):
        told = subprocess.run(["beanstalkd", "-v"], capture_output=True, text=True).stdout.split()
        return told[-1] if told else None


class Faktory(Server):
    """The server of Faktory, which starts a Redis of its own and talks to it over a socket."""

    def command(self):
        place = ["-b", f"127.0.0.1:{self.port}", "-w", ":0", "-d", str(self.dir / "db"), "-c", str(self.dir)]
        return [str(INSTALLED / "bin" / "faktory"), *place, "-l", "warn", "-e", "development"]

    def fresh(self):
        return f"tcp://127.0.0.1:{self.port}"

    def stop(self):
        super().stop()
        # It puts the settings of its Redis there, whatever it is told.
        left = Path("/tmp/redis.conf")
        if left.exists() and "Created by Faktory" in left.read_text(errors="replace"):
            left.unlink()

    def forget(self):
        """It is started anew for each measurement."""

    def version(self):
        told = subprocess.run([INSTALLED / "bin" / "faktory", "-v"], capture_output=True, text=True).stdout
        return told.split()[1] if told else None


class Disk:
    """No server: the store is embedded, and this is the directory for it."""

    pid = None

    def __init__(self, parent):
        self.parent = parent

    def fresh(self):
        return str(self.parent)

    def forget(self):
        """Whoever is measured removes what it makes."""

    def version(self):
        return None

    def stop(self):
        """Nothing runs."""
