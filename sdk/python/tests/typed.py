"""What type checkers must accept, and must refuse: mypy checks this file, and each `ignore` must be needed."""

from __future__ import annotations

from typing_extensions import assert_type

from ganger import App, AsyncHandle, Context, Handle, NewJob

app = App()


@app.job("typed.sync", max_attempts=3)
def add(x: int, y: int = 1, *, ctx: Context = Context.current) -> int:
    return x + y


@app.job("typed.async")
async def greet(name: str) -> list[str]:
    return [name]


async def accepted() -> None:
    assert_type(add(1), int)
    assert_type(await greet("a"), list[str])
    assert_type(add.enqueue_sync(1, y=2), Handle[int])
    assert_type(add.enqueue_sync(1).wait(), int)
    assert_type(await greet.enqueue("a"), AsyncHandle[list[str]])
    assert_type(await (await greet.options(delay="5m", priority=3).enqueue("a")).wait(), list[str])
    assert_type(add.new(1), NewJob)


async def refused() -> None:
    add("1")  # type: ignore[arg-type]
    add.enqueue_sync()  # type: ignore[call-arg]
    add.enqueue_sync("1")  # type: ignore[arg-type]
    await greet.enqueue(1)  # type: ignore[arg-type]
    await greet.enqueue("a", loudly=True)  # type: ignore[call-arg]
    add.options(atempts=3)  # type: ignore[call-arg]
    add.options(priority="high")  # type: ignore[arg-type]
    app.job("x", queue=1)  # type: ignore[arg-type]
    app.worker(treads=3)  # type: ignore[call-arg]
