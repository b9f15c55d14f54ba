"""The handler of RQ."""

import common

_board = None


def noop(n, p):
    global _board
    if _board is None:
        _board = common.board()
    _board.handle(n)
