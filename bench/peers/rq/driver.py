"""RQ: workers that do not fork for each job (SimpleWorker), and jobs that are removed when they are done."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from redis import Redis
from rq import Queue

import common


class Rq(common.Peer):
    def connect(self):
        self.queue = Queue("bench", connection=Redis.from_url(common.STORE))

    def send_many(self, payloads):
        many = [Queue.prepare_data("tasks.noop", kwargs=one, result_ttl=0) for one in payloads]
        self.queue.enqueue_many(many)

    def send(self, one):
        self.queue.enqueue("tasks.noop", kwargs=one, result_ttl=0)

    def left(self):
        # Cleaning is the workers' business; this only counts.
        return self.queue.count + self.queue.started_job_registry.get_job_count(cleanup=False)

    def workers(self, aim):
        program = Path(sys.executable).parent / "rq"
        for _ in range(common.PROCESSES):
            yield [program, "worker", "--url", common.STORE, "--worker-class", "rq.worker.SimpleWorker", "--quiet", "bench"]


common.drive(Rq())
