"""How the arguments of a handler and the payload of a job correspond.

The payload is an object with one member for each argument that was given, so that
``ganger enqueue email.send -p '{"to": "ada@example.com"}'`` is the same as ``send.enqueue("ada@example.com")``. A
handler declared ``raw=True`` has one parameter, and the payload is its argument, whatever JSON it is.
"""

from __future__ import annotations

import contextlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import jsontext
from .context import Context
from .errors import BadArguments
from .fitting import fit
from .outcome import Fatal

_POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
_VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
_VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


class Arguments:
    """The parameters of one handler."""

    def __init__(self, function: Callable[..., Any], raw: bool) -> None:
        self._name = getattr(function, "__qualname__", repr(function))
        self._hints = _hints(function)
        self._raw = raw
        self._context = ""
        parameters = []
        for parameter in inspect.signature(function).parameters.values():
            if self._is_context(parameter):
                self._take_context(parameter)
            elif parameter.kind is _VAR_POSITIONAL:
                raise TypeError(f"{self._name} has *{parameter.name}; arguments of a job need names")
            else:
                parameters.append(parameter)
        if raw and len(parameters) != 1:
            raise TypeError(f"{self._name} is raw and has {len(parameters)} parameters beside ctx; it needs one")
        self._signature = inspect.Signature(parameters)

    def payload(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The payload of a call. Raises BadArguments."""
        try:
            bound = self._signature.bind(*args, **kwargs)
            given = self._checked(bound.arguments)
        except TypeError as error:
            raise BadArguments(f"cannot enqueue {self._name}: {error}") from None
        return next(iter(given.values()), None) if self._raw else given

    def result(self, value: Any) -> Any:
        """A result as the function's annotation says, or as JSON says where that does not fit."""
        try:
            return fit(self._hints.get("return", Any), value, "result")
        except TypeError:
            return value

    def call(self, payload: str, context: Context) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of the call that a payload asks for. Raises Fatal: it does not get better by trying."""
        try:
            bound = self._bound(jsontext.decode(payload))
            fitting = self._checked(bound.arguments)
        except (TypeError, ValueError, RecursionError) as error:
            raise Fatal(f"payload does not fit the handler: {error}") from None
        args, kwargs = [], {}
        for name, value in fitting.items():
            parameter = self._signature.parameters.get(name)
            if parameter is not None and parameter.kind is _POSITIONAL_ONLY:
                args.append(value)
            else:
                kwargs[name] = value
        if self._context:
            kwargs[self._context] = context
        return args, kwargs

    def _bound(self, value: Any) -> inspect.BoundArguments:
        if self._raw:
            name = next(iter(self._signature.parameters))
            positional = self._signature.parameters[name].kind is _POSITIONAL_ONLY
            return self._signature.bind(value) if positional else self._signature.bind(**{name: value})
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise TypeError(f"it is a {type(value).__name__}, and must be an object of arguments")
        args = []
        members = dict(value)
        for parameter in self._signature.parameters.values():
            if parameter.kind is _POSITIONAL_ONLY and parameter.name in members:
                args.append(members.pop(parameter.name))
        return self._signature.bind(*args, **members)

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Named arguments, those of ``**kwargs`` among them, each fitting its annotation."""
        fitting: dict[str, Any] = {}
        for name, value in arguments.items():
            hint = self._hints.get(name, Any)
            if self._signature.parameters[name].kind is _VAR_KEYWORD:
                fitting.update({key: fit(hint, item, key) for key, item in value.items()})
            else:
                fitting[name] = fit(hint, value, name)
        return fitting

    def _is_context(self, parameter: inspect.Parameter) -> bool:
        hint = self._hints.get(parameter.name, parameter.annotation)
        return hint is Context or parameter.default is Context.current or hint in ("Context", "ganger.Context")

    def _take_context(self, parameter: inspect.Parameter) -> None:
        if self._context:
            raise TypeError(f"{self._name} asks for its context twice")
        if parameter.default is inspect.Parameter.empty or parameter.kind is _POSITIONAL_ONLY:
            raise TypeError(
                f"{self._name}: write `{parameter.name}: Context = Context.current`, so that it can be called plainly"
            )
        self._context = parameter.name


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:
        # Names that exist only for type checkers, or syntax of a later Python: those are not checked, the rest is.
        return _hints_one_by_one(function)


def _hints_one_by_one(function: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        with contextlib.suppress(Exception):
            found.update(typing.get_type_hints(holder, getattr(function, "__globals__", {})))
    return found
