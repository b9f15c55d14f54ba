"""The README's examples work as they stand there."""

from __future__ import annotations

import asyncio
import importlib
import re
from pathlib import Path

import pytest
from conftest import Server, eventually, working

from ganger import App

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_worker_of_the_readme_is_short_and_all_its_examples_work(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    worker, produce, test = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(worker.strip().splitlines()) <= 12
    (tmp_path / "readme_jobs.py").write_text(worker)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("GANGER_URL", server.url)
    module = importlib.import_module("readme_jobs")
    assert isinstance(module.app, App)
    names = dict(vars(module))
    exec("async def produce():\n" + "\n".join("    " + line for line in produce.splitlines()), names)
    with working(module.app, server.url, threads=16):
        asyncio.run(names["produce"]())
        said = eventually("it introduces itself", lambda: capfd.readouterr())
    assert "welcome sent to ada@example.com" in said.out
    told = re.search(r"```console\n\$ python -m ganger.*?\n(connected .*?)\n```", README.read_text(), re.DOTALL)
    assert told is not None

    def shape(line: str) -> str:
        return re.sub(r"wrk_\w+", "wrk", re.sub(r"127\.0\.0\.1:\d+", "here", line.strip()))

    assert shape(told[1]) in [shape(line) for line in said.err.splitlines()]
    exec(test, names)
