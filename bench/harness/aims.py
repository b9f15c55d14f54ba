"""The aims of the benchmark, and which of them hold in these results."""

from dataclasses import dataclass

from . import summary


@dataclass(frozen=True)
class Verdict:
    """One line of the table: what was aimed at, and what was found."""

    aim: str
    found: str
    # True, False, or None where it was not measured.
    holds: bool | None

    def word(self):
        return {True: "**holds**", False: "**falls short**", None: "not measured"}[self.holds]


def verdicts(rows, reports):
    """`reports` are those of `ganger bench`, by store and workload."""
    return [
        _ratio(rows, "drain", "ganger", "postgres", "D2", 1.0, "Drain on PostgreSQL, full history, as fast as the best peer there"),
        _ratio(rows, "drain", "ganger-no-history", "postgres", "D2", 1.5, "… without history 1.5 times as fast"),
        _share(reports, "postgres", 0.60, "… at least 60 % of the raw ceiling of PostgreSQL"),
        _ratio(rows, "drain", "ganger-embedded", "embedded", "D2", 3.0, "Embedded drain 3 times as fast as every peer that is durable on its own store"),
        _against(rows, "drain", "ganger-embedded", ["beanstalkd-memory"], 1.0, "… as fast as beanstalkd in memory, with its client"),
        _against(rows, "drain", "ganger-embedded", ["beanstalkd-pipelined-memory"], 1.0, "… as fast as beanstalkd in memory, driven by hand without waiting for answers"),
        _share(reports, "sqlite", 0.45, "… at least 45 % of the raw ceiling of SQLite"),
        _against(rows, "drain", "ganger-redis", ["bullmq+always"], 3.0, "Drain with Redis 3 times as fast as BullMQ, durable as ours (fsync always)"),
        _against(rows, "drain", "ganger-redis", ["bullmq+everysec"], 3.0, "… and as BullMQ that may lose a second (fsync everysec)"),
        *(_ratio(rows, "batch", name, group, "D2", 1.3, f"Batch enqueue 1.3 times as fast as the best peer on {place}") for name, group, place in _STORES),
        *(line for name, group, place in _STORES for line in _single(rows, name, group, place)),
        *(_start(rows, name, group, f"Idle start, p50, at most 60 % of the best peer on {place}") for name, group, place in _STORES),
        *_own(reports),
    ]


_STORES = (("ganger", "postgres", "PostgreSQL"), ("ganger-redis", "redis", "Redis, same durability"), ("ganger-embedded", "embedded", "its own store, same durability"))


def _single(rows, name, group, place):
    yield _ratio(rows, "single", name, group, "D2", 2.0, f"Single enqueue from 8 clients 2 times as fast as the best peer on {place}")
    if group == "redis":
        yield _ratio(rows, "single", "ganger-buffered", group, "D2", 2.0, "… where Redis answers for the jobs, as for its peers (buffered)")


def _ratio(rows, workload, name, group, durability, aim, text):
    return _compare(rows.get((workload, name)), summary.best(rows, workload, group, durability), aim, text)


def _against(rows, workload, name, peers, aim, text):
    known = [rows[workload, peer] for peer in peers if (workload, peer) in rows]
    return _compare(rows.get((workload, name)), max(known, key=summary.Row.median, default=None), aim, text)


def _compare(ours, theirs, aim, text):
    if not ours or not theirs:
        return Verdict(text, "–", None)
    ratio = summary.advantage(ours, theirs)
    return Verdict(text, f"{summary.number(ratio)} times ({theirs.label}){_close(ratio / aim)}", ratio >= aim)


def _start(rows, name, group, text):
    ours, theirs = rows.get(("ping", name)), summary.best(rows, "ping", group, "D2")
    if not ours or not theirs:
        return Verdict(text, "–", None)
    share = ours.median() / theirs.median()
    return Verdict(text, f"{share:.0%} ({theirs.label}){_close(0.6 / share)}", share <= 0.6)


def _close(ratio):
    return ", within 15 % of the aim" if summary.is_equal(ratio) else ""


def _share(reports, store, aim, text):
    value = _value(reports, store, "drain", "drain", "share_of_ceiling")
    return Verdict(text, "–" if value is None else f"{value:.0%}{_close(value / aim)}", None if value is None else value >= aim)


def _own(reports):
    """What `ganger bench` measured of itself: an aim holds if it does on every store."""

    def each(workload, row, value, **params):
        found = {store: _value(reports, store, workload, row, value, **params) for store in ("sqlite", "postgres", "postgres+redis")}
        return {store: value for store, value in found.items() if value is not None}

    lines = (
        ("1 M queued keeps 90 % of the rate at 10 k", each("depth", "drain_at_depth", "share_of_first", waiting=1_000_000), 0.9, True, "{:.0%}"),
        ("10,000 workers keep 80 % of the rate of 10", each("fleet", "fleet", "share_of_first", workers=10_000), 0.8, True, "{:.0%}"),
        ("At most 160 bytes of server memory per queued job", each("depth", "memory", "bytes_per_queued_job", waiting=1_000_000), 160, False, "{:.0f} bytes"),
    )
    for text, found, aim, at_least, form in lines:
        told = ", ".join(f"{form.format(value)} ({store})" for store, value in found.items())
        holds = all(value >= aim if at_least else value <= aim for value in found.values())
        yield Verdict(text, told or "–", holds if found else None)


def _value(reports, store, workload, name, value, **params):
    for row in reports.get((store, workload), {}).get("rows", []):
        if row.get("name") == name and all(row.get("params", {}).get(key) == wanted for key, wanted in params.items()):
            return row.get("values", {}).get(value)
    return None
