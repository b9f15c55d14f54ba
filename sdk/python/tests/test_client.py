"""The client against a server that fails in every way a server can."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from conftest import Server, free_port

from ganger import AsyncClient, Client, Conflict, Denied, Invalid, NewJob, NotFound, Unavailable, Unreachable, tries
from ganger import limits as bounds

RECEIPT = {"id": "job_00000000000000000000000001", "deduplicated": False}
JOB = {"id": RECEIPT["id"], "kind": "k", "queue": "default", "state": "queued"}


class Stub(ThreadingHTTPServer):
    """Answers what it was told to, in order, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), _Answering)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Stub

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, body))
        answer = self.server.answers.pop(0)
        if answer == "hang up":
            self.close_connection = True
            return
        status, said, *more = answer
        text = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        for name, value in [("content-length", str(len(text))), *more]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def stub() -> Iterator[Stub]:
    one = Stub()
    yield one
    one.shutdown()
    one.server_close()


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "backoff", lambda failures: 0.001 * failures)


def refusal(code: str, status: int, retryable: bool) -> dict[str, Any]:
    return {"code": code, "status": status, "detail": f"about {code}", "hint": "do this", "retryable": retryable}


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_submission_is_sent_again_with_the_same_key_and_body_until_it_is_answered(stub: Stub, kind: str) -> None:
    stub.answers = [
        (503, refusal("not_ready", 503, True), ("retry-after", "0")),
        "hang up",
        (503, refusal("outcome_unknown", 503, True)),
        (429, refusal("overloaded", 429, True)),
        (502, b"<html>a proxy</html>"),
        (201, RECEIPT),
    ]

    async def story() -> str:
        async with AsyncClient(stub.url, token="secret") as client:
            return (await client.enqueue("k", {"a": 1}, delay=5)).id

    if kind == "sync":
        assert Client(stub.url, token="secret").enqueue("k", {"a": 1}, delay=5).id == RECEIPT["id"]
    else:
        assert asyncio.run(story()) == RECEIPT["id"]
    assert len(stub.asked) == 6
    assert len({(headers["idempotency-key"], body) for _, _, headers, body in stub.asked}) == 1
    assert json.loads(stub.asked[0][3]) == {"kind": "k", "delay": 5.0, "payload": {"a": 1}}
    assert stub.asked[0][2]["authorization"] == "Bearer secret"


def test_each_submission_has_its_own_key(stub: Stub) -> None:
    stub.answers = [(201, RECEIPT)] * 3
    client = Client(stub.url)
    client.enqueue("k")
    client.enqueue("k")
    client.enqueue("k", idempotency_key="mine")
    keys = [headers["idempotency-key"] for _, _, headers, _ in stub.asked]
    assert len(set(keys)) == 3 and keys[2] == "mine"


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [(400, "malformed_json", Invalid), (401, "no_token", Denied), (403, "forbidden", Denied)]
    + [(404, "no_such_job", NotFound), (409, "wrong_state", Conflict), (422, "validation_failed", Invalid)],
)
def test_refusals_are_told_as_what_they_are_and_not_repeated(stub: Stub, status: int, code: str, expected: Any) -> None:
    body = {**refusal(code, status, False), "errors": [{"pointer": "/kind", "detail": "is empty"}], "request_id": "r"}
    stub.answers = [(status, body)]
    with pytest.raises(expected) as told:
        Client(stub.url).enqueue("k")
    problem = told.value
    assert (problem.code, problem.status, problem.request_id) == (code, status, "r")
    assert str(problem) == f"{code}: about {code}\n  /kind: is empty\n  hint: do this"
    assert len(stub.asked) == 1


def test_a_client_gives_up_after_so_many_tries(stub: Stub) -> None:
    stub.answers = [(503, refusal("no_leader", 503, True))] * (tries.TRIES + 5)
    with pytest.raises(Unavailable, match="no_leader"):
        Client(stub.url).get("job_1")
    assert len(stub.asked) == tries.TRIES
    with pytest.raises(Unreachable, match="is the server running"):
        Client(f"http://127.0.0.1:{free_port()}").get("job_1")


def test_of_several_servers_the_one_that_answers_is_asked_from_then_on(stub: Stub) -> None:
    stub.answers = [(200, JOB)] * 3
    client = Client(f"http://127.0.0.1:{free_port()}, {stub.url}/")
    for _ in range(3):
        assert client.get("job_1").state == "queued"
    assert client._servers.asked == stub.url


def test_a_cancel_whose_answer_was_lost_is_not_a_conflict(stub: Stub) -> None:
    stub.answers = ["hang up", (409, refusal("wrong_state", 409, False)), (200, {**JOB, "state": "cancelled"})]
    assert Client(stub.url).cancel("job_1").state == "cancelled"
    stub.answers = [(409, refusal("wrong_state", 409, False))]
    with pytest.raises(Conflict):
        Client(stub.url).cancel("job_1")


def test_a_replay_whose_answer_was_lost_is_not_sent_again(stub: Stub) -> None:
    stub.answers = ["hang up"]
    with pytest.raises(Unreachable, match="may have been carried out, or not"):
        Client(stub.url).replay("job_1")
    assert len(stub.asked) == 1


def test_an_import_travels_in_parts_of_bounded_size(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    from ganger import calls

    monkeypatch.setattr(calls, "IMPORT_JOBS", 2)
    error = {"line": 1, "code": "validation_failed", "detail": "no", "errors": []}
    part = {"accepted": 1, "deduplicated": 0, "rejected": 1, "errors": [error]}
    stub.answers = [(200, part), "hang up", (200, part), (200, {**part, "accepted": 0})]
    done = Client(stub.url).import_jobs(NewJob("k", str(number)) for number in range(5))
    assert (done.accepted, done.rejected, [e.index for e in done.errors]) == (2, 3, [0, 2, 4])
    bodies = [body.count(b"\n") for _, _, _, body in stub.asked]
    keys = [headers["idempotency-key"] for _, _, headers, _ in stub.asked]
    assert bodies == [2, 2, 2, 1] and keys[1] == keys[2] and len(set(keys)) == 3


def test_a_batch_is_bounded() -> None:
    from ganger import calls

    jobs = [NewJob("k")] * bounds.BATCH_JOBS
    assert calls.batch(jobs, False, None).body
    for wrong in ([], [*jobs, NewJob("k")]):
        with pytest.raises(TypeError, match="1 to 1000"):
            calls.batch(wrong, False, None)


def test_addresses_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANGER_URL", "http://a:1,http://b:2/")
    monkeypatch.setenv("GANGER_TOKEN", "t")
    assert Client()._servers.urls == ["http://a:1", "http://b:2"]
    assert Client()._servers._token == "t"
    monkeypatch.delenv("GANGER_URL")
    assert Client()._servers.urls == ["http://127.0.0.1:8080"]
    for bad in ("a:1", ",", "ftp://x"):
        with pytest.raises(ValueError, match="127.0.0.1:8080"):
            Client(bad)


def test_no_proxy_stands_between_us_and_this_machine(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    stub.answers = [(200, JOB)]
    assert Client(stub.url).get("job_1").state == "queued"
    assert all(tries.is_loopback(url) for url in ("http://localhost:1", "http://[::1]:1", "http://127.9.9.9"))
    assert not any(tries.is_loopback(url) for url in ("http://a:1", "https://10.0.0.7", "http://localhost.example.com"))


@pytest.mark.parametrize("bad", ["", "../queues", "a/b", "x?y", "job 1"])
def test_what_is_no_id_is_not_sent(bad: str) -> None:
    with pytest.raises(TypeError, match="not the id of a job"):
        Client("http://127.0.0.1:1").get(bad)


def test_every_option_is_one_that_the_server_knows(server: Server) -> None:
    from ganger import JobOptions, ListFilters

    document = httpx.get(f"{server.url}/v1/openapi.json").json()
    job = document["components"]["schemas"]["NewJobRequest"]["properties"]
    assert set(JobOptions.__annotations__) <= set(job)
    parameters = {each["name"] for each in document["paths"]["/v1/jobs"]["get"]["parameters"]}
    assert set(ListFilters.__annotations__) <= parameters


def test_every_option_is_understood_by_the_server(client: Client) -> None:
    from datetime import datetime, timedelta, timezone

    later = datetime.now(timezone.utc) + timedelta(hours=1)
    handle = client.enqueue(
        "t.options",
        {"big": 2**70, "text": "é\u0000"},
        queue="options",
        priority=-5,
        run_at=later,
        expires_at=later + timedelta(hours=1),
        threads=3,
        min_threads=2,
        fallback="single",
        require={"zone": "eu"},
        max_attempts=7,
        retry={"base": "2s", "factor": 3.0, "max": timedelta(minutes=1), "jitter": 0.1},
        timeout="none",
        max_lost=4,
        unique_key="k",
        unique_for="1h",
        tags=["a", "b"],
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    job = handle.get()
    assert (job.state, job.priority, job.max_attempts, job.tags) == ("scheduled", -5, 7, ("a", "b"))
    assert job.payload == {"big": 2**70, "text": "é\u0000"}, "exact, whatever its size"
    assert job.run_at is not None and abs(job.run_at - later) < timedelta(milliseconds=1)
    assert job.fields["retry"] == {"base": "2s", "factor": 3.0, "max": "1m", "jitter": 0.1}
    assert (job.fields["timeout"], job.fields["unique_for"], job.fields["max_lost"]) == ("none", "1h", 4)
    assert handle.cancel().state == "cancelled"


def test_jobs_that_it_waits_for_are_named_in_any_way(stub: Stub) -> None:
    stub.answers = [(201, RECEIPT)] * 2
    client = Client(stub.url)
    first = client.enqueue("k")
    client.enqueue("k", depends_on=[first, "job_2", {"job": "job_3", "on_dead": "run"}], fair_key="a", fair_weight=2)
    said = json.loads(stub.asked[1][3])
    assert said["depends_on"] == [RECEIPT["id"], "job_2", {"job": "job_3", "on_dead": "run"}]
    assert (said["fair_key"], said["fair_weight"]) == ("a", 2)
