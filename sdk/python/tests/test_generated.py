"""The committed wire types and the contract say the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent


def test_the_committed_types_are_what_the_contract_generates(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    subprocess.run([sys.executable, str(HERE / "scripts" / "generate.py"), str(tmp_path)], check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["ganger"], "a folder `grpc` in src would hide grpcio"
    fresh = {path.name: path.read_text() for path in (tmp_path / "ganger" / "v1").iterdir()}
    committed = {path.name: path.read_text() for path in (HERE / "src" / "ganger" / "v1").glob("*_pb2*")}
    assert fresh == committed, "out of date: run `python scripts/generate.py` in sdk/python"
