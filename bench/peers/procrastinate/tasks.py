"""The handler of Procrastinate."""

import os

import procrastinate

import common

app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=common.STORE, min_size=1, max_size=common.CONCURRENCY + 2))
_board = common.board() if "BENCH_BOARD" in os.environ else None


@app.task(name="noop", queue="bench")
async def noop(n, p):
    _board.handle(n)
