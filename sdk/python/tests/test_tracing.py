"""Traces: the shared rule, spans of handlers, and what travels along."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Server, eventually, working
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ganger import App, Client, Context, tracing

CASES = json.loads(
    (Path(__file__).resolve().parents[3] / "crates" / "core" / "src" / "trace" / "cases.json").read_text("utf-8")
)
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

_memory = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def _provider() -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_memory))
    trace.set_tracer_provider(provider)


@pytest.fixture
def spans() -> InMemorySpanExporter:
    _memory.clear()
    return _memory


def of_job(memory: InMemorySpanExporter, job: str, count: int) -> list[ReadableSpan]:
    def found() -> list[ReadableSpan]:
        mine = [
            span
            for span in memory.get_finished_spans()
            if span.name.startswith("process") and (span.attributes or {}).get("messaging.message.id") == job
        ]
        return mine if len(mine) >= count else []

    return sorted(eventually(f"{count} spans of {job}", found), key=lambda span: span.start_time or 0)


@pytest.mark.parametrize("case", CASES["relation"], ids=lambda case: case["name"])
def test_the_rule_is_the_one_of_the_server(case: dict) -> None:
    assert CASES["prompt_ms"] / 1000 == tracing.PROMPT
    child = tracing.is_child(case["attempt"], case["waited_ms"] / 1000, case["occurrence"])
    assert child == (case["relation"] == "child")


@pytest.mark.parametrize("case", CASES["traceparent"], ids=lambda case: case["given"] or "empty")
def test_a_traceparent_is_read_as_the_server_reads_it(case: dict) -> None:
    assert tracing.read_traceparent(case["given"]) == case["taken"]


def test_a_first_attempt_is_a_child_and_its_retry_a_root_with_a_link(
    server: Server, client: Client, spans: InMemorySpanExporter
) -> None:
    app = App(server.url)

    @app.job("t.traced", queue="traced")
    def traced(*, ctx: Context = Context.current) -> str | None:
        if ctx.attempt == 1:
            raise RuntimeError("the first one fails")
        return ctx.traceparent

    with working(app, server.url):
        handle = traced.options(traceparent=PARENT, tracestate="a=b", retry={"base": "10ms"}).enqueue_sync()
        assert handle.wait(30) == PARENT
        first, second = of_job(spans, handle.id, 2)
    assert first.name == second.name == "process traced"
    assert first.context.trace_id == int(PARENT[3:35], 16)
    assert first.parent is not None and first.parent.span_id == int(PARENT[36:52], 16)
    assert first.parent.trace_state.get("a") == "b" and not first.links
    assert first.status.status_code.name == "ERROR" and first.attributes["error.type"] == "error"
    assert second.parent is None and second.context.trace_id != first.context.trace_id
    assert [link.context.span_id for link in second.links] == [int(PARENT[36:52], 16)]
    assert second.attributes["ganger.job.attempt"] == 2 and "error.type" not in second.attributes
    assert second.attributes["messaging.system"] == "ganger" and second.attributes["ganger.job.kind"] == "t.traced"


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_what_a_handler_enqueues_is_below_its_span(
    server: Server, client: Client, spans: InMemorySpanExporter, is_async: bool
) -> None:
    app = App(server.url)

    @app.job("t.below")
    def below() -> None:
        pass

    if is_async:

        @app.job("t.above")
        async def above() -> str:
            return (await below.enqueue()).id
    else:

        @app.job("t.above")
        def above() -> str:
            return below.enqueue_sync().id

    with working(app, server.url):
        with trace.get_tracer("test").start_as_current_span("caller") as caller:
            handle = above.enqueue_sync()
        child = handle.wait(30)
        client.result(child, 30)
        (outer,), (inner,) = of_job(spans, handle.id, 1), of_job(spans, child, 1)
    assert outer.parent is not None and outer.parent.span_id == caller.get_span_context().span_id
    assert inner.parent is not None and inner.parent.span_id == outer.context.span_id


def test_the_same_key_in_another_span_is_the_same_request(server: Server, client: Client) -> None:
    tracer = trace.get_tracer("test")
    ids = set()
    for _ in range(2):
        with tracer.start_as_current_span("caller"):
            ids.add(client.enqueue("t.nobody", {"n": 1}, queue="nobody", idempotency_key="traced twice").id)
    assert len(ids) == 1
    client.cancel(ids.pop())


def test_without_opentelemetry_nothing_is_missing() -> None:
    """The packages are hidden from a fresh interpreter."""
    program = """
import sys
sys.modules["opentelemetry"] = None
from ganger import tracing
from ganger.context import Attempt
assert tracing.headers() == {}
with tracing.processing(Attempt(traceparent="rubbish")) as span:
    from ganger.outcome import Failed
    span.ended(Failed("x"), None)
print("well")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "well\n", done.stderr


def test_a_context_that_is_not_valid_is_ignored(spans: InMemorySpanExporter) -> None:
    from ganger.context import Attempt

    with tracing.processing(Attempt(job_id="job_x", traceparent="00-zz", tracestate="=")):
        pass
    (span,) = of_job(spans, "job_x", 1)
    assert span.parent is None and not span.links
