"""Dramatiq with Redis as its broker. It has no request for many jobs at once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import common
import tasks


class Dramatiq(common.Peer):
    def send_many(self, payloads):
        for one in payloads:
            self.send(one)

    def send(self, one):
        tasks.noop.send(**one)

    def left(self):
        return tasks.broker.client.hlen("dramatiq:bench.msgs")

    def workers(self, aim):
        program = Path(sys.executable).parent / "dramatiq"
        yield [program, "tasks", "--processes", str(common.PROCESSES), "--threads", str(common.CONCURRENCY)]


common.drive(Dramatiq())
