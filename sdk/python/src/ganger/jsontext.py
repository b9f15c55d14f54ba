"""JSON text, strictly: what is not JSON is refused with the place where it sits, instead of being bent.

Some Python values that JSON does not know have one form each, which `fitting.py` reads again by the annotation:

- dataclasses and pydantic models: an object of their fields;
- datetime, date, time: ISO 8601, in UTC with a ``Z`` if a datetime has a time zone;
- Enum: its value; UUID: its text; Decimal: its digits as a text, so that none is lost.
"""

from __future__ import annotations

import dataclasses
import json
import math
from datetime import date, datetime, time, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from . import limits


class NotJson(TypeError):
    """A value that JSON cannot carry."""


def encode(value: Any) -> str:
    """The value as JSON text.

    Raises NotJson, naming the place, for anything but None, bool, int, float, str, list, tuple, dict with text keys,
    and the values that have a form; and for numbers that are not finite.
    """
    return json.dumps(_plain(value, "", 0), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decode(text: str) -> Any:
    """The value of JSON text; an empty text is null. Raises ValueError."""
    return json.loads(text, parse_constant=_refuse) if text else None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _plain(value: Any, place: str, depth: int) -> Any:
    """The value, made of what JSON knows."""
    if depth > limits.JSON_DEPTH:
        raise NotJson(f"{_at(place)} is nested deeper than {limits.JSON_DEPTH} levels")
    if isinstance(value, Enum):
        # Before text and numbers, which an Enum may be as well.
        return _plain(value.value, place, depth)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        _check_text(value, place)
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"{_at(place)} is {value}, which JSON cannot carry")
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return _object(value, place, depth)
    return _plain(_form(value, place), place, depth)


def _object(value: dict[Any, Any], place: str, depth: int) -> dict[str, Any]:
    members = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise NotJson(f"{_at(place)} has the key {key!r}; keys in JSON are texts")
        _check_text(key, place)
        members[key] = _plain(item, f"{place}.{key}" if place else key, depth + 1)
    return members


def _form(value: Any, place: str) -> Any:
    """A value that JSON does not know, in its documented form."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NotJson(f"{_at(place)} is {value}, which JSON cannot carry")
        return str(value)
    if is_model(type(value)):
        return value.model_dump(mode="json")
    raise NotJson(f"{_at(place)} is a {type(value).__name__}, which JSON cannot carry")


def moment(value: datetime) -> str:
    """A datetime in its form: in UTC, or without a time zone if it has none."""
    if value.tzinfo is None:
        return value.isoformat()
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def is_model(kind: Any) -> bool:
    """Whether it is a model of pydantic, which need not be installed."""
    return isinstance(kind, type) and hasattr(kind, "model_dump") and hasattr(kind, "model_validate")


def _check_text(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise NotJson(f"{_at(place)} has half a surrogate pair, which UTF-8 cannot carry") from None


def _at(place: str) -> str:
    return f"`{place}`" if place else "the value"
