"""The command line: ``python -m ganger worker module:app``."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, cast

from . import supervise
from .app import App, WorkerOptions
from .durations import seconds
from .errors import BadArguments, GangerError
from .version import __version__

#: Exit code of a command that cannot be understood, as of the `ganger` binary.
USAGE = 2
#: Most processes of one command.
PROCESSES = 256


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = _parser().parse_args(words)
    given.words = words
    logging.basicConfig(
        level=logging.DEBUG if given.verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    return int(given.run(given))


def _schedules(given: argparse.Namespace) -> int:
    app = _load(given.app)
    try:
        for schedule in app.put_schedules():
            print(schedule.name)
    except (GangerError, ValueError) as error:
        _fail("cannot put the schedules", str(error), "see python -m ganger schedules --help", 1)
    return 0


def _worker(given: argparse.Namespace) -> int:
    if given.reload or given.processes != 1:
        return _supervise(given)
    app = _load(given.app)
    try:
        app.worker(**_options(given)).run_sync()
    except (BadArguments, ValueError) as error:
        _fail("cannot start the worker", str(error), "see python -m ganger worker --help")
    print("drained", file=sys.stderr, flush=True)
    return 0


def _supervise(given: argparse.Namespace) -> int:
    if given.health is not None and given.processes != 1:
        _fail("cannot start the workers", "they would share one address for --health", "leave out --health")
    if not 1 <= given.processes <= PROCESSES:
        _fail("cannot start the workers", f"--processes is {given.processes}", f"allowed are 1 to {PROCESSES}")
    name = given.name or f"{socket.gethostname()}-{os.getpid()}"
    arguments = [word for word in given.words if word != "--reload"]
    for option in ("--processes", "--name"):
        arguments = _without(arguments, option)
    started = supervise.commands(arguments, given.processes, name)
    return supervise.Supervisor(started, Path.cwd() if given.reload else None).run()


def _without(words: Sequence[str], option: str) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or word == option:
            skip = not skip
        elif not word.startswith(f"{option}="):
            kept.append(word)
    return kept


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ganger", description="Workers for the Ganger job scheduler.")
    parser.add_argument("--version", action="version", version=f"ganger {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    worker = commands.add_parser(
        "worker",
        help="run the jobs of an app",
        description="Runs the jobs of an app until SIGTERM or SIGINT; a second one ends it at once.",
        epilog="example: python -m ganger worker shop.jobs:app --queue mail --threads 16",
    )
    worker.add_argument("app", metavar="MODULE:APP", help="where the app is, such as shop.jobs:app")
    worker.add_argument("--url", help="servers, several between commas (GANGER_URL, http://127.0.0.1:8080)")
    worker.add_argument("--queue", action="append", dest="queues", metavar="QUEUE", help="serve only these; repeat it")
    worker.add_argument("--threads", type=int, help="units of capacity (at most 32, or processors + 4)")
    worker.add_argument("--name", help="how it is called in lists (host and process)")
    worker.add_argument("--label", action="append", dest="labels", metavar="NAME=VALUE", help="repeat it")
    worker.add_argument("--ttl", type=_duration, help="silence after which its jobs run elsewhere (15s)")
    worker.add_argument("--on-lapse", choices=["cancel", "continue"], help="handlers without a server (cancel)")
    worker.add_argument("--cancel-grace", type=_duration, help="time to stop when told to (10s)")
    worker.add_argument("--drain-grace", type=_duration, help="time to finish when draining (30s)")
    worker.add_argument("--health", metavar="ADDRESS", help="serve /livez, /readyz, /metrics and /jobs here")
    worker.add_argument("--processes", type=int, default=1, metavar="N", help="so many workers, for CPU-bound work (1)")
    worker.add_argument(
        "--reload", action="store_true", help="start again when a Python file below this folder changes"
    )
    worker.add_argument("-v", "--verbose", action="store_true", help="log more")
    worker.set_defaults(run=_worker)
    schedules = commands.add_parser(
        "schedules",
        help="make or replace the schedules of an app",
        description="Makes or replaces the schedules that an app declares with @app.schedule. Others are left alone.",
        epilog="example: python -m ganger schedules shop.jobs:app",
    )
    schedules.add_argument("app", metavar="MODULE:APP", help="where the app is, such as shop.jobs:app")
    schedules.set_defaults(run=_schedules, verbose=False)
    return parser


def _duration(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _options(given: argparse.Namespace) -> WorkerOptions:
    names = ("url", "queues", "threads", "name", "ttl", "on_lapse", "cancel_grace", "drain_grace", "health")
    options = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if given.labels:
        pairs = [label.partition("=") for label in given.labels]
        if not all(equals for _, equals, _ in pairs):
            raise ValueError("a label is written NAME=VALUE")
        options["labels"] = {name: value for name, _, value in pairs}
    return cast(WorkerOptions, options)


def _load(place: str) -> App:
    module_name, _, attribute = place.partition(":")
    # As `python -m` does: what lies beside us can be imported.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(module_name)
        for name in (attribute or "app").split("."):
            found = getattr(found, name)
    except ModuleNotFoundError as error:
        if error.name is not None and not module_name.startswith(error.name):
            raise
        _fail(
            f"cannot find {place}",
            str(error),
            "name a module that can be imported from here, as in shop.jobs:app",
        )
    except AttributeError as error:
        _fail(f"cannot find {place}", str(error), "name the App after the colon, as in shop.jobs:app")
    if not isinstance(found, App):
        _fail(f"{place} is no app", f"it is a {type(found).__name__}", "name the App after the colon")
    return found


def _fail(what: str, why: str, do: str, code: int = USAGE) -> NoReturn:
    print(f"error: {what}\n  why: {why}\n  do:  {do}", file=sys.stderr)
    raise SystemExit(code)
