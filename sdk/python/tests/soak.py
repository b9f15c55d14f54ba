"""The long form of ``test_faults.py``: ``python tests/soak.py SEED SECONDS``.

Servers and workers are killed, stopped, woken and drained at random while jobs come in. In the end every job that was
acknowledged must have succeeded, with its own result, and with exactly one attempt recorded as ok.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from conftest import Process, Server
from jobs import quick

from ganger import Client, Receipt

WORKERS = 3
#: Jobs of one wave.
WAVE = 50
#: A job that meets one fault after another must not die of it.
PATIENT = quick.options(max_lost=1000, max_attempts=1000)


class Soak:
    """A server, its workers, and what was done to them."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.dice = random.Random(seed)
        self.folder = folder
        self.server = Server(folder / "data")
        self.client = Client(self.server.url)
        self.workers = [self.spawn() for _ in range(WORKERS)]
        self.stopped: list[Process] = []
        self.receipts: list[Receipt] = []
        self.faults: Counter[str] = Counter()

    def spawn(self) -> Process:
        ttl, lapse = self.dice.choice(["500ms", "1s", "3s"]), self.dice.choice(["cancel", "continue"])
        return Process(self.server.url, self.folder, "--ttl", ttl, "--on-lapse", lapse, "--threads", "4")

    def wave(self) -> None:
        first = len(self.receipts)
        taken = self.client.enqueue_batch([PATIENT.new(number) for number in range(first, first + WAVE)])
        self.receipts += [receipt for receipt in taken if isinstance(receipt, Receipt)]
        time.sleep(self.dice.uniform(0.1, 1.0))
        fault = self.dice.choice([self.kill_server, self.kill, self.drain, self.stop, self.wake])
        if fault():
            self.faults[fault.__name__] += 1

    def kill_server(self) -> bool:
        self.server.kill()
        time.sleep(self.dice.uniform(0, 1.5))
        self.server.start()
        return True

    def kill(self) -> bool:
        return self._replace(signal.SIGKILL)

    def drain(self) -> bool:
        return self._replace(signal.SIGTERM)

    def stop(self) -> bool:
        worker = self.dice.choice(self.workers)
        if worker in self.stopped or len(self.stopped) == WORKERS - 1:
            return False
        worker.signal(signal.SIGSTOP)
        self.stopped.append(worker)
        return True

    def wake(self) -> bool:
        if self.stopped:
            self.stopped.pop(0).signal(signal.SIGCONT)
            return True
        return False

    def _replace(self, number: int) -> bool:
        worker = self.workers.pop(self.dice.randrange(WORKERS))
        worker.signal(number)
        if worker in self.stopped:
            self.stopped.remove(worker)
            worker.signal(signal.SIGCONT)
        self.workers.append(self.spawn())
        return True

    def settle(self) -> str:
        """Lets everything end, and tells the figures. Raises if a promise was broken."""
        while self.wake():
            pass
        outcomes: Counter[str] = Counter()
        for number, receipt in enumerate(self.receipts):
            job = self.client.wait(receipt, 120)
            seen = [attempt.outcome for attempt in self.client.attempts(receipt)]
            assert (job.state, job.result) == ("succeeded", 2 * number), job
            assert seen.count("ok") == 1 and seen[-1] == "ok", (job.id, seen)
            outcomes.update(seen)
        for worker in self.workers:
            worker.signal(signal.SIGTERM)
        assert [worker.finished() for worker in self.workers] == [0] * WORKERS
        runs = len((self.folder / "notes").read_text().splitlines())
        return f"{len(self.receipts)} jobs, {runs} runs, faults {dict(self.faults)}, outcomes {dict(outcomes)}"


def main(seed: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="ganger-soak-") as folder:
        soak, until = Soak(seed, Path(folder)), time.monotonic() + seconds
        try:
            while time.monotonic() < until:
                soak.wave()
            print(f"seed {seed}: {soak.settle()}")
        finally:
            soak.server.kill()
            for worker in soak.workers:
                worker.popen.kill()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
