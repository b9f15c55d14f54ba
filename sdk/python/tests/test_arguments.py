"""Arguments become payloads and payloads become arguments, or it is said why not."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from uuid import UUID

import pydantic
import pytest
from typing_extensions import NewType, TypedDict

from ganger import App, BadArguments, Context, Fatal, NewJob, limits
from ganger.arguments import Arguments
from ganger.durations import seconds
from ganger.fitting import Misfit, fit
from ganger.jsontext import NotJson, decode, encode

Address = NewType("Address", str)


class Letter(TypedDict):
    to: str


def send(to: str, /, copies: int = 1, *, tags: Optional[List[str]] = None, **more: float) -> None:
    """A handler with every sort of parameter."""


def text(arguments: Arguments, args: Any, kwargs: Any) -> str:
    return NewJob("k", arguments.payload(args, kwargs)).payload_text


def test_the_payload_names_what_was_given_and_the_call_gets_it_back() -> None:
    arguments = Arguments(send, raw=False)
    written = text(arguments, ("ada",), {"copies": 2, "tags": ["x"], "weight": 1.5})
    assert json.loads(written) == {"to": "ada", "copies": 2, "tags": ["x"], "weight": 1.5}
    args, kwargs = arguments.call(written, Context.current)
    assert (args, kwargs) == (["ada"], {"copies": 2, "tags": ["x"], "weight": 1.5})
    assert text(arguments, ("ada",), {}) == '{"to":"ada"}', "defaults are the worker's business"


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((), {}, "missing a required"),
        (("a", 1, 2), {}, "too many positional"),
        ((5,), {}, "`to` must be a str, not 5"),
        (("a",), {"copies": "2"}, "`copies` must be an int"),
        (("a",), {"copies": True}, "`copies` must be an int"),
        (("a",), {"tags": ["x", 1]}, "`tags"),
        (("a",), {"weight": "heavy"}, "`weight` must be a float"),
    ],
)
def test_bad_arguments_fail_where_the_mistake_is_made(args: Any, kwargs: Any, said: str) -> None:
    with pytest.raises(BadArguments, match=said):
        Arguments(send, raw=False).payload(args, kwargs)


def test_what_json_cannot_carry_fails_with_its_place() -> None:
    def anything(value: Any) -> None: ...

    arguments = Arguments(anything, raw=False)
    for value, said in [
        ({"a": [1, {2: 3}]}, r"`value\.a\[1\]` has the key 2"),
        ([float("nan")], r"`value\[0\]` is nan"),
        (object(), "`value` is a object"),
        ("\ud800", "half a surrogate"),
        ({"x": b"bytes"}, r"`value\.x` is a bytes"),
    ]:
        with pytest.raises(BadArguments, match=said):
            text(arguments, (value,), {})


def test_a_payload_is_taken_at_the_bound_and_refused_one_past_it() -> None:
    def one(text: str) -> None: ...

    arguments = Arguments(one, raw=True)
    assert text(arguments, ("x" * (limits.PAYLOAD_BYTES - 2),), {})
    with pytest.raises(BadArguments, match="1048577 bytes, the limit is 1048576"):
        text(arguments, ("x" * (limits.PAYLOAD_BYTES - 1),), {})


def test_nesting_is_taken_at_the_bound_and_refused_one_past_it() -> None:
    deep: Any = 0
    for _ in range(limits.JSON_DEPTH):
        deep = [deep]
    assert decode(encode(deep)) == deep
    with pytest.raises(NotJson, match="deeper than 64"):
        encode([deep])
    circle: List[Any] = []
    circle.append(circle)
    with pytest.raises(NotJson):
        encode(circle)


@pytest.mark.parametrize("payload", ["[1]", '"x"', "{", '{"to":"a","copies":1.5}', '{"copies":1}', "NaN"])
def test_a_payload_that_does_not_fit_is_fatal(payload: str) -> None:
    with pytest.raises(Fatal, match="payload does not fit the handler"):
        Arguments(send, raw=False).call(payload, Context.current)


def test_a_raw_handler_gets_the_payload_itself() -> None:
    def raw(payload: Any, *, ctx: Context = Context.current) -> None: ...

    arguments = Arguments(raw, raw=True)
    assert text(arguments, ({"a": 1},), {}) == '{"a":1}'
    assert arguments.call('"text"', Context.current) == ([], {"payload": "text", "ctx": Context.current})
    with pytest.raises(TypeError, match="it needs one"):
        Arguments(send, raw=True)


def test_declarations_that_cannot_work_are_refused() -> None:
    app = App()

    def many(*things: int) -> None: ...

    def bare(ctx: Context) -> None: ...

    def twice(a: Context = Context.current, b: Context = Context.current) -> None: ...

    def generator() -> Any:
        yield 1

    for function, said in [(many, "need names"), (bare, "Context.current"), (twice, "twice"), (generator, "generator")]:
        with pytest.raises(TypeError, match=said):
            app.job("x")(function)
    with pytest.raises(BadArguments, match="1 to 128"):
        app.job("no spaces")(send)
    with pytest.raises(BadArguments, match="not a duration"):
        app.job("y", timeout="soon")(send)
    with pytest.raises(BadArguments, match="no option `attempts`"):
        app.job("z", attempts=3)(send)  # type: ignore[call-arg]
    app.job("twice")(send)
    with pytest.raises(BadArguments, match="already"):
        app.job("twice")(send)


@pytest.mark.parametrize(
    ("annotation", "good", "bad"),
    [
        (int, [1, -(2**80)], [True, 1.0, "1", None]),
        (float, [1, 1.5], [True, "1", None]),
        (bool, [True], [1, "x"]),
        (str, ["x"], [1, None]),
        (None, [None], [0, ""]),
        (Optional[int], [1, None], ["1"]),
        (Union[int, List[str]], [1, ["a"]], [["a", 1], "a"]),
        (Literal["a", 1], ["a", 1], ["b", True, 2]),
        (List[int], [[], [1]], [["1"], 1, {}]),
        (list, [[1, "x"]], ["x"]),
        (Dict[str, int], [{}, {"a": 1}], [{"a": "1"}, []]),
        (Tuple[int, str], [[1, "a"], (1, "a")], [[1], [1, 2], "x"]),
        (Tuple[int, ...], [[], [1, 2]], [["x"]]),
        (Address, ["x"], [1]),
        (Letter, [{"to": "x"}], ["x"]),
        (Any, [1, None, {}], []),
        ("whatever", [1], []),
    ],
)
def test_simple_annotations_are_checked(annotation: Any, good: List[Any], bad: List[Any]) -> None:
    for value in good:
        fit(annotation, value, "it")
    for value in bad:
        with pytest.raises(Misfit, match="`it"):
            fit(annotation, value, "it")


def test_lists_become_tuples_where_the_annotation_says_so() -> None:
    assert fit(List[Tuple[int, str]], [[1, "a"]], "it") == [(1, "a")]


@pytest.mark.parametrize(
    ("text", "expected"), [("30s", 30), ("1h30m", 5400), ("250ms", 0.25), ("1.5h", 5400), ("7d", 604800), ("2", 2)]
)
def test_durations_as_people_write_them(text: str, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize("bad", ["", "s", "30 s", "-1s", "1m1h", "1h1h", "1x", -1, float("nan"), True, None])
def test_what_is_not_a_duration_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        seconds(bad)


def test_an_annotation_that_cannot_be_read_is_not_checked_and_the_others_are() -> None:
    def half(known: int, unknown: OnlyForTypeCheckers) -> None:  # type: ignore[name-defined]  # noqa: F821
        ...

    arguments = Arguments(half, raw=False)
    assert text(arguments, (1, "anything"), {}) == '{"known":1,"unknown":"anything"}'
    with pytest.raises(BadArguments, match="`known` must be an int"):
        arguments.payload(("1", "anything"), {})


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 2


class Home(pydantic.BaseModel):
    street: str
    since: date


@dataclass
class Order:
    id: UUID
    total: Decimal
    colour: Colour
    lines: List[Tuple[str, int]] = field(default_factory=list)
    to: Optional[Home] = None


IN_BERLIN = datetime(2026, 3, 1, 10, 30, tzinfo=timezone(timedelta(hours=1)))
ORDER = Order(UUID(int=7), Decimal("12.50"), Colour.RED, [("tea", 2)], Home(street="a", since=date(2026, 1, 2)))
ORDER_FORM = {
    "id": "00000000-0000-0000-0000-000000000007",
    "total": "12.50",
    "colour": "red",
    "lines": [["tea", 2]],
    "to": {"street": "a", "since": "2026-01-02"},
}


@pytest.mark.parametrize(
    ("annotation", "value", "form"),
    [
        (datetime, IN_BERLIN, "2026-03-01T09:30:00Z"),
        (datetime, datetime(2026, 3, 1, 10, 30, 0, 5), "2026-03-01T10:30:00.000005"),
        (date, date(2026, 3, 1), "2026-03-01"),
        (time, time(9, 30), "09:30:00"),
        (Colour, Colour.RED, "red"),
        (Level, Level.HIGH, 2),
        (UUID, UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (Decimal, Decimal("1E+3"), "1E+3"),
        (Order, ORDER, ORDER_FORM),
        (Dict[str, Order], {"one": ORDER}, {"one": ORDER_FORM}),
        (Optional[List[Order]], [ORDER], [ORDER_FORM]),
    ],
)
def test_each_value_has_one_form_and_the_annotation_reads_it_again(annotation: Any, value: Any, form: Any) -> None:
    assert decode(encode(value)) == form
    again = fit(annotation, form, "it")
    assert again == value and type(again) is type(value)
    assert fit(annotation, value, "it") == value, "what has the type already is taken as it is"


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        (datetime, "soon", "`it` must be a datetime"),
        (datetime, 5, "a moment such as"),
        (date, IN_BERLIN, "a date such as"),
        (Colour, "blue", "'blue' is not a valid Colour"),
        (UUID, "7", "badly formed"),
        (Decimal, "many", "`it` must be a Decimal"),
        (Decimal, True, "a number, or its digits"),
        (Order, [], "an object for Order"),
        (Order, {**ORDER_FORM, "tip": 1}, "`it.tip` must be left out"),
        (Order, {"id": ORDER_FORM["id"], "colour": "red"}, "`it.total` must be given"),
        (Order, {**ORDER_FORM, "total": "x"}, "`it.total` must be a Decimal"),
        (Home, {"street": 1}, "`it` must be a Home, .*since"),
    ],
)
def test_what_is_not_the_form_of_a_type_is_refused_with_its_place(annotation: Any, value: Any, said: str) -> None:
    with pytest.raises(Misfit, match=said):
        fit(annotation, value, "it")


def test_forms_of_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(NotJson, match="`total` is NaN"):
        encode({"total": Decimal("nan")})


def test_payloads_of_new_jobs_are_values() -> None:
    assert NewJob("k", {"n": 1}).text() == '{"kind":"k","payload":{"n":1}}'
    assert NewJob("k", "[1]").text() == '{"kind":"k","payload":"[1]"}', "a text is a text"
    assert NewJob("k", ORDER).payload_text == encode(ORDER_FORM)
    with pytest.raises(BadArguments, match="cannot enqueue k: `n` is a object"):
        NewJob("k", {"n": object()})
    with pytest.raises(BadArguments, match="no option `tip`"):
        NewJob("k", None, {"tip": 1})  # type: ignore[typeddict-unknown-key]
    with pytest.raises(BadArguments, match="1 to 128"):
        NewJob("no spaces")
