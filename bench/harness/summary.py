"""Medians and ranges of the raw results, and how two of them compare."""

import statistics
from dataclasses import dataclass, field

from . import machine, results

# Differences below this are within what the same code shows from run to run.
EQUAL = 0.15


@dataclass
class Row:
    """All good runs of one contender in one workload."""

    contender: str
    workload: str
    label: str
    group: str
    durability: str
    records: list = field(default_factory=list)

    @property
    def is_ganger(self):
        return self.records[0]["peer"] == "ganger"

    def values(self, what=None):
        if self.workload == "ping":
            return [record["latency_us"]["start"][what or "p50"] for record in self.records]
        return [record["jobs_per_second"] for record in self.records]

    def median(self, what=None):
        return statistics.median(self.values(what))

    def range(self, what=None):
        return min(self.values(what)), max(self.values(what))

    def cpu(self):
        """Median CPU seconds per million jobs, by process."""
        found = [record.get("cpu_seconds_per_million", {}) for record in self.records]
        return {name: statistics.median(one.get(name, 0) for one in found) for name in sorted({name for one in found for name in one})}

    def bytes_per_job(self):
        found = [record["store_bytes_per_job"] for record in self.records if "store_bytes_per_job" in record]
        return statistics.median(found) if found else None

    def busy(self):
        """Runs in which others took too much of the machine."""
        return sum(record.get("others_share", 0) > machine.MOST_BUSY for record in self.records)


def rows(records):
    """By workload and contender; what failed in every run is not among them."""
    found = {}
    for record in filter(results.is_good, records):
        key = record["workload"], record["contender"]
        if key not in found:
            found[key] = Row(record["contender"], record["workload"], record["label"], record["group"], record["durability"])
        found[key].records.append(record)
    return found


def failures(records, found):
    """Contenders that failed in every run of a workload, with the last reason."""
    return {
        (record["workload"], record["contender"]): record.get("error", "it was held still each time")
        for record in records
        if (record["workload"], record["contender"]) not in found
    }


def best(found, workload, group, durability=None):
    """The best peer of a group: the highest rate, or the earliest start."""
    peers = [
        row
        for row in found.values()
        if row.workload == workload and row.group == group and not row.is_ganger and durability in (None, row.durability)
    ]
    if not peers:
        return None
    return min(peers, key=Row.median) if workload == "ping" else max(peers, key=Row.median)


def advantage(ours, theirs):
    """How many times as good ours is: above 1 is better, whether it is a rate or a time."""
    ratio = ours.median() / theirs.median()
    return 1 / ratio if ours.workload == "ping" else ratio


def is_equal(ratio):
    return 1 / (1 + EQUAL) < ratio < 1 + EQUAL


def in_words(ratio, workload):
    if is_equal(ratio):
        return "equal"
    better, worse = ("earlier", "later") if workload == "ping" else ("as fast", "as fast")
    if workload == "ping":
        return f"{number(ratio)} times {better}" if ratio > 1 else f"{number(1 / ratio)} times {worse}"
    return f"{number(ratio)} times {better}"


def number(value):
    """Three digits, with commas."""
    if value >= 100:
        digits = max(0, len(str(int(value))) - 3)
        return f"{round(value / 10**digits) * 10**digits:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
