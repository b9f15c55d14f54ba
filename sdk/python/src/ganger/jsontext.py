"""JSON text, strictly: what is not JSON is refused with the place where it sits, instead of being bent."""

from __future__ import annotations

import json
import math
from typing import Any

from . import limits


class NotJson(TypeError):
    """A value that JSON cannot carry."""


def encode(value: Any) -> str:
    """The value as JSON text.

    Raises NotJson, naming the place, for anything but None, bool, int, float, str, list, tuple and dict with
    text keys, and for numbers that are not finite.
    """
    _check(value, "", 0)
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decode(text: str) -> Any:
    """The value of JSON text; an empty text is null. Raises ValueError."""
    return json.loads(text, parse_constant=_refuse) if text else None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _check(value: Any, place: str, depth: int) -> None:
    if depth > limits.JSON_DEPTH:
        raise NotJson(f"{_at(place)} is nested deeper than {limits.JSON_DEPTH} levels")
    if value is None or isinstance(value, (bool, int)):
        return
    if isinstance(value, str):
        _check_text(value, place)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"{_at(place)} is {value}, which JSON cannot carry")
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _check(item, f"{place}[{index}]", depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotJson(f"{_at(place)} has the key {key!r}; keys in JSON are texts")
            _check_text(key, place)
            _check(item, f"{place}.{key}" if place else key, depth + 1)
    else:
        raise NotJson(f"{_at(place)} is a {type(value).__name__}, which JSON cannot carry")


def _check_text(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotJson(f"{_at(place)} has half a surrogate pair, which UTF-8 cannot carry") from None


def _at(place: str) -> str:
    return f"`{place}`" if place else "the value"
