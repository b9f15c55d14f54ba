"""HyperQueue: its jobs are processes, so each runs `true`. Server and worker are those of its Python package, in this process;
they are gone with it, so `load` does nothing and `work` submits everything before the worker starts.

It has no handler that could be counted: that every task finished is what HyperQueue says itself.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from hyperqueue import Job, LocalCluster

import common


def work():
    with tempfile.TemporaryDirectory(prefix="bench-", dir=common.STORE or None) as directory:
        cluster = LocalCluster(server_dir=directory)
        client = cluster.client()
        job = Job()
        for _ in range(common.JOBS):
            job.program(["true"], stdout=None, stderr=None, stdin=b"x" * common.PAYLOAD_BYTES)
        submitted = client.submit(job)
        counts = {}
        common.mark("begin")
        began = time.monotonic()
        cluster.start_worker()
        failed = client.connection.wait_for_jobs((submitted.id,), counts.update)
        seconds = time.monotonic() - began
        common.mark("end")
        finished = sum(one["finished"] for one in counts.values())
        if failed or finished != common.JOBS:
            raise SystemExit(f"{finished} of {common.JOBS} tasks finished")
        return {"jobs": common.JOBS, "seconds": seconds, "verified": "counted"}


# It prints tables of its own; they go where errors go.
told = os.dup(1)
os.dup2(2, 1)
sys.stdout = os.fdopen(told, "w")

actions = {"prepare": dict, "load": dict, "work": work}
action = sys.argv[1] if len(sys.argv) > 1 else ""
if action not in actions:
    raise SystemExit(f"usage: driver {'|'.join(actions)}, settings in BENCH_… (see bench/README.md)")
common.say({**actions[action](), "action": action})
os._exit(0)
