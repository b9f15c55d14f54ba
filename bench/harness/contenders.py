"""Who is compared: each with its store, its class of durability, its settings, and how its contract differs.

A contender is a peer with one store and one way to run it. Those of one `store` group are compared with each other and with
the row of Ganger on that store.
"""

from dataclasses import dataclass, field, replace

from .paths import INSTALLED, NODE, PEERS

WORKLOADS = ("drain", "batch", "single", "ping")
# Acknowledged from memory; survives the process but not the machine; on the disk before it is acknowledged.
CLASSES = {
    "D0": "acknowledged from memory, lost when the process ends",
    "D1": "survives the process, not the loss of power",
    "D2": "on the disk before it is acknowledged",
}


@dataclass(frozen=True)
class Contender:
    """One row of the tables."""

    name: str
    peer: str
    label: str
    # The server that is started for it: see run.py.
    store: str
    # With whom it is compared: postgres, redis, embedded.
    group: str
    durability: str
    command: tuple
    settings: str
    # What it does less, or otherwise, than Ganger.
    contract: str
    # Jobs by workload; what is not named is not run.
    jobs: dict
    env: dict = field(default_factory=dict)

    def scaled(self, part, fewest):
        """The same with fewer or more jobs; as many pings."""
        jobs = {workload: jobs if workload == "ping" else max(fewest, int(jobs * part)) for workload, jobs in self.jobs.items()}
        return replace(self, jobs=jobs)

    @property
    def is_ganger(self):
        return self.peer == "ganger"


def _node(peer):
    return (NODE, PEERS / peer / "driver.mjs")


def _python(peer):
    return (INSTALLED / "venv" / peer / "bin" / "python", PEERS / peer / "driver.py")


def _binary(name):
    return (INSTALLED / "bin" / name,)


def _jobs(drain, batch=None, single=None, ping=100):
    """How many, so that a measurement takes some seconds. Without a batch in its API there is no such row."""
    all_ = {"drain": drain, "batch": batch, "single": single, "ping": ping}
    return {workload: jobs for workload, jobs in all_.items() if jobs}


def _ganger(name, label, store, group, settings, jobs, env=None):
    return Contender(
        name, "ganger", label, store, group, "D2", _binary("ganger-driver"),
        f"server and worker in two processes over gRPC, jobs come in over REST, one worker of 32 threads{settings}", "", jobs,
        {"BENCH_CONCURRENCY": "32", **(env or {})},
    )


_NO_HISTORY = {"BENCH_RETENTION": "none"}
# No peer remembers its answers. What it costs to do so has rows of its own.
_KEYS = {"BENCH_KEYS": "each"}
_ENQUEUED = {"batch": 200_000, "single": 10_000}
# Answered by Redis, as its peers are, and in PostgreSQL a step later. More than the buffer holds would be taken in as durable.
_BUFFERED = {"BENCH_DURABILITY": "buffered"}

GANGER = [
    _ganger("ganger", "**Ganger**, full history", "postgres", "postgres", "", _jobs(200_000, 200_000, 10_000)),
    _ganger("ganger-no-history", "**Ganger**, no history", "postgres", "postgres", ", retention none", _jobs(200_000, ping=None), _NO_HISTORY),
    _ganger("ganger-keys", "**Ganger**, idempotency keys", "postgres", "postgres", ", an idempotency key for each request", _ENQUEUED, _KEYS),
    _ganger("ganger-redis", "**Ganger** on PostgreSQL with Redis", "postgres+everysec", "redis", "; Redis (everysec) holds no job alone", _jobs(200_000, 200_000, 10_000)),
    _ganger("ganger-buffered", "**Ganger**, buffered in Redis, fsync always", "postgres+always", "redis", "; durability buffered: answered by Redis (always), then in PostgreSQL", {"batch": 100_000, "single": 20_000}, _BUFFERED),
    _ganger("ganger-embedded", "**Ganger**, embedded, full history", "disk", "embedded", ", SQLite with synchronous=FULL", _jobs(200_000, 200_000, 20_000)),
    _ganger("ganger-embedded-keys", "**Ganger**, embedded, idempotency keys", "disk", "embedded", ", SQLite with synchronous=FULL, an idempotency key for each request", _ENQUEUED, _KEYS),
    _ganger("ganger-embedded-no-history", "**Ganger**, embedded, no history", "disk", "embedded", ", SQLite with synchronous=FULL, retention none", _jobs(200_000, ping=None), _NO_HISTORY),
]

POSTGRES = [
    Contender(
        "graphile-worker", "graphile-worker", "graphile-worker", "postgres", "postgres", "D2", _node("graphile-worker"),
        "one process, concurrentJobs 24, localQueue.size 2,000 with refetchDelay 10 ms, completeJobBatchDelay and failJobBatchDelay 0; for the ping without local queue and batches",
        "handlers run inside the process that fetches; a job that is done is deleted, so no history and no result",
        _jobs(100_000, 200_000, 10_000), {"BENCH_CONCURRENCY": "24"},
    ),
    Contender(
        "graphile-worker-5000", "graphile-worker", "graphile-worker, local queue of 5,000", "postgres", "postgres", "D2", _node("graphile-worker"),
        "as above with concurrentJobs 1,000 and localQueue.size 5,000, faster here in a trial of two runs",
        "handlers run inside the process that fetches; a job that is done is deleted, so no history and no result; 5,000 jobs are locked by one process",
        _jobs(100_000, ping=None), {"BENCH_CONCURRENCY": "1000", "BENCH_LOCAL_QUEUE": "5000"},
    ),
    Contender(
        "pg-boss", "pg-boss", "pg-boss", "postgres", "postgres", "D2", _node("pg-boss"),
        "one process, batchSize 1,000, burstWhenBatchFull, localConcurrency 2; for the ping batchSize 1 and LISTEN/NOTIFY",
        "a whole batch is one call of the handler and is acknowledged as a whole; done jobs stay for a week",
        _jobs(50_000, 100_000, 8_000), {"BENCH_CONCURRENCY": "2"},
    ),
    Contender(
        "river", "river", "River", "postgres", "postgres", "D2", _binary("river-driver"),
        "one process, as in `river bench`: MaxWorkers 2,000, FetchCooldown 2 ms, FetchPollInterval 20 ms; batches with InsertManyFast (COPY)",
        "handlers run inside the process that fetches; completions are recorded in batches behind the handlers; done jobs stay for a day",
        _jobs(50_000, 200_000, 10_000), {"BENCH_CONCURRENCY": "2000"},
    ),
    Contender(
        "procrastinate", "procrastinate", "Procrastinate", "postgres", "postgres", "D2", _python("procrastinate"),
        "two worker processes, concurrency 10 each, asynchronous handlers, --delete-jobs=successful; clients in processes of their own",
        "handlers run inside the process that fetches; a job that is done is deleted",
        _jobs(2_000, 50_000, 4_000), {"BENCH_CONCURRENCY": "10"},
    ),
    Contender(
        "apalis-postgres", "apalis-postgres", "apalis", "postgres", "postgres", "D2", _binary("apalis-postgres-driver"),
        "one process, batch_size 1,000, looked for each millisecond, handlers spawned beside each other; for the ping NOTIFY",
        "handlers run inside the process that fetches; done jobs stay",
        _jobs(20_000, 100_000, 8_000), {"BENCH_CONCURRENCY": "1000"},
    ),
    Contender(
        "underway", "underway", "underway", "postgres", "postgres", "D2", _binary("underway-driver"),
        "one process, concurrency limit 16",
        "each job runs in a transaction of its own; handlers run inside the process that fetches; done jobs stay for 14 days",
        _jobs(1_000, 100_000, 8_000), {"BENCH_CONCURRENCY": "16"},
    ),
]

BULLMQ = "one worker process, concurrency 100, removeOnComplete"
_BULLMQ_CONTRACT = "handlers run inside the process that fetches; done jobs are removed; Redis alone holds the jobs"


def _redis(name, peer, label, command, settings, contract, jobs, env=None):
    """The same contender with both ways of writing the log of Redis out."""
    for fsync, durability in (("always", "D2"), ("everysec", "D1")):
        yield Contender(
            f"{name}+{fsync}", peer, f"{label}, fsync {fsync}", f"redis-{fsync}", "redis", durability, command,
            f"{settings}; Redis with appendonly yes, appendfsync {fsync}", contract, jobs, env or {},
        )


REDIS = [
    *_redis("bullmq", "bullmq", "BullMQ", _node("bullmq"), BULLMQ, _BULLMQ_CONTRACT, _jobs(40_000, 40_000, 15_000), {"BENCH_CONCURRENCY": "100"}),
    *_redis(
        "asynq", "asynq", "Asynq", _binary("asynq-driver"), "one process, Concurrency 50",
        "no request for many jobs; a job that is done is removed; Redis alone holds the jobs",
        _jobs(15_000, None, 20_000), {"BENCH_CONCURRENCY": "50"},
    ),
    *_redis(
        "celery", "celery", "Celery", _python("celery"),
        "prefork pool of 2, worker_prefetch_multiplier 128, task_acks_late, results ignored, no gossip, mingle or heartbeat",
        "no request for many jobs; no state or result is kept; Redis alone holds the jobs",
        _jobs(4_000, None, 8_000),
    ),
    *_redis(
        "dramatiq", "dramatiq", "Dramatiq", _python("dramatiq"), "2 processes of 8 threads, middleware as by default",
        "no request for many jobs; no state or result is kept; Redis alone holds the jobs",
        _jobs(10_000, None, 10_000), {"BENCH_CONCURRENCY": "8"},
    ),
    *_redis(
        "rq", "rq", "RQ", _python("rq"), "two processes of SimpleWorker (no fork per job), result_ttl 0",
        "one job at a time in each process; done jobs are removed; Redis alone holds the jobs",
        _jobs(1_500, 20_000, 5_000),
    ),
    *_redis(
        "saq", "saq", "SAQ", _python("saq"), "two processes, concurrency 50 each, results not kept",
        "no request for many jobs; done jobs are removed; Redis alone holds the jobs",
        _jobs(8_000, None, 8_000), {"BENCH_CONCURRENCY": "50"},
    ),
    *_redis(
        "apalis", "apalis-redis", "apalis", _binary("apalis-redis-driver"), "one process, batch_size 100, looked for each millisecond",
        "handlers run inside the process that fetches; done jobs stay; Redis alone holds the jobs; it looks through all that wait for each job that it locks, and cannot fetch while some 8,000 or more are due",
        # Its start is no figure: this driver has it wait for its heartbeat, half a minute.
        _jobs(5_000, 50_000, 10_000, None), {"BENCH_CONCURRENCY": "100"},
    ),
]

_BEANSTALKD_CONTRACT = "a job that is deleted is gone: no history, no result, no retries of its own"


def _beanstalkd(kind, durability, how, jobs, pipelined=False):
    peer = "beanstalkd-pipelined" if pipelined else "beanstalkd"
    client = "8 connections by hand, 100 requests on the way on each" if pipelined else "its Go client, 32 connections, one job at a time on each"
    return Contender(
        f"{peer}-{kind}", peer, f"beanstalkd, {how}{', pipelined by hand' if pipelined else ''}", f"beanstalkd-{kind}", "embedded", durability,
        _binary(f"{peer}-driver"), f"{client}; {how}",
        _BEANSTALKD_CONTRACT + ("; no client is known that does this" if pipelined else ""),
        jobs, {"BENCH_CONCURRENCY": "8" if pipelined else "32"},
    )


EMBEDDED = [
    _beanstalkd("memory", "D0", "in memory", _jobs(100_000, None, 50_000)),
    _beanstalkd("f0", "D2", "-f0", _jobs(10_000, None, 5_000)),
    _beanstalkd("memory", "D0", "in memory", _jobs(200_000, 200_000, None, None), pipelined=True),
    _beanstalkd("f0", "D2", "-f0", _jobs(10_000, 10_000, None, None), pipelined=True),
    Contender(
        "faktory", "faktory", "Faktory", "faktory", "embedded", "D0", _binary("faktory-driver"),
        "its server with its own Redis, 32 connections of its Go client, one job at a time on each",
        "its Redis writes snapshots each 30 or 120 s and no log; done jobs are gone",
        _jobs(40_000, 100_000, 20_000), {"BENCH_CONCURRENCY": "32"},
    ),
    Contender(
        "hyperqueue", "hyperqueue", "HyperQueue", "disk", "embedded", "D0", _python("hyperqueue"),
        "server and worker of its Python package in one process, one worker with all cores, no journal",
        "each job is a process (`true`), so most of its time is that of the kernel; what ended is told by itself, not counted by a handler; the clock runs from the start of the worker",
        _jobs(3_000, ping=None),
    ),
]

CONTENDERS = {contender.name: contender for contender in [*GANGER, *POSTGRES, *REDIS, *EMBEDDED]}
