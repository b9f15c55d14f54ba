"""The stores of a run: started when they are first needed, kept where they can be emptied, stopped at the end."""

import contextlib

from . import servers

# These cannot be emptied for the next, or not without a trace, so each measurement gets a new one.
ANEW = ("beanstalkd-memory", "beanstalkd-f0", "faktory")


def _make(kind, parent):
    match kind:
        case "postgres":
            return servers.Postgres(parent).start()
        case "redis-always" | "redis-everysec":
            return servers.Redis(parent, kind.removeprefix("redis-")).start()
        case "beanstalkd-memory" | "beanstalkd-f0":
            return servers.Beanstalkd(parent, durable=kind.endswith("f0")).start()
        case "faktory":
            return servers.Faktory(parent, "faktory").start()
        case "disk":
            return servers.Disk(parent)
    raise ValueError(f"there is no store {kind}")


class Stores:
    """All that were started so far."""

    def __init__(self, parent):
        self.parent = parent
        self._kept = {}

    @contextlib.contextmanager
    def open(self, kind):
        """A store with nothing in it, and its address."""
        if kind in ANEW:
            server = _make(kind, self.parent)
            try:
                yield server, server.fresh()
            finally:
                server.stop()
            return
        if kind not in self._kept:
            self._kept[kind] = _make(kind, self.parent)
        server = self._kept[kind]
        try:
            yield server, server.fresh()
        finally:
            server.forget()

    def stop(self):
        for server in self._kept.values():
            server.stop()
        self._kept.clear()
