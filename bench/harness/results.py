"""Raw results: one file per measurement below bench/results/DATE, so that a run can be stopped and gone on with."""

import json
import os
from pathlib import Path

SCHEMA = 1


def path(folder, workload, contender, run):
    return Path(folder) / workload / f"{contender}-{run}.json"


def write(file, record):
    """Whole or not at all: a file that is there is not measured again."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps({"schema": SCHEMA, **record}, indent=1, ensure_ascii=False) + "\n")
    os.replace(part, file)


def read(file):
    """A record, or nothing if there is none that can be used."""
    try:
        record = json.loads(Path(file).read_text())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("schema") == SCHEMA else None


def read_all(folder, workloads):
    """Every record of a run, in order."""
    files = [file for workload in workloads for file in sorted((Path(folder) / workload).glob("*.json"))]
    return [record for record in map(read, files) if record]


def is_good(record):
    """Whether it counts: it was measured to its end, and nobody held it still meanwhile."""
    return bool(record) and "error" not in record and not record.get("held")


def newest(parent):
    """The last folder that has results."""
    folders = sorted(folder for folder in Path(parent).glob("*") if folder.is_dir())
    return folders[-1] if folders else None
