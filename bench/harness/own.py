"""What `ganger bench` measured of Ganger alone: a table per workload, with every store in it."""

from . import summary

STORES = {"sqlite": "embedded", "postgres": "PostgreSQL", "postgres+redis": "with Redis"}
# Shown in this order; the rest is in the raw reports.
VALUES = {
    "share_of_ceiling": ("of the ceiling", "share"),
    "share_of_first": ("of the first row", "share"),
    "share_of_drain": ("of the drain", "share"),
    "share_of_one_key": ("of one key", "share"),
    "utilisation": ("of the threads' time used", "share"),
    "efficiency": ("of the threads' time used", "share"),
    "bytes_per_queued_job": ("bytes per waiting job", "number"),
    "bytes_per_worker": ("bytes per worker", "number"),
    "ready_seconds": ("s until ready", "number"),
    "dispatch_seconds": ("s until a worker has the next job", "number"),
    "commits_of_the_store": ("commits of the database long", "number"),
    "attempts_per_job": ("attempts per job", "number"),
}
# The times of a row: from the planned moment to the start and to the durable end, how late, how long it waited.
TIMES = {"start": "start", "recorded": "recorded", "late": "late", "wait": "wait", "request": "request"}
PROCESSES = ("server", "worker", "database", "redis")


def section(reports):
    """All of it, as Markdown; nothing without reports."""
    workloads = list(dict.fromkeys(workload for _, workload in reports))
    if not workloads:
        return None
    parts = ["### Every workload, on each store", _head(reports), "<details>\n<summary>The tables</summary>"]
    for workload in workloads:
        lines = [line for store in STORES for line in _lines(reports.get((store, workload)), STORES[store])]
        about = next(report["about"] for (_, name), report in reports.items() if name == workload)
        parts += [f"**`{workload}`**: {about}.", "\n".join([HEADER, *lines])]
    return "\n\n".join([*parts, "</details>"])


HEADER = "| | store | jobs/s | p50 · p99 | CPU | commits per job | store bytes per job | besides |\n|---|---|---|---|---|---|---|---|"


def _head(reports):
    took = {store: sum(report["took_seconds"] for (name, _), report in reports.items() if name == store) for store in STORES}
    told = ", ".join(f"{STORES[store]} {seconds / 60:.0f}" for store, seconds in took.items() if seconds)
    return (
        f"One run of `bench/workloads`, in minutes: {told}; {sum(took.values()) / 60:.0f} in all. CPU is in seconds per million jobs: server, worker, database, Redis, where there are such. "
        "Times of a schedule are from the planned moment to the start and to the durable end. A raw ceiling was measured right after the row above it; for `enqueue` it is plain insertions of the same rows."
    )


def _lines(report, store):
    if not report:
        return []
    return [_line(row, store) for row in report["rows"]] + _ceiling(report.get("ceiling"), store)


def _ceiling(found, store):
    if not found:
        return []
    took = found["transaction_us"]
    return [_cells([f"*raw ceiling, {found['batch']:,} jobs per transaction*", store, summary.number(found["jobs_per_second"]), f"transaction {_ms(took['p50'])} · {_ms(took['p99'])} ms", *["–"] * 4])]


def _line(row, store):
    cpu = row.get("cpu_seconds_per_million", {})
    each = " · ".join(summary.number(cpu[name]) for name in PROCESSES if cpu.get(name))
    written = row.get("store_bytes_per_job")
    commits = row.get("commits_per_job")
    cells = [row["label"], store, _rate(row), _times(row), each or "–", f"{commits:.2g}" if commits else "–", f"{written:,.0f}" if written else "–", _besides(row)]
    return _cells(cells)


def _rate(row):
    """Jobs per second; of several rounds the one in the middle, with the slowest and the fastest."""
    if not row.get("jobs_per_second"):
        return "–"
    values = row.get("values", {})
    told = [summary.number(values[name]) for name in ("slowest_per_second", "fastest_per_second") if name in values]
    return summary.number(row["jobs_per_second"]) + (f" ({'–'.join(told)})" if told else "")


def _cells(cells):
    return "| " + " | ".join(cells) + " |"


def _times(row):
    found = [(word, row["latency_us"][name]) for name, word in TIMES.items() if name in row.get("latency_us", {})]
    # How long requests take is told where it is the only time there is.
    told = [(word, times) for word, times in found if word != "request" or len(found) == 1]
    return "; ".join(f"{word} {_ms(times['p50'])} · {_ms(times['p99'])} ms" for word, times in told) or "–"


def _ms(us):
    return summary.number(us / 1000)


def _besides(row):
    values = row.get("values", {})
    told = [(summary.number(values[name]) if form == "number" else f"{values[name]:.0%}", word) for name, (word, form) in VALUES.items() if name in values]
    return ", ".join(f"{value} {word}" for value, word in told) or "–"
