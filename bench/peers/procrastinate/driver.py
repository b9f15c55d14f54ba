"""Procrastinate on PostgreSQL: asynchronous handlers, jobs deleted when they succeeded."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import psycopg

import common
import tasks


class Procrastinate(common.Peer):
    async def prepare(self):
        async with tasks.app.open_async():
            await tasks.app.schema_manager.apply_schema_async()

    async def connect(self):
        await tasks.app.open_async()
        self.database = await psycopg.AsyncConnection.connect(common.STORE, autocommit=True)

    async def send_many(self, payloads):
        await tasks.noop.batch_defer_async(*payloads)

    async def send(self, one):
        await tasks.noop.defer_async(**one)

    async def left(self):
        found = await self.database.execute("SELECT count(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')")
        return (await found.fetchone())[0]

    def workers(self, aim):
        program = Path(sys.executable).parent / "procrastinate"
        for _ in range(common.PROCESSES):
            yield [program, "--app=tasks.app", "worker", f"--concurrency={common.CONCURRENCY}", "--delete-jobs=successful"]


common.drive(Procrastinate())
