"""SAQ on Redis. It has no request for many jobs at once; many are sent beside each other on one connection pool."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import common
import tasks

# Requests on the way at once while the jobs of a drain are loaded.
BESIDE = 50


class Saq(common.Peer):
    async def connect(self):
        await tasks.queue.connect()

    async def send_many(self, payloads):
        for first in range(0, len(payloads), BESIDE):
            await asyncio.gather(*(self.send(one) for one in payloads[first : first + BESIDE]))

    async def send(self, one):
        await tasks.queue.enqueue("noop", ttl=-1, **one)

    async def left(self):
        return await tasks.queue.count("incomplete")

    def workers(self, aim):
        program = Path(sys.executable).parent / "saq"
        for _ in range(common.PROCESSES):
            yield [program, "tasks.settings", "--quiet"]


common.drive(Saq())
