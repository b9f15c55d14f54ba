"""One measurement: one contender, one workload, one run. What comes out is a record, as bench/README.md describes it."""

import contextlib
import datetime
import os
import time

from . import driver, ganger, machine
from .servers import CannotStart

# What an action is called in the contract of the drivers.
ACTIONS = {"drain": "work", "batch": "batch", "single": "single", "ping": "ping"}
INTERVAL_MS = 100


def measure(contender, workload, stores, program):
    """Runs it; a failure is a record too, for a row that is missing must say why."""
    record = {"started_at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")}
    record["load_before"] = round(machine.load(), 2)
    began = time.monotonic()
    try:
        with machine.Heart() as heart:
            record |= _measure(contender, workload, stores, program)
        record["held"] = heart.held
    except (driver.Failed, CannotStart, OSError) as error:
        record["error"] = str(error)
    record["load_after"] = round(machine.load(), 2)
    record["took_seconds"] = round(time.monotonic() - began, 1)
    return record


def _measure(contender, workload, stores, program):
    jobs = contender.jobs[workload]
    env = {
        **contender.env,
        "BENCH_JOBS": str(jobs),
        "BENCH_PINGS": str(jobs),
        "BENCH_INTERVAL_MS": str(INTERVAL_MS),
    }
    with _store(contender, stores, program) as (server, pids, address):
        env["BENCH_STORE"] = address
        driver.act(contender.command, "prepare", env)
        if workload == "drain":
            driver.act(contender.command, "load", env)
        written = server.written() if hasattr(server, "written") else None
        result = driver.act(contender.command, ACTIONS[workload], env, pids)
        record = _record(result, workload)
        if written is not None and workload != "ping":
            record["store_bytes_per_job"] = round((server.written() - written) / result["jobs"])
        record["store_version"] = server.version()
    return record


@contextlib.contextmanager
def _store(contender, stores, program):
    """The store, the processes whose time is taken, and where the driver finds what it drives."""
    kind = contender.store
    if not contender.is_ganger:
        with stores.open(kind) as (server, address):
            yield server, {"database": server.pid}, address
        return
    with contextlib.ExitStack() as stack:
        database, _, accelerator = kind.partition("+")
        server, address = stack.enter_context(stores.open(database))
        pids = {"database": server.pid} if server.pid else {}
        redis = None
        if accelerator:
            beside, redis = stack.enter_context(stores.open(f"redis-{accelerator}"))
            pids["redis"] = beside.pid
        store = None if database == "disk" else address
        process, url = stack.enter_context(ganger.serving(program, stores.parent, store, redis))
        yield server, {**pids, "server": process.pid}, url


def _record(result, workload):
    jobs, seconds = result["jobs"], result["seconds"]
    record = {"jobs": jobs, "seconds": round(seconds, 4)}
    if workload == "ping":
        record["latency_us"] = {"start": spread(result["starts_us"])}
        record["samples_us"] = result["starts_us"]
    else:
        record["jobs_per_second"] = round(jobs / seconds, 1)
        record["verified"] = result["verified"]
    spent = result["cpu"]
    if spent:
        cores = spent.pop("elapsed") * os.cpu_count()
        everything, stolen = spent.pop("all"), spent.pop("stolen")
        ours = sum(spent.values())
        if workload != "ping":
            record["cpu_seconds_per_million"] = {name: round(used / jobs * 1e6, 1) for name, used in spent.items() if used}
        # What everybody else took of the machine meanwhile, and what the hypervisor gave away.
        record["others_share"] = round(max(0.0, everything - ours) / cores, 3) if cores else 0.0
        record["stolen_share"] = round(stolen / cores, 3) if cores else 0.0
    if "warnings" in result:
        record["warnings"] = result["warnings"]
    return record


def spread(samples):
    """The nearest rank of each part."""
    ordered = sorted(samples)

    def at(part):
        return ordered[min(len(ordered) - 1, max(0, -(-int(part * 1000) * len(ordered) // 1000) - 1))]

    return {"count": len(ordered), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "max": ordered[-1]}
