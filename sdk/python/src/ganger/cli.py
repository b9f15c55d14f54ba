"""The command line: ``python -m ganger worker module:app``."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, cast

from .app import App, WorkerOptions
from .durations import seconds
from .errors import BadArguments
from .version import __version__

#: Exit code of a command that cannot be understood, as of the `ganger` binary.
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command."""
    given = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.DEBUG if given.verbose else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    app = _load(given.app)
    try:
        worker = app.worker(**_options(given))
    except (BadArguments, ValueError) as error:
        _fail("cannot start the worker", str(error), "see python -m ganger worker --help")
    worker.run_sync()
    print("drained", file=sys.stderr, flush=True)
    return 0


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
    worker.add_argument("-v", "--verbose", action="store_true", help="log more")
    return parser


def _duration(text: str) -> float:
    try:
        return seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _options(given: argparse.Namespace) -> WorkerOptions:
    names = ("url", "queues", "threads", "name", "ttl", "on_lapse", "cancel_grace", "drain_grace")
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


def _fail(what: str, why: str, do: str) -> NoReturn:
    print(f"error: {what}\n  why: {why}\n  do:  {do}", file=sys.stderr)
    raise SystemExit(USAGE)
