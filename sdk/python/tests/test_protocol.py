"""The worker against a leader that the test plays: what goes over the wire, and when."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from conftest import PATIENCE, eventually, free_port, working

from ganger import App, Context, Fatal, RetryAfter, Snooze, Throttled
from ganger.v1 import worker_pb2 as wire
from ganger.v1 import worker_pb2_grpc

TERM = wire.Term(number=7, id=99)


class Stream:
    """One stream of a worker, as the leader sees it."""

    def __init__(self, requests: Iterator[wire.FromWorker], context: grpc.ServicerContext) -> None:
        self._down: queue.SimpleQueue[wire.ToWorker | None] = queue.SimpleQueue()
        self.up: queue.SimpleQueue[wire.FromWorker] = queue.SimpleQueue()
        self._requests = requests
        self.metadata = dict(context.invocation_metadata())

    def read(self) -> None:
        try:
            for message in self._requests:
                self.up.put(message)
        except Exception:
            # The worker hung up.
            pass

    def answers(self) -> Iterator[wire.ToWorker]:
        while (message := self._down.get()) is not None:
            yield message

    def tell(self, **message: Any) -> None:
        self._down.put(wire.ToWorker(**message))

    def close(self) -> None:
        self._down.put(None)

    def hear(self, which: str) -> Any:
        """The next message of that sort; pings are answered meanwhile."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            message = self.up.get(timeout=PATIENCE)
            found = message.WhichOneof("message")
            if found == which:
                return getattr(message, which)
            if found == "ping":
                self.tell(pong=wire.Pong(number=message.ping.number))
        raise AssertionError(f"never heard {which}")

    def welcome(self, ttl: float = 60.0, leader: str = "", term: wire.Term = TERM) -> wire.Hello:
        hello: wire.Hello = self.hear("hello")
        said = wire.Welcome(term=term, leader=leader)
        said.ttl.FromNanoseconds(int(ttl * 1e9))
        self.tell(welcome=said)
        return hello

    def assign(self, seq: int, kind: str = "p.echo", payload: str = '{"value":1}') -> wire.Fence:
        fence = wire.Fence(term=TERM, seq=seq)
        work = wire.Work(job=bytes([seq] * 16), fence=fence, attempt=1, threads=1, kind=kind, queue="default")
        work.payload, work.max_attempts = payload, 5
        self.tell(assign=wire.Assign(work=[work]))
        return fence


class Leader(worker_pb2_grpc.WorkerServicer):
    """A server whose every word is the test's."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._streams: queue.SimpleQueue[Stream] = queue.SimpleQueue()
        self._threads = futures.ThreadPoolExecutor(16)
        self._server = grpc.server(self._threads)
        worker_pb2_grpc.add_WorkerServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"127.0.0.1:{port}")
        self._server.start()

    def Session(self, requests: Iterator[wire.FromWorker], context: grpc.ServicerContext) -> Iterator[wire.ToWorker]:
        stream = Stream(requests, context)
        self._threads.submit(stream.read)
        self._streams.put(stream)
        context.add_callback(stream.close)
        return stream.answers()

    def stream(self) -> Stream:
        """The next stream that a worker opens."""
        return self._streams.get(timeout=PATIENCE)

    def stop(self) -> None:
        self._server.stop(None)


@pytest.fixture
def lead() -> Iterator[Callable[[], Leader]]:
    made: list[Leader] = []

    def make() -> Leader:
        made.append(Leader(free_port()))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def echoing() -> App:
    app = App(token="gng_secret")

    @app.job("p.echo")
    async def echo(value: int) -> int:
        return value

    return app


def leave(stream: Stream) -> None:
    """Lets a worker go that is being drained in the meantime."""
    stream.tell(drain=wire.Drain())


def test_the_first_word_is_a_hello_that_says_everything(lead: Callable[[], Leader]) -> None:
    leader = lead()
    with working(echoing(), leader.url, queues=["a", "b"], threads=3, labels={"zone": "eu"}, ttl=9, name="me"):
        stream = leader.stream()
        hello = stream.welcome()
        assert stream.metadata["authorization"] == "Bearer gng_secret"
        assert (len(hello.session), hello.stream, hello.name, hello.threads) == (16, 1, "me", 3)
        assert (list(hello.queues), list(hello.kinds), dict(hello.labels)) == (["a", "b"], ["p.echo"], {"zone": "eu"})
        assert hello.ttl.seconds == 9 and not hello.HasField("highest") and not hello.draining
        assert stream.up.get(timeout=PATIENCE).WhichOneof("message") == "ping", "only a ping resumes the session"
        leave(stream)
        stream.hear("goodbye")


def test_a_result_is_sent_again_on_the_next_stream_until_it_is_acknowledged(lead: Callable[[], Leader]) -> None:
    leader = lead()
    with working(echoing(), leader.url):
        stream = leader.stream()
        first = stream.welcome()
        fence = stream.assign(1)
        (result,) = stream.hear("results").results
        assert (result.ok, result.fence, result.job) == ("1", fence, bytes([1] * 16))
        stream.close()
        stream = leader.stream()
        again = stream.welcome()
        assert (again.session, again.stream, again.highest) == (first.session, 2, TERM)
        stream.assign(1)
        assert stream.hear("results").results == [result], "it is known: told again, not run again"
        stream.tell(ack=wire.Ack(fences=[fence]))
        leave(stream)
        stream.hear("goodbye")


def test_pings_come_every_third_of_the_ttl_and_without_answers_the_worker_leaves(lead: Callable[[], Leader]) -> None:
    leader, began = lead(), time.monotonic()
    with working(echoing(), leader.url):
        stream = leader.stream()
        stream.welcome(ttl=1.2)
        after = leader.stream()
        assert time.monotonic() - began >= 1.2, "it left before its time"
        assert after.welcome().stream == 2
        pings = [stream.up.get().WhichOneof("message") for _ in range(stream.up.qsize())]
        assert pings == ["ping"] * len(pings) and 1 <= len(pings) <= 4, pings
        leave(after)
        after.hear("goodbye")


def test_a_worker_whose_session_is_gone_goes_on_under_a_fresh_id(lead: Callable[[], Leader]) -> None:
    leader = lead()
    with working(echoing(), leader.url):
        stream = leader.stream()
        first = stream.welcome()
        stream.tell(gone=wire.Gone())
        stream = leader.stream()
        second = stream.welcome()
        assert second.session != first.session and second.stream > first.stream
        leave(stream)
        stream.hear("goodbye")


def test_a_deposed_leader_is_not_listened_to(lead: Callable[[], Leader]) -> None:
    leader = lead()
    with working(echoing(), leader.url, ttl=0.5):
        stream = leader.stream()
        stream.welcome()
        stream.close()
        stream = leader.stream()
        stream.welcome(term=wire.Term(number=6, id=1))
        stream.assign(5)
        # Its hello counts as unanswered, so that it dials again after the TTL, and has run nothing.
        with pytest.raises(queue.Empty):
            stream.up.get(timeout=0.2)


def test_a_worker_moves_to_the_leader_that_a_welcome_names(lead: Callable[[], Leader]) -> None:
    standby, leader = lead(), lead()
    with working(echoing(), standby.url):
        through = standby.stream()
        first = through.welcome(leader=leader.url)
        direct = leader.stream()
        second = direct.welcome()
        assert (second.session, second.stream) == (first.session, first.stream + 1)
        direct.assign(1)
        assert direct.hear("results").results[0].ok == "1"
        direct.tell(ack=wire.Ack(fences=[wire.Fence(term=TERM, seq=1)]))
        leave(direct)
        direct.hear("goodbye")


def test_a_leader_that_cannot_be_reached_changes_nothing(lead: Callable[[], Leader]) -> None:
    standby = lead()
    with working(echoing(), standby.url):
        stream = standby.stream()
        stream.welcome(leader=f"http://127.0.0.1:{free_port()}")
        stream.assign(1)
        assert stream.hear("results").results[0].ok == "1"
        stream.tell(ack=wire.Ack(fences=[wire.Fence(term=TERM, seq=1)]))
        leave(stream)
        stream.hear("goodbye")


def test_work_that_finds_no_threads_is_handed_back_after_a_second(lead: Callable[[], Leader]) -> None:
    app, leader = App(), lead()
    held: list[Context] = []

    @app.job("p.hold")
    def hold(*, ctx: Context = Context.current) -> None:
        held.append(ctx)
        ctx.sleep(60)

    with working(app, leader.url, threads=1, cancel_grace=1):
        stream = leader.stream()
        stream.welcome()
        running = stream.assign(1, "p.hold", "null")
        eventually("it runs", lambda: held)
        began = time.monotonic()
        waiting = stream.assign(2, "p.hold", "null")
        (back,) = stream.hear("results").results
        assert back.fence == waiting and back.WhichOneof("report") == "released" and not back.released.started
        assert time.monotonic() - began >= 0.9
        stream.tell(cancel=wire.Cancel(job=bytes([1] * 16), fence=running, why=wire.Cancel.WHY_CANCELLED))
        (ended,) = stream.hear("results").results
        assert ended.fence == running and ended.WhichOneof("report") == "cancelled"
        stream.tell(ack=wire.Ack(fences=[running, waiting]))
        leave(stream)
        stream.hear("goodbye")


def test_how_a_handler_ends_is_what_goes_over_the_wire(lead: Callable[[], Leader]) -> None:
    app, leader = App(), lead()
    raised = [ValueError("no"), Fatal("never"), RetryAfter(1.5, "busy"), Snooze(2.5), Throttled("3s")]

    @app.job("p.raise")
    def fail(which: int) -> None:
        raise raised[which]

    with working(app, leader.url):
        stream = leader.stream()
        stream.welcome()
        told = []
        for which in range(len(raised)):
            fence = stream.assign(which + 1, "p.raise", f'{{"which":{which}}}')
            (result,) = stream.hear("results").results
            assert result.fence == fence
            told.append(result)
            stream.tell(ack=wire.Ack(fences=[fence]))
        assert [each.WhichOneof("report") for each in told] == ["error", "fatal", "retry_after", "snooze", "throttled"]
        assert (told[0].error, told[1].fatal, told[2].retry_after.error) == ("ValueError: no", "never", "busy")
        delays = [told[2].retry_after.delay, told[3].snooze, told[4].throttled]
        assert [delay.ToMilliseconds() for delay in delays] == [1500, 2500, 3000]
        leave(stream)
        stream.hear("goodbye")


def test_no_proxy_stands_between_a_worker_and_this_machine(
    lead: Callable[[], Leader], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    leader = lead()
    with working(echoing(), leader.url):
        stream = leader.stream()
        stream.welcome()
        leave(stream)
        stream.hear("goodbye")


def test_a_kind_that_it_does_not_have_is_an_error_and_not_the_end(lead: Callable[[], Leader]) -> None:
    leader = lead()
    with working(echoing(), leader.url):
        stream = leader.stream()
        stream.welcome()
        fence = stream.assign(1, "p.unknown")
        assert stream.hear("results").results[0].error == "this worker has no handler for kind `p.unknown`"
        # And a message of a later version of the protocol is none of its business.
        stream.tell()
        stream.tell(ack=wire.Ack(fences=[fence]))
        leave(stream)
        stream.hear("goodbye")
