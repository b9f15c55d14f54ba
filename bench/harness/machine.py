"""What this machine is, and what else it does while something is measured. All of it from /proc."""

import os
import threading
import time
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
# How long the machine is watched before the first measurement.
WATCH_SECONDS = 2.0
# More of all cores than this is too much for figures that are to be believed.
MOST_BUSY = 0.15
# A gap of this length in our own clock means that we were held still, and what was measured with us.
MOST_GAP_SECONDS = 0.5


def describe():
    """Processor, cores, memory, kernel."""
    cpu = next((line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    memory = next((int(line.split()[1]) * 1024 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), None)
    return {"cpu": cpu, "cores": os.cpu_count(), "memory_bytes": memory, "kernel": os.uname().release}


def load():
    """The load average over a minute."""
    return os.getloadavg()[0]


def busy_seconds():
    """CPU seconds that were used so far on all cores, and those that the hypervisor gave to others."""
    fields = [int(field) for field in _lines("/proc/stat")[0].split()[1:9]]
    user, nice, system, _idle, _wait, irq, soft, steal = fields
    return (user + nice + system + irq + soft) / TICK, steal / TICK


def busy_share(seconds=WATCH_SECONDS):
    """Which part of all cores is in use, by watching for a moment."""
    before, _ = busy_seconds()
    began = time.monotonic()
    time.sleep(seconds)
    return (busy_seconds()[0] - before) / ((time.monotonic() - began) * os.cpu_count())


def cpu_seconds(roots):
    """User and system time of these processes and all that came from each, those that ended included, by name."""
    stats = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                # The name stands in brackets and may hold anything; fields are counted after it.
                fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            stats[int(entry)] = (int(fields[1]), sum(map(int, fields[11:15])))
    return {name: _family_ticks(root, stats) / TICK for name, root in roots.items()}


def _family_ticks(root, stats):
    family, grown = {root}, True
    while grown:
        children = {pid for pid, (parent, _) in stats.items() if parent in family} - family
        family |= children
        grown = bool(children)
    return sum(stats[pid][1] for pid in family if pid in stats)


class Heart:
    """Beats while something is measured, and tells the longest time between two beats."""

    def __init__(self):
        self.longest = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def _beat(self):
        last = time.monotonic()
        while not self._end.wait(0.05):
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            last = now

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    @property
    def held(self):
        return self.longest > MOST_GAP_SECONDS


def _lines(path):
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
