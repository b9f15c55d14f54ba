"""What operators need: several processes, reload, health, hooks, schedules from the source."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Process, Server, eventually, free_port, working

from ganger import App, BadArguments, Client, Context, Fatal
from ganger.cli import _without
from ganger.supervise import _stamps


def connected(server: Server, prefix: str) -> set[str]:
    """Ids of workers that are there."""
    workers = httpx.get(f"{server.url}/v1/workers").json()["items"]
    return {
        each["id"] for each in workers if each["name"].startswith(prefix) and each["state"] in ("available", "busy")
    }


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_a_process_that_dies_is_started_again_and_all_drain_together(
    make_server: Any, make_process: Any, tmp_path: Path
) -> None:
    server = make_server()
    parent: Process = make_process(server.url, "--processes", "2", "--name=many", "--ttl", "1s", "--threads", "1")
    eventually("both are there", lambda: len(connected(server, "many-")) == 2)
    first = connected(server, "many-")
    os.kill(children(parent.popen.pid)[0], signal.SIGKILL)
    eventually("another one took its place", lambda: len(connected(server, "many-") - first) == 1)
    eventually("and the other one stayed", lambda: len(connected(server, "many-")) == 2)
    parent.signal(signal.SIGTERM)
    assert parent.finished() == 0
    assert connected(server, "many-") == set()


def test_workers_that_cannot_start_end_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ganger", "worker", "nothing:here", "--processes", "2"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "cannot find nothing:here" in ended.stderr
    command[-1] = "0"
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "allowed are 1 to 256" in ended.stderr


def test_a_changed_source_is_loaded_again(server: Server, client: Client, tmp_path: Path) -> None:
    source = """from ganger import App
app = App()
@app.job("reloaded")
def reloaded() -> str:
    return "WORD"
"""
    jobs = tmp_path / "reloaded_jobs.py"
    jobs.write_text(source.replace("WORD", "one"))
    environment = {**os.environ, "GANGER_URL": server.url, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "ganger", "worker", "reloaded_jobs:app", "--reload", "--name", "reloads"]
    worker = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    try:
        assert client.enqueue("reloaded").wait(60) == "one"
        jobs.write_text(source.replace("WORD", "another"))
        eventually("it runs the new source", lambda: client.enqueue("reloaded").wait(60) == "another")
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0


def test_only_python_files_of_the_user_are_watched(tmp_path: Path) -> None:
    for name in ("a.py", "b.txt", ".git/c.py", "venv/d.py", "package/e.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [Path(name).name for name, _ in _stamps(tmp_path)] == ["a.py", "e.py"]


def test_options_of_the_parent_are_not_given_to_its_children() -> None:
    words = ["worker", "a:b", "--processes", "4", "--name=x", "--threads", "2"]
    assert _without(_without(words, "--processes"), "--name") == ["worker", "a:b", "--threads", "2"]


def test_a_worker_tells_how_it_is(server: Server, client: Client) -> None:
    app = App(server.url)
    seen: dict[str, Any] = {}
    port = free_port()
    at = f"http://127.0.0.1:{port}"

    @app.job("o.looks")
    def looks(*, ctx: Context = Context.current) -> str:
        seen["jobs"] = httpx.get(f"{at}/jobs").json()["jobs"]
        seen["running"] = httpx.get(f"{at}/metrics").text
        return ctx.job_id

    with working(app, server.url, health=f"127.0.0.1:{port}", threads=3):
        id = looks.enqueue_sync().wait(60)
        assert httpx.get(f"{at}/livez").text == httpx.get(f"{at}/readyz").text == "ok\n"
        told = eventually("it is counted", lambda: 'outcome="ok"} 1' in httpx.get(f"{at}/metrics").text)
        assert told
        assert httpx.get(f"{at}/jobs", headers={"Origin": "http://evil.example"}).status_code == 403
        assert httpx.get(f"{at}/other").status_code == 404
    assert seen["jobs"] == [{"id": id, "kind": "o.looks", "queue": "default", "attempt": 1}]
    lines = seen["running"].splitlines()
    for line in ("ganger_worker_jobs_running 1", "ganger_worker_threads 3", "ganger_worker_threads_used 1"):
        assert line in lines
    assert lines[-1] == "# EOF"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{at}/livez")


def test_hooks_run_around_workers_and_attempts(server: Server) -> None:
    app = App(server.url)
    said: list[str] = []

    @app.on_start
    async def begin() -> None:
        said.append("start")

    @app.on_stop
    def end() -> None:
        said.append("stop")

    @app.around
    def named(ctx: Context) -> Iterator[None]:
        said.append(f"before {ctx.kind}")
        try:
            yield
        except Fatal as error:
            said.append(f"failed {error}")
            raise
        finally:
            said.append(f"after {ctx.kind}")

    @app.job("o.sync")
    def sync() -> int:
        said.append("sync")
        return 1

    @app.job("o.async")
    async def fails() -> None:
        raise Fatal("no")

    with app.test() as jobs:
        sync.enqueue_sync()
        fails.enqueue_sync()
        assert [job.state for job in jobs.run()] == ["succeeded", "dead"]
    assert said == ["before o.sync", "sync", "after o.sync", "before o.async", "failed no", "after o.async"]
    said.clear()
    with working(app, server.url):
        assert sync.enqueue_sync().wait(60) == 1
    assert said == ["start", "before o.sync", "sync", "after o.sync", "stop"]


def test_schedules_are_declared_beside_their_jobs_and_put_by_a_command(
    server: Server, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "scheduled_jobs.py").write_text("""from ganger import App
app = App()
@app.schedule("py-nightly", cron="30 2 * * *", time_zone="Europe/Berlin", arguments={"days": 7})
@app.schedule("py-hourly", every="1h", paused=True)
@app.job("report", queue="reports")
def report(days: int = 1) -> None: ...
""")
    command = [sys.executable, "-m", "ganger", "schedules", "scheduled_jobs:app"]
    environment = {**os.environ, "GANGER_URL": server.url}
    for _ in range(2):
        ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stdout.split()) == (0, ["py-hourly", "py-nightly"]), ended.stderr
    nightly = client.schedules.get("py-nightly")
    assert (nightly.fields["cron"], nightly.fields["time_zone"]) == ("30 2 * * *", "Europe/Berlin")
    assert nightly.fields["job"]["payload"] == {"days": 7} and nightly.fields["job"]["queue"] == "reports"
    for name in ("py-nightly", "py-hourly"):
        client.schedules.delete(name)
    app = App()
    with pytest.raises(TypeError, match="above @app.job"):
        app.schedule("x", every=1)(lambda: None)
    job = app.job("k")(lambda: None)
    with pytest.raises(BadArguments, match="needs one of cron, every and at"):
        app.schedule("x")(job)
    app.schedule("x", every=1)(job)
    with pytest.raises(BadArguments, match="already"):
        app.schedule("x", every=1)(job)
