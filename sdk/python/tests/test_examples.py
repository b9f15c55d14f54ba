"""The examples do what they say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import Server, working

from ganger import Client, JobDead

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_workloads_of_profile_a_run(server: Server, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANGER_DEMO_SCALE", "0.01")
    example = load("profile_a")
    with working(example.app, server.url, threads=4):
        kinds = ["cpu_intensive", "io_intensive", "mixed_workload", "network_task", "default"]
        handles = {kind: client.enqueue(kind, "a text", threads=2, max_attempts=1) for kind in kinds}
        results = {kind: handle.wait(60) for kind, handle in handles.items()}
        assert 50 <= results["cpu_intensive"]["rounds"] <= 150
        assert 10 <= results["io_intensive"]["lines"] <= 100
        assert set(results["mixed_workload"]) == {"cpu", "io"}
        assert set(results["network_task"]["statuses"]) == {200}
        assert results["default"]["sort"] in ("fast", "medium", "slow")
        for kind in kinds:
            with pytest.raises(JobDead, match="Invalid job content"):
                client.enqueue(kind, "an invalid_job", max_attempts=1).wait(60)
        for target in ("http://example.com/", "http://169.254.169.254/", "file:///etc/passwd"):
            with pytest.raises(JobDead, match="not on loopback"):
                client.enqueue("network_task", {"targets": [target]}, max_attempts=1).wait(60)
        with pytest.raises(JobDead, match="404"):
            missing = [f"{server.url}/nothing here"]
            client.enqueue("network_task", {"targets": missing}, max_attempts=1).wait(60)


def test_the_smallest_worker_works(server: Server) -> None:
    example = load("hello")
    example.app._url = server.url
    with working(example.app, server.url):
        assert example.send.enqueue_sync("ada@example.com").wait(60) == "welcome sent to ada@example.com"
        with pytest.raises(JobDead, match="not an address"):
            example.send.enqueue_sync("nobody").wait(60)
