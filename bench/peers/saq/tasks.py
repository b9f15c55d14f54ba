"""The handler of SAQ, and its settings: results are not kept."""

import os

from saq import Queue

import common

queue = Queue.from_url(common.STORE, name="bench")
_board = common.board() if "BENCH_BOARD" in os.environ else None


async def noop(_context, *, n, p):
    _board.handle(n)


settings = {"queue": queue, "functions": [noop], "concurrency": common.CONCURRENCY}
