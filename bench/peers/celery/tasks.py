"""The handler, and the settings of Celery: acknowledged after the handler returned, as everybody else does; no results."""

from celery import Celery, signals

import common

app = Celery("bench", broker=common.STORE)
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=128,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
)
_board = None


@signals.worker_process_init.connect
def _open(**_):
    global _board
    _board = common.board()


@app.task(name="noop")
def noop(n, p):
    _board.handle(n)
