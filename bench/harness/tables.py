"""The generated part of docs/benchmarks.md."""

from . import aims, own, summary
from .contenders import CLASSES
from .servers import POSTGRES_SETTINGS

BEGIN = "<!-- bench/report writes from here … -->"
END = "<!-- … to here. What stands around it is written by hand. -->"

WORKLOADS = {
    "drain": ("Drain", "Jobs are there before the worker starts. The clock runs from the first handler until no job is left in the store, and each was handled exactly once."),
    "batch": ("Enqueue, 1,000 per request", "Four clients. Only who has a request for many jobs."),
    "single": ("Enqueue one by one", "Eight clients, each waits for its answer before it sends the next."),
    "ping": ("Idle start", "One job each 100 ms by a fixed schedule, while nothing else happens: from the scheduled moment to the start of its handler."),
}
GROUPS = {
    "postgres": ("On PostgreSQL", "ganger"),
    "redis": ("With Redis", "ganger-redis"),
    "embedded": ("With a store of its own", "ganger-embedded"),
}


def page(records, reports, missing, images, source):
    """All of it, as Markdown."""
    rows = summary.rows(records)
    parts = [BEGIN, "## Ganger and its peers", _head(records, rows, source), _classes()]
    parts += [f"![{title}](images/{file})" for file, title in images]
    for workload, (title, text) in WORKLOADS.items():
        tables = [_table(rows, workload, group) for group in GROUPS]
        if any(tables):
            parts += [f"### {title}", text, *filter(None, tables)]
    parts += [_aims(rows, reports), _bad(rows), own.section(reports), _settings(records), _missing(missing, summary.failures(records, rows)), END]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(records, rows, source):
    first, last = min(record["started_at"] for record in records), max(record["started_at"] for record in records)
    about = records[-1]["machine"]
    runs = sorted({len(row.records) for row in rows.values()})
    loads = [record["load_before"] for record in records]
    busy = sum(row.busy() for row in rows.values())
    count = sum(len(row.records) for row in rows.values())
    text = (
        f"Written by `bench/report` from `bench/results/{source}`: {count} measurements, {first[:16].replace('T', ' ')} to {last[:16].replace('T', ' ')} UTC, "
        f"{_runs(runs)}. {about['cpu']}, {about['cores']} cores, {about['memory_bytes'] / 2**30:.0f} GiB, "
        f"Linux {about['kernel']}; load average before a measurement {min(loads):.1f} to {max(loads):.1f}, most of it from the measurement before. "
        "Server, worker, clients and database share these cores. Jobs do nothing; their payload is 100 bytes of JSON. "
        "Figures are medians, with the least and the most in brackets. Differences under 15 % are called equal."
    )
    if busy:
        text += f"\n\n**In {busy} of the {count} measurements others took more than 15 % of the machine: believe the order of magnitude, not the figure.**"
    if runs[0] < 3:
        text += "\n\n**Some rows have fewer than three runs: they are a first look.**"
    return text


def _runs(counts):
    least, most = counts[0], counts[-1]
    if least == most:
        return "one run each" if most == 1 else f"{most} runs each, in turn"
    return f"{least} to {most} runs each, in turn"


def _classes():
    told = "; ".join(f"{name}: {meaning}" for name, meaning in CLASSES.items())
    return f"Classes of durability, to be compared only with the same: {told}. Ganger is D2 everywhere. CPU is in seconds per million jobs, of all processes together and then by process."


def _table(rows, workload, group):
    title, name = GROUPS[group]
    found = [row for row in rows.values() if row.workload == workload and row.group == group]
    if not [row for row in found if not row.is_ganger] or not found:
        return None
    ours = rows.get((workload, name))
    found.sort(key=lambda row: row.median() if workload == "ping" else -row.median())
    if workload == "ping":
        lines = [f"| {title} | class | p50 | p99 | Ganger starts |", "|---|---|---|---|---|"]
    else:
        lines = [f"| {title} | class | jobs/s | Ganger is | CPU | store bytes per job |", "|---|---|---|---|---|---|"]
    lines += [_line(row, ours) for row in found]
    return "\n".join(lines)


def _line(row, ours):
    compared = "–" if ours is None or row.is_ganger else summary.in_words(summary.advantage(ours, row), row.workload)
    mark = " (busy)" if row.busy() else ""
    cells = [row.label + mark, row.durability]
    if row.workload == "ping":
        return _cells([*cells, _span(row, "p50", _ms), _span(row, "p99", _ms), compared])
    cpu = row.cpu()
    each = ", ".join(f"{name} {summary.number(used)}" for name, used in cpu.items())
    written = row.bytes_per_job()
    return _cells([*cells, _span(row, None, summary.number), compared, f"{summary.number(sum(cpu.values()))} ({each})" if cpu else "–", "–" if written is None else f"{written:,.0f}"])


def _span(row, what, form):
    least, most = row.range(what)
    return f"{form(row.median(what))} ({form(least)}–{form(most)})"


def _ms(us):
    return f"{us / 1000:.2f} ms" if us < 10_000 else f"{us / 1000:.0f} ms"


def _cells(cells):
    return "| " + " | ".join(cells) + " |"


def _aims(rows, reports):
    lines = ["### What was aimed at", "| aim | found | |\n|---|---|---|"]
    told = [_cells([verdict.aim, verdict.found, verdict.word()]) for verdict in aims.verdicts(rows, reports)]
    return "\n\n".join(lines) + "\n" + "\n".join(told)


def _bad(rows):
    """The comparison in which Ganger looks worst, whatever the class."""
    compared = [
        (summary.advantage(rows[row.workload, GROUPS[row.group][1]], row), row)
        for row in rows.values()
        if not row.is_ganger and (row.workload, GROUPS[row.group][1]) in rows
    ]
    if not compared:
        return None
    ratio, row = min(compared, key=lambda pair: pair[0])
    ours = rows[row.workload, GROUPS[row.group][1]]
    what = WORKLOADS[row.workload][0].lower()
    form = _ms if row.workload == "ping" else (lambda value: f"{summary.number(value)} jobs/s")
    same = "" if row.durability == ours.durability else f" {row.label} is {row.durability}: {CLASSES[row.durability]}."
    return f"### Where Ganger is worst in this comparison\n\n{what.capitalize()}: {form(ours.median())} beside {form(row.median())} of {row.label}, {summary.number(ratio)} times as good.{same} One job sent after the other costs a commit each: see below."


def _settings(records):
    """Versions, settings and contract of everybody, once each."""
    last = {record["contender"]: record for record in records}
    lines = ["### Versions, settings, and what else is different", f"PostgreSQL runs with `{'`, `'.join(POSTGRES_SETTINGS)}`, otherwise as it comes. What the store of a row is, is in its settings.", ""]
    table = ["| | version | store | settings | contract |", "|---|---|---|---|---|"]
    for record in last.values():
        cells = [record["label"], record.get("version") or "–", record.get("store_version") or "–", record["settings"], record["contract"] or "–"]
        table.append(_cells([cell.replace("|", "\\|") for cell in cells]))
    return "\n\n".join(lines[:2]) + "\n\n" + "\n".join(table)


def _missing(missing, failed):
    lines = [f"- {name}: {why}" for name, why in sorted({**missing.get("peers", {}), **missing.get("rows", {})}.items())]
    lines += [f"- {contender}, {workload}: failed: {why}" for (workload, contender), why in sorted(failed.items())]
    return "### Not measured\n\n" + "\n".join(lines) if lines else None


def replace(document, generated):
    """Puts the generated part between its marks, or at the end if there are none yet."""
    before, found, rest = document.partition(BEGIN)
    if not found:
        return document.rstrip("\n") + "\n\n" + generated
    inside, closed, after = rest.partition(END)
    if not closed:
        raise ValueError(f"`{END}` is missing")
    return before + generated.rstrip("\n") + after
