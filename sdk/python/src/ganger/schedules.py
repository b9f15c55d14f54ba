"""Schedules: rules that submit a job at every instant they name."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from typing_extensions import Literal, Protocol, TypedDict, Unpack

from . import jsontext
from .calls import Call
from .durations import Duration, seconds
from .errors import BadArguments
from .model import NewJob, check_name, moment, read_moment

T = TypeVar("T")

#: Schedules of one page of a list.
PAGE = 500


class ScheduleOptions(TypedDict, total=False):
    """When a schedule fires (`cron`, `every` or `at`, one of them), and how."""

    #: Five fields (minute, hour, day, month, weekday), six with seconds first, or ``@daily`` and its like.
    cron: str
    #: How long after each instant the next one comes, from a second on.
    every: Duration
    #: The only instant. A naive datetime is local time.
    at: datetime
    #: IANA name of the zone of `cron`; ``UTC`` if not given.
    time_zone: str
    #: It fires nothing before.
    starts_at: datetime
    #: It fires nothing after.
    ends_at: datetime
    #: What becomes of instants at which nobody was there.
    misfire: Literal["fire_once", "fire_all", "skip"]
    #: With ``fire_all``: how far back.
    misfire_window: Duration
    #: What happens while a job of it is not final.
    overlap: Literal["skip", "allow", "queue_one", "cancel_previous"]
    #: Each job waits a while that is its own, up to this.
    jitter: Duration
    #: It fires nothing until it is resumed. Left out, a schedule that exists stays as it is.
    paused: bool


_DURATIONS = ("every", "misfire_window", "jitter")
_MOMENTS = ("at", "starts_at", "ends_at")


@dataclass(frozen=True)
class Schedule:
    """A schedule as the server shows it."""

    id: str
    name: str
    paused: bool
    #: The kind of the jobs that it submits.
    kind: str
    #: When it fires next, if it does.
    next: datetime | None
    #: Its jobs that are not final.
    live: Sequence[str]
    #: Everything that the server told.
    fields: Mapping[str, Any] = field(repr=False, default_factory=dict)

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Schedule:
        """A schedule from the server's answer."""
        status = fields.get("status") or {}
        return Schedule(
            id=fields["id"],
            name=fields["name"],
            paused=bool(fields.get("paused")),
            kind=fields["job"]["kind"],
            next=read_moment(status.get("next")),
            live=tuple(status.get("live") or ()),
            fields=fields,
        )


@dataclass(frozen=True)
class Occurrence:
    """One due instant of a schedule, and what became of it."""

    due_at: datetime | None
    state: Literal["fired", "waiting", "skipped"]
    cause: Literal["schedule", "manual", "backfill"]
    #: The job that it made, or that was in its way.
    job: str | None
    #: Why it was skipped.
    reason: str | None

    @staticmethod
    def of(fields: Mapping[str, Any]) -> Occurrence:
        """An occurrence from the server's answer."""
        return Occurrence(
            due_at=read_moment(fields.get("due_at")),
            state=fields["state"],
            cause=fields["cause"],
            job=fields.get("job"),
            reason=fields.get("reason"),
        )


class Asks(Protocol):
    """How a client asks."""

    def __call__(self, call: Call[T], /) -> T:
        """The answer to a request."""


class AsksLater(Protocol):
    """How a client with an event loop asks."""

    def __call__(self, call: Call[T], /) -> Awaitable[T]:
        """The answer to a request."""


class Schedules:
    """The schedules of a server: ``client.schedules``."""

    def __init__(self, ask: Asks) -> None:
        self._ask = ask

    def put(self, name: str, job: NewJob, **options: Unpack[ScheduleOptions]) -> Schedule:
        """Makes or replaces a schedule. The same again changes nothing."""
        return self._ask(_put(name, job, options))

    def get(self, name: str) -> Schedule:
        """One schedule. Raises NotFound."""
        return self._ask(_one("GET", name))

    def list(self) -> list[Schedule]:
        """Every schedule, by name."""
        found: list[Schedule] = []
        cursor: str | None = ""
        while cursor is not None:
            page, cursor = self._ask(_page(cursor))
            found += page
        return found

    def pause(self, name: str) -> Schedule:
        """It fires nothing until it is resumed."""
        return self._ask(_one("POST", name, ":pause"))

    def resume(self, name: str) -> Schedule:
        """It fires again; what was due meanwhile stays skipped."""
        return self._ask(_one("POST", name, ":resume"))

    def run(self, name: str) -> Occurrence:
        """Fires it now, whatever it says. Never sent again where it may have fired already."""
        return self._ask(_run(name))

    def history(self, name: str, limit: int = 50) -> Sequence[Occurrence]:
        """What became of its occurrences, the newest first."""
        return self._ask(_history(name, limit))

    def delete(self, name: str) -> None:
        """Deletes it with its ledger; its jobs stay. Raises NotFound."""
        return self._ask(_delete(name))


class AsyncSchedules:
    """The schedules of a server: ``client.schedules`` of an :class:`AsyncClient`."""

    def __init__(self, ask: AsksLater) -> None:
        self._ask = ask

    async def put(self, name: str, job: NewJob, **options: Unpack[ScheduleOptions]) -> Schedule:
        """Makes or replaces a schedule. The same again changes nothing."""
        return await self._ask(_put(name, job, options))

    async def get(self, name: str) -> Schedule:
        """One schedule. Raises NotFound."""
        return await self._ask(_one("GET", name))

    async def list(self) -> list[Schedule]:
        """Every schedule, by name."""
        found: list[Schedule] = []
        cursor: str | None = ""
        while cursor is not None:
            page, cursor = await self._ask(_page(cursor))
            found += page
        return found

    async def pause(self, name: str) -> Schedule:
        """It fires nothing until it is resumed."""
        return await self._ask(_one("POST", name, ":pause"))

    async def resume(self, name: str) -> Schedule:
        """It fires again; what was due meanwhile stays skipped."""
        return await self._ask(_one("POST", name, ":resume"))

    async def run(self, name: str) -> Occurrence:
        """Fires it now, whatever it says. Never sent again where it may have fired already."""
        return await self._ask(_run(name))

    async def history(self, name: str, limit: int = 50) -> Sequence[Occurrence]:
        """What became of its occurrences, the newest first."""
        return await self._ask(_history(name, limit))

    async def delete(self, name: str) -> None:
        """Deletes it with its ledger; its jobs stay. Raises NotFound."""
        return await self._ask(_delete(name))


def _path(name: str) -> str:
    check_name("schedule", name)
    return f"/v1/schedules/{name}"


def check_schedule(name: str, options: ScheduleOptions) -> str:
    """Raises BadArguments for a schedule that cannot be. Its options as JSON."""
    check_name("schedule", name)
    if sum(options.get(when) is not None for when in ("cron", "every", "at")) != 1:
        raise BadArguments(f"schedule {name} needs one of cron, every and at")
    try:
        return jsontext.encode(_wire(options))
    except (TypeError, ValueError) as error:
        raise BadArguments(f"cannot set schedule {name}: {error}") from None


def _put(name: str, job: NewJob, options: ScheduleOptions) -> Call[Schedule]:
    path, fields = _path(name), check_schedule(name, options)
    # The payload of the job travels byte for byte.
    body = f'{fields[:-1]},"job":{job.text()}}}'
    return Call("PUT", path, _schedule, body=body.encode("utf-8"))


def _wire(options: Mapping[str, Any]) -> dict[str, Any]:
    wire: dict[str, Any] = {}
    for name, value in options.items():
        if name not in ScheduleOptions.__annotations__:
            raise TypeError(f"there is no option `{name}`; known are {', '.join(ScheduleOptions.__annotations__)}")
        if value is None:
            continue
        if name in _DURATIONS:
            wire[name] = seconds(value)
        elif name in _MOMENTS:
            wire[name] = moment(value)
        else:
            wire[name] = value
    return wire


def _one(method: str, name: str, verb: str = "") -> Call[Schedule]:
    return Call(method, _path(name) + verb, _schedule, body=b"" if verb else None)


def _run(name: str) -> Call[Occurrence]:
    def read(body: bytes) -> Occurrence:
        return Occurrence.of(json.loads(body)["occurrences"][0])

    return Call("POST", _path(name) + ":run", read, body=b"", once=True)


def _history(name: str, limit: int) -> Call[list[Occurrence]]:
    def read(body: bytes) -> list[Occurrence]:
        return [Occurrence.of(item) for item in json.loads(body)["items"]]

    return Call("GET", _path(name) + "/occurrences", read, query=[("limit", str(limit))])


def _delete(name: str) -> Call[None]:
    return Call("DELETE", _path(name), lambda _: None)


def _page(cursor: str) -> Call[tuple[list[Schedule], str | None]]:
    def read(body: bytes) -> tuple[list[Schedule], str | None]:
        fields = json.loads(body)
        return [Schedule.of(item) for item in fields["items"]], fields.get("next_cursor")

    query = [("limit", str(PAGE)), *([("cursor", cursor)] if cursor else [])]
    return Call("GET", "/v1/schedules", read, query=query)


def _schedule(body: bytes) -> Schedule:
    return Schedule.of(json.loads(body))
