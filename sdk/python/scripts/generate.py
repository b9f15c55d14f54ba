"""Makes the wire types in src/ganger/v1 from the contract, or checks that they are what it gives.

    python scripts/generate.py [FOLDER]

The checks of versions are taken out of what the generator writes: they would tie every user to releases of grpcio and
protobuf as new as ours, and what the types use of them has not changed since protobuf 4.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from grpc_tools import protoc

HERE = Path(__file__).resolve().parent.parent
CONTRACT = HERE.parent.parent / "crates" / "proto" / "proto"

_PARTS = (
    # protobuf: the call that compares versions, and its import.
    re.compile(r"_runtime_version\.ValidateProtobufRuntimeVersion\(.*?\n\)\n", re.DOTALL),
    re.compile(r"from google\.protobuf import runtime_version as _runtime_version\n"),
    # grpcio: from the version it was made with to the error it raises.
    re.compile(r"GRPC_GENERATED_VERSION = .*?(?=\n\nclass )", re.DOTALL),
    re.compile(r"import warnings\n"),
    # What grpcio has only had since 1.63 and does as well without.
    re.compile(r" *_registered_method=True"),
    re.compile(r" *server\.add_registered_method_handlers\(.*\n"),
    re.compile(r"^# Protobuf Python Version: .*\n", re.MULTILINE),
)


def generate(folder: Path) -> None:
    """Writes the wire types below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    # The compatible doors and grpc.health.v1 are not ours to ship: a folder `grpc` would even hide grpcio.
    contracts = sorted(str(path) for path in (CONTRACT / "ganger").rglob("*.proto"))
    arguments = [
        f"-I{CONTRACT}",
        f"--python_out={folder}",
        f"--pyi_out={folder}",
        f"--grpc_python_out={folder}",
    ]
    includes = Path(protoc.__file__).parent / "_proto"
    if protoc.main(["protoc", *arguments, f"-I{includes}", *contracts]) != 0:
        raise SystemExit("the contract does not compile")
    for path in sorted((folder / "ganger" / "v1").iterdir()):
        if path.suffix in (".py", ".pyi"):
            text = path.read_text()
            for part in _PARTS:
                text = part.sub("", text)
            path.write_text(text)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "src")
