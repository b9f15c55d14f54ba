"""Where things are."""

import os
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
PEERS = BENCH / "peers"
RESULTS = BENCH / "results"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# What `bench/peers/setup` makes, apart from `node_modules`, which Node wants beside the drivers.
INSTALLED = TARGET / "peers"
NODE = PEERS / "node_modules" / ".bin" / "node"
