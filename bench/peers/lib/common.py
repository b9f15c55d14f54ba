"""What every driver in Python shares: the settings, the payload, the board on which handlers write, and the lines that are printed.
The contract is in bench/README.md.

Workers are processes of the peer's own command line. What they handled is written on the board, a file that all map into their
memory, so that nothing is sent about.
"""

import abc
import asyncio
import inspect
import json
import mmap
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Pings before the ones that count: connections and imports are warm then.
WARM_UP = 10
# The last of the wait for a tick in seconds, for which the driver does not sleep.
AWAKE = 0.003
# Without any progress for this long something is wrong.
STUCK_SECONDS = 60


def number(name, fallback):
    value = int(os.environ.get(name, fallback))
    if value < 1:
        raise SystemExit(f"{name} must be a whole number of at least 1")
    return value


STORE = os.environ.get("BENCH_STORE", "")
JOBS = number("BENCH_JOBS", 10_000)
PAYLOAD_BYTES = number("BENCH_PAYLOAD_BYTES", 100)
CONCURRENCY = number("BENCH_CONCURRENCY", 8)
PROCESSES = number("BENCH_PROCESSES", 2)
BATCH = number("BENCH_BATCH", 1_000)
BATCH_CLIENTS = number("BENCH_BATCH_CLIENTS", 4)
CLIENTS = number("BENCH_CLIENTS", 8)
PINGS = number("BENCH_PINGS", 100)
INTERVAL_SECONDS = number("BENCH_INTERVAL_MS", 100) / 1000


class Board:
    """When the first job began, how often each was handled, and when each of the pings began."""

    HEAD = 8
    SLOTS = max(JOBS, PINGS + WARM_UP)

    def __init__(self, path):
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), self.HEAD + 9 * self.SLOTS)

    @classmethod
    def create(cls, path):
        with open(path, "wb") as file:
            file.truncate(cls.HEAD + 9 * cls.SLOTS)
        return cls(path)

    def handle(self, n):
        """For handlers: job `n` begins."""
        now = struct.pack("<d", time.monotonic())
        if self._map[: self.HEAD] == bytes(self.HEAD):
            self._map[: self.HEAD] = now
        start = self.HEAD + self.SLOTS + 8 * n
        self._map[start : start + 8] = now
        self._map[self.HEAD + n] += 1

    def handled(self, jobs):
        return jobs - self._map[self.HEAD : self.HEAD + jobs].count(0)

    def times(self, n):
        return self._map[self.HEAD + n]

    def began(self):
        """0.0 if nothing has begun."""
        return struct.unpack("<d", self._map[: self.HEAD])[0]

    def start(self, n):
        start = self.HEAD + self.SLOTS + 8 * n
        return struct.unpack("<d", self._map[start : start + 8])[0]


def board():
    """The board of the driver, for workers."""
    return Board(os.environ["BENCH_BOARD"])


def payload(n):
    """An object of exactly the asked size as JSON (without spaces), with the number of its job in it."""
    bare = len(f'{{"n":{n},"p":""}}')
    return {"n": n, "p": "x" * max(0, PAYLOAD_BYTES - bare)}


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def mark(name):
    say({"mark": name})


class Peer(abc.ABC):
    """What a driver gives. Each method may be a coroutine function."""

    def prepare(self):
        """Makes the schema."""

    def connect(self):
        """Opens the connection of a client, in a process of its own."""

    @abc.abstractmethod
    def send_many(self, payloads):
        """Enqueues these in one request."""

    @abc.abstractmethod
    def send(self, one):
        """Enqueues one."""

    @abc.abstractmethod
    def left(self):
        """Counts the jobs of the store that have not ended."""

    @abc.abstractmethod
    def workers(self, aim):
        """The command lines of its workers."""


class Driver:
    """Runs the actions of a peer."""

    def __init__(self, peer):
        self.peer = peer
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def do(self, result):
        return self.loop.run_until_complete(result) if inspect.isawaitable(result) else result

    def clients(self, count, step):
        """Lets so many processes enqueue, from the moment at which all are connected; how long it took."""
        context = multiprocessing.get_context("fork")
        ready, go = context.Barrier(count + 1), context.Barrier(count + 1)

        def client(nth):
            own = Driver(self.peer)
            own.do(own.peer.connect())
            ready.wait()
            go.wait()
            step(own, nth, count)
            sys.stdout.flush()
            os._exit(0)

        processes = [context.Process(target=client, args=(nth,)) for nth in range(count)]
        for process in processes:
            process.start()
        ready.wait(STUCK_SECONDS)
        mark("begin")
        began = time.monotonic()
        go.wait(STUCK_SECONDS)
        for process in processes:
            process.join()
        took = time.monotonic() - began
        mark("end")
        if any(process.exitcode for process in processes):
            raise SystemExit("a client failed")
        return took

    def enqueued(self, took):
        self.do(self.peer.connect())
        found = self.do(self.peer.left())
        if found != JOBS:
            raise SystemExit(f"{found} of {JOBS} jobs are in the store")
        return {"jobs": JOBS, "seconds": took, "verified": "counted"}

    def batch(self):
        def step(own, nth, count):
            for first in range(nth * BATCH, JOBS, count * BATCH):
                own.do(own.peer.send_many([payload(n) for n in range(first, min(first + BATCH, JOBS))]))

        return self.enqueued(self.clients(BATCH_CLIENTS, step))

    def single(self):
        def step(own, nth, count):
            for n in range(nth, JOBS, count):
                own.do(own.peer.send(payload(n)))

        return self.enqueued(self.clients(CLIENTS, step))

    def start_workers(self, aim, directory):
        """The workers, and the board that they write on."""
        made = Board.create(directory / "board")
        here = Path(sys.argv[0]).resolve().parent
        search = os.pathsep.join([str(here), str(Path(__file__).resolve().parent)])
        env = {**os.environ, "BENCH_BOARD": str(directory / "board"), "PYTHONPATH": search}
        with open(directory / "log", "wb") as log:
            workers = [
                subprocess.Popen(command, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                for command in self.peer.workers(aim)
            ]
        return workers, made

    def until(self, what, directory, workers, progress, enough):
        last, since = progress(), time.monotonic()
        while last < enough:
            time.sleep(0.002)
            now = progress()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > STUCK_SECONDS or any(worker.poll() is not None for worker in workers):
                raise SystemExit(f"{what}: stuck at {now} of {enough}: {(directory / 'log').read_text()[-500:]}")

    def work(self):
        """Starts the workers and waits until no job is left in the store: a handler that returned is not enough."""
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            directory = Path(name)
            self.do(self.peer.connect())
            workers, made = self.start_workers("drain", directory)
            try:
                self.until("begun", directory, workers, lambda: int(made.began() > 0), 1)
                mark("begin")
                self.until("handled", directory, workers, lambda: made.handled(JOBS), JOBS)
                self.until("left", directory, workers, lambda: -self.do(self.peer.left()), 0)
                seconds = time.monotonic() - made.began()
                mark("end")
            finally:
                stop(workers)
        for n in range(JOBS):
            if made.times(n) != 1:
                raise SystemExit(f"job {n} was handled {made.times(n)} times")
        return {"jobs": JOBS, "seconds": seconds, "verified": "each_once"}

    def ping(self):
        """One job at each tick of a fixed schedule; its start is taken against the tick, not against the moment it was sent."""
        total = WARM_UP + PINGS
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            directory = Path(name)
            self.do(self.peer.connect())
            workers, made = self.start_workers("ping", directory)
            try:
                # The workers are there when the first job has begun.
                self.do(self.peer.send(payload(0)))
                self.until("begun", directory, workers, lambda: made.handled(1), 1)
                time.sleep(0.5)
                first = time.monotonic()
                due = [first + n * INTERVAL_SECONDS for n in range(total)]
                for n in range(1, total):
                    time.sleep(max(0.0, due[n] - time.monotonic() - AWAKE))
                    # The last of it is waited out awake, as by every driver.
                    while time.monotonic() < due[n]:
                        pass
                    if n == WARM_UP:
                        mark("begin")
                    self.do(self.peer.send(payload(n)))
                self.until("started", directory, workers, lambda: made.handled(total), total)
                mark("end")
            finally:
                stop(workers)
        starts = [round((made.start(n) - due[n]) * 1e6) for n in range(WARM_UP, total)]
        return {"jobs": PINGS, "seconds": PINGS * INTERVAL_SECONDS, "starts_us": starts}

    def prepare(self):
        self.do(self.peer.prepare())
        return {}


def stop(workers):
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    for worker in workers:
        try:
            worker.wait(5)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def drive(peer):
    """Runs the action that the command line names."""
    driver = Driver(peer)
    actions = {"prepare": driver.prepare, "load": driver.batch, "work": driver.work, "batch": driver.batch, "single": driver.single, "ping": driver.ping}
    action = sys.argv[1] if len(sys.argv) > 1 else ""
    if action not in actions:
        raise SystemExit(f"usage: driver {'|'.join(actions)}, settings in BENCH_… (see bench/README.md)")
    result = actions[action]()
    say({**result, "action": action})
    os._exit(0)
