"""Durations as people write them: ``30``, ``0.5``, ``"30s"``, ``"1h30m"``, ``timedelta(minutes=5)``."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Union

#: Seconds, a text such as ``"1h30m"``, or a timedelta.
Duration = Union[int, float, str, timedelta]

_UNITS = {"w": 604_800.0, "d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
_PART = re.compile(r"(\d+(?:\.\d+)?)(w|d|h|ms|us|m|s)")


def seconds(duration: Duration) -> float:
    """A duration in seconds.

    Raises ValueError for what is not a duration, or is negative.
    """
    if isinstance(duration, str):
        return _parsed(duration)
    if isinstance(duration, bool) or not isinstance(duration, (int, float, timedelta)):
        raise ValueError(f"{duration!r} is not a duration: give seconds, a text such as '30s', or a timedelta")
    value = duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{duration!r} is not a duration: it must be finite and not negative")
    return value


def _parsed(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    total, at, last = 0.0, 0, math.inf
    for part in _PART.finditer(text):
        unit = _UNITS[part[2]]
        # Each unit once, the largest first: `1m1h` is more likely a slip.
        if part.start() != at or unit >= last:
            break
        total, at, last = total + float(part[1]) * unit, part.end(), unit
    if at == 0 or at != len(text):
        raise ValueError(f"{text!r} is not a duration: write it as in '30s', '1h30m' or '250ms'")
    return total
