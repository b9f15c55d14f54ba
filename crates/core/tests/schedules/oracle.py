"""An independent oracle of cron expressions: Python's zoneinfo and the most naive expansion there is.

Reads one case per line: {"cron", "zone", "from", "until"} in seconds since the epoch. Writes one list of instants per line.
Knows nothing of the Rust code; the two meet only in the comparison.
"""

import calendar
import functools
import json
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

NAMES = {
    "month": {n: i + 1 for i, n in enumerate("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split())},
    "weekday": {n: i for i, n in enumerate("SUN MON TUE WED THU FRI SAT".split())},
}
BOUNDS = {"second": (0, 59), "minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 7)}
ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@hourly": "0 * * * *",
}


def number(field, text):
    return NAMES.get(field, {}).get(text.upper()) if text.upper() in NAMES.get(field, {}) else int(text)


def values(field, text):
    low, high = BOUNDS[field]
    found = set()
    for item in text.split(","):
        body, _, step = item.partition("/")
        if body == "*":
            first, last = low, high
        elif "-" in body:
            first, last = (number(field, part) for part in body.split("-"))
            if field == "weekday" and last == 0 and first > 0:
                last = 7
        else:
            first = number(field, body)
            last = high if step else first
        if field == "weekday" and (body == "*" or (step and "-" not in body)):
            last = min(last, 6)
        found |= {v for v in range(first, last + 1) if (v - first) % int(step or 1) == 0}
    return {v % 7 for v in found} if field == "weekday" else found


class Cron:
    def __init__(self, text):
        fields = ALIASES.get(text, text).split()
        if len(fields) == 5:
            fields = ["0"] + fields
        second, minute, hour, self.day, month, self.weekday = fields
        self.fixed = not any("*" in f or "/" in f for f in (second, minute, hour))
        self.seconds = sorted(values("second", second))
        self.minutes, self.hours = sorted(values("minute", minute)), sorted(values("hour", hour))
        self.months = values("month", month)

    @functools.lru_cache(maxsize=None)
    def on(self, date):
        if date.month not in self.months:
            return False
        length = calendar.monthrange(date.year, date.month)[1]
        weekday = (date.weekday() + 1) % 7
        day = any(
            date.day == length if item.upper() == "L" else date.day in values("day", item)
            for item in self.day.split(",")
        )
        week = False
        for item in self.weekday.split(","):
            if "#" in item:
                name, nth = item.split("#")
                week |= number("weekday", name) % 7 == weekday and (date.day + 6) // 7 == int(nth)
            elif item.upper().endswith("L"):
                week |= number("weekday", item[:-1]) % 7 == weekday and date.day + 7 > length
            else:
                week |= weekday in values("weekday", item)
        either = not self.day.startswith("*") and not self.weekday.startswith("*")
        return (day or week) if either else (day and week)


@functools.lru_cache(maxsize=4)
def local_minutes(zone, start, until):
    place = ZoneInfo(zone)
    return [(at, datetime.fromtimestamp(at, place)) for at in range(start - start % 60, until + 60, 60)]


def elapsed(cron, zone, start, until):
    """Every instant whose local time is named."""
    hours, minutes = set(cron.hours), set(cron.minutes)
    for at, local in local_minutes(zone, start, until):
        if local.hour in hours and local.minute in minutes and cron.on(local.date()):
            for second in cron.seconds:
                yield at + second


def resolve(local, place):
    first = local.replace(tzinfo=place, fold=0).timestamp()
    if datetime.fromtimestamp(first, place).replace(tzinfo=None) == local:
        return int(first)
    # It does not exist: the first instant with the later offset.
    at = int(local.replace(tzinfo=place, fold=1).timestamp())
    after = datetime.fromtimestamp(int(first), place).utcoffset()
    at -= at % 60
    while datetime.fromtimestamp(at, place).utcoffset() != after:
        at += 60
    return at


def fixed(cron, zone, start, until):
    """Every local time that is named, each as one instant."""
    place = ZoneInfo(zone)
    date = datetime.fromtimestamp(start, timezone.utc).date() - timedelta(days=2)
    last = datetime.fromtimestamp(until, timezone.utc).date() + timedelta(days=2)
    while date <= last:
        if cron.on(date):
            for hour in cron.hours:
                for minute in cron.minutes:
                    for second in cron.seconds:
                        yield resolve(datetime(date.year, date.month, date.day, hour, minute, second), place)
        date += timedelta(days=1)


def main():
    for line in sys.stdin:
        case = json.loads(line)
        cron = Cron(case["cron"])
        expand = fixed if cron.fixed else elapsed
        found = {at for at in expand(cron, case["zone"], case["from"], case["until"]) if case["from"] < at <= case["until"]}
        print(json.dumps(sorted(found)))


main()
