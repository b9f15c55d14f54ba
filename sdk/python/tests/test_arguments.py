"""Arguments become payloads and payloads become arguments, or it is said why not."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Literal, Optional, Tuple, Union

import pytest
from typing_extensions import NewType, TypedDict

from ganger import App, BadArguments, Context, Fatal, limits
from ganger.arguments import Arguments
from ganger.durations import seconds
from ganger.fitting import Misfit, fit
from ganger.jsontext import NotJson, decode, encode

Address = NewType("Address", str)


class Letter(TypedDict):
    to: str


def send(to: str, /, copies: int = 1, *, tags: Optional[List[str]] = None, **more: float) -> None:
    """A handler with every sort of parameter."""


def test_the_payload_names_what_was_given_and_the_call_gets_it_back() -> None:
    arguments = Arguments(send, raw=False)
    text = arguments.payload(("ada",), {"copies": 2, "tags": ["x"], "weight": 1.5})
    assert json.loads(text) == {"to": "ada", "copies": 2, "tags": ["x"], "weight": 1.5}
    args, kwargs = arguments.call(text, Context.current)
    assert (args, kwargs) == (["ada"], {"copies": 2, "tags": ["x"], "weight": 1.5})
    assert arguments.payload(("ada",), {}) == '{"to":"ada"}', "defaults are the worker's business"


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
            arguments.payload((value,), {})


def test_a_payload_is_taken_at_the_bound_and_refused_one_past_it() -> None:
    def one(text: str) -> None: ...

    arguments = Arguments(one, raw=True)
    assert arguments.payload(("x" * (limits.PAYLOAD_BYTES - 2),), {})
    with pytest.raises(BadArguments, match="1048577 bytes, the limit is 1048576"):
        arguments.payload(("x" * (limits.PAYLOAD_BYTES - 1),), {})


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
    assert arguments.payload(({"a": 1},), {}) == '{"a":1}'
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
    assert arguments.payload((1, "anything"), {}) == '{"known":1,"unknown":"anything"}'
    with pytest.raises(BadArguments, match="`known` must be an int"):
        arguments.payload(("1", "anything"), {})
