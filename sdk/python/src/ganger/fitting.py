"""Whether a JSON value fits an annotation, as far as annotations of simple types can tell.

Checked are None, bool, int, float, str, Literal, unions, lists, tuples, dicts and what is made of them. Types that
have a form in JSON (see `jsontext.py`) are made from it. Whatever else an annotation says is the handler's business.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import re
import sys
import typing
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any, NamedTuple, Union
from uuid import UUID

import typing_extensions

from .jsontext import is_model

_UNIONS: tuple[Any, ...] = (Union,)
if sys.version_info >= (3, 10):
    import types

    _UNIONS = (Union, types.UnionType)

_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Misfit(TypeError):
    """A value that does not fit."""

    def __init__(self, place: str, expected: str, value: Any, why: str = "") -> None:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        super().__init__(f"`{place}` must be {expected}, not {shown}" + (f": {why}" if why else ""))


def fit(annotation: Any, value: Any, place: str) -> Any:
    """The value, as what the annotation says: lists made tuples, texts made dates, and so on. Raises Misfit."""
    annotation = _plain(annotation)
    simple = _SIMPLE.get(annotation) if isinstance(annotation, collections.abc.Hashable) else None
    if simple is not None:
        name, test = simple
        if not test(value):
            raise Misfit(place, name, value)
        return value
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _UNIONS:
        return _union(annotation, arguments, value, place)
    if origin is typing.Literal or origin is typing_extensions.Literal:
        if not any(value == known and type(value) is type(known) for known in arguments):
            raise Misfit(place, "one of " + ", ".join(map(repr, arguments)), value)
        return value
    if origin is tuple or annotation is tuple:
        return _tuple(arguments, value, place)
    if origin in _LISTS or annotation is list:
        return _list(arguments, value, place)
    if origin in _DICTS or annotation is dict or typing_extensions.is_typeddict(annotation):
        return _dict(arguments, value, place)
    return _made(annotation, value, place) if isinstance(annotation, type) else value


def _made(kind: type, value: Any, place: str) -> Any:
    """A value of a type that has a form in JSON; other types are not checked."""
    form = next((form for form in _FORMS if form.kind is kind), None)
    if form is None and not (dataclasses.is_dataclass(kind) or issubclass(kind, Enum) or is_model(kind)):
        return value
    # A datetime is a date to Python, but not in its form.
    if isinstance(value, kind) and not (kind is date and isinstance(value, datetime)):
        return value
    try:
        if form is not None:
            return form.read(value, place)
        if dataclasses.is_dataclass(kind):
            return _dataclass(kind, value, place)
        return kind(value) if issubclass(kind, Enum) else kind.model_validate(value)  # type: ignore[attr-defined]
    except (ValueError, InvalidOperation) as error:
        # What pydantic says has a line for each field.
        raise Misfit(place, f"a {kind.__name__}", value, str(error).replace("\n", " ")) from None


def _dataclass(kind: type, value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise Misfit(place, f"an object for {kind.__name__}", value)
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in dataclasses.fields(kind) if field.init}
    for name in value:
        if name not in known:
            raise Misfit(f"{place}.{name}", f"left out: {kind.__name__} has no such field", value[name])
    for name, field in known.items():
        no_default = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if no_default and name not in value:
            raise Misfit(f"{place}.{name}", "given", None)
    return kind(**{name: fit(hints.get(name, Any), item, f"{place}.{name}") for name, item in value.items()})


def _datetime(text: str) -> datetime:
    # Before Python 3.11 neither a `Z` nor other than three or six digits of a second were read.
    zoned = text[:-1] + "+00:00" if text[-1:] in ("Z", "z") else text
    return datetime.fromisoformat(re.sub(r"\.(\d+)", lambda found: "." + found[1][:6].ljust(6, "0"), zoned))


class _Form(NamedTuple):
    """A type whose form is a text."""

    kind: type
    name: str
    make: Callable[[str], Any]

    def read(self, value: Any, place: str) -> Any:
        is_number = _is_int(value) or isinstance(value, float)
        if not (isinstance(value, str) or (is_number and self.kind is Decimal)):
            raise Misfit(place, self.name, value)
        return self.make(str(value))


_FORMS = (
    _Form(datetime, "a moment such as '2026-03-01T09:30:00Z'", _datetime),
    _Form(date, "a date such as '2026-03-01'", date.fromisoformat),
    _Form(time, "a time such as '09:30:00'", time.fromisoformat),
    _Form(UUID, "a UUID", UUID),
    _Form(Decimal, "a number, or its digits as a text", Decimal),
)


def _plain(annotation: Any) -> Any:
    """Without what says nothing about JSON: Annotated, NewType."""
    while True:
        if typing.get_origin(annotation) is typing_extensions.Annotated:
            annotation = typing.get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_SIMPLE: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    None: ("None", lambda value: value is None),
    type(None): ("None", lambda value: value is None),
    bool: ("a bool", lambda value: isinstance(value, bool)),
    int: ("an int", _is_int),
    float: ("a float", lambda value: isinstance(value, float) or _is_int(value)),
    str: ("a str", lambda value: isinstance(value, str)),
}


def _union(annotation: Any, arguments: tuple[Any, ...], value: Any, place: str) -> Any:
    for argument in arguments:
        try:
            return fit(argument, value, place)
        except Misfit:
            continue
    raise Misfit(place, str(annotation).replace("typing.", ""), value)


def _list(arguments: tuple[Any, ...], value: Any, place: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise Misfit(place, "a list", value)
    item = arguments[0] if arguments else Any
    return [fit(item, element, f"{place}[{index}]") for index, element in enumerate(value)]


def _tuple(arguments: tuple[Any, ...], value: Any, place: str) -> Any:
    if not isinstance(value, (list, tuple)):
        raise Misfit(place, "a tuple", value)
    if not arguments:
        return tuple(value)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_list(arguments[:1], value, place))
    if len(arguments) != len(value):
        raise Misfit(place, f"a tuple of {len(arguments)}", value)
    pairs = enumerate(zip(arguments, value))
    return tuple(fit(item, element, f"{place}[{index}]") for index, (item, element) in pairs)


def _dict(arguments: tuple[Any, ...], value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise Misfit(place, "a dict", value)
    if len(arguments) != 2:
        return value
    return {key: fit(arguments[1], item, f"{place}.{key}") for key, item in value.items()}
