"""The jobs of the worker processes in the tests. What they do, they write down in the test's folder."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from ganger import App, Context

app = App()


def note(line: str) -> None:
    """One line, whole, whatever happens to the process next."""
    folder = Path(os.environ["GANGER_TEST_FOLDER"])
    descriptor = os.open(folder / "notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def opened(gate: str) -> bool:
    return (Path(os.environ["GANGER_TEST_FOLDER"]) / gate).exists()


@app.job("gated")
def gated(name: str, gate: str = "gate", *, ctx: Context = Context.current) -> str:
    """Runs until its gate is opened, or it is told to stop."""
    note(f"started {name} {ctx.attempt}")
    while not opened(gate):
        ctx.sleep(0.02)
    note(f"ended {name} {ctx.attempt}")
    return f"{name} {ctx.attempt}"


@app.job("deaf")
def deaf(name: str, gate: str = "gate", *, ctx: Context = Context.current) -> str:
    """Runs until its gate, or that of its attempt, is opened, whatever it is told."""
    note(f"started {name} {ctx.attempt}")
    while not opened(gate) and not opened(f"{gate} {ctx.attempt}"):
        time.sleep(0.02)
    note(f"ended {name} {ctx.attempt}")
    return f"{name} {ctx.attempt}"


@app.job("quick")
async def quick(number: int) -> int:
    """Takes a moment."""
    await asyncio.sleep(0.01)
    note(f"ran {number}")
    return number * 2


@app.job("blocks")
async def blocks(seconds: float) -> str:
    """Blocks the whole event loop, as an async handler must not."""
    note(f"blocks {seconds}")
    time.sleep(seconds)
    return "blocked"


@app.job("effect", max_attempts=5)
def effect(name: str, gate: str = "gate", *, ctx: Context = Context.current) -> str:
    """Does once what cannot be repeated."""
    ctx.mark_effect()
    note(f"marked {name} {ctx.attempt}")
    while not opened(gate):
        ctx.sleep(0.02)
    return f"{name} {ctx.attempt}"


@app.job("effect.async", max_attempts=5)
async def effect_async(name: str, refusals: int = 0, *, ctx: Context = Context.current) -> str:
    """The same, on the event loop; the other side says no so many times."""
    await ctx.mark_effect_async()
    note(f"marked {name} {ctx.attempt}")
    if ctx.attempt <= refusals:
        await ctx.unmark_effect_async()
        raise RuntimeError("refused")
    return f"{name} {ctx.attempt}"


@app.job("effect.gated")
def gated_effect(name: str, *, ctx: Context = Context.current) -> str:
    """Asks for its mark when it is let to."""
    note(f"started {name} {ctx.attempt}")
    while not opened("ask"):
        ctx.sleep(0.02)
    ctx.mark_effect()
    note(f"marked {name} {ctx.attempt}")
    return f"{name} {ctx.attempt}"
