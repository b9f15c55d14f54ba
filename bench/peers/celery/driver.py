"""Celery with Redis as its broker. It has no request for many jobs at once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

import redis

import common
import tasks


class Celery(common.Peer):
    def connect(self):
        self.redis = redis.Redis.from_url(common.STORE)

    def send_many(self, payloads):
        for one in payloads:
            self.send(one)

    def send(self, one):
        tasks.noop.apply_async(kwargs=one)

    def left(self):
        return self.redis.llen("celery") + self.redis.hlen("unacked")

    def workers(self, aim):
        program = Path(sys.executable).parent / "celery"
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=error"]
        yield [program, "-A", "tasks", "worker", "--pool=prefork", f"--concurrency={common.PROCESSES}", *quiet]


common.drive(Celery())
