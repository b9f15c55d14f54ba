"""Whether a JSON value fits an annotation, as far as annotations of simple types can tell.

Checked are None, bool, int, float, str, Literal, unions, lists, tuples, dicts and what is made of them. Whatever
else an annotation says is the handler's business.
"""

from __future__ import annotations

import collections.abc
import sys
import typing
from collections.abc import Callable
from typing import Any, Union

import typing_extensions

_UNIONS: tuple[Any, ...] = (Union,)
if sys.version_info >= (3, 10):
    import types

    _UNIONS = (Union, types.UnionType)

_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class Misfit(TypeError):
    """A value that does not fit."""

    def __init__(self, place: str, expected: str, value: Any) -> None:
        shown = repr(value)
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        super().__init__(f"`{place}` must be {expected}, not {shown}")


def fit(annotation: Any, value: Any, place: str) -> Any:
    """The value, with lists made tuples where the annotation says so. Raises Misfit."""
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
    return value


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
