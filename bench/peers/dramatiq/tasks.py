"""The handler of Dramatiq."""

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker

import common

broker = RedisBroker(url=common.STORE)
dramatiq.set_broker(broker)
_board = common.board() if "BENCH_BOARD" in os.environ else None


@dramatiq.actor(queue_name="bench")
def noop(n, p):
    _board.handle(n)
