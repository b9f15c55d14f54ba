"""What bench/peers/setup has installed, and what it could not, and why."""

import json

from .paths import INSTALLED

FILE = INSTALLED / "status.json"


def read():
    """By peer: `version`, or `missing` with the reason."""
    try:
        return json.loads(FILE.read_text())
    except (OSError, ValueError):
        return {}


def write(status):
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(status, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def why_missing(contender, status):
    """Nothing if it can be run."""
    known = status.get(contender.peer)
    if known is None:
        return "bench/peers/setup has not been run for it"
    if "missing" in known:
        return known["missing"]
    absent = [str(file) for file in contender.command if not file.exists()]
    return f"{absent[0]} is not there: run bench/peers/setup again" if absent else None
