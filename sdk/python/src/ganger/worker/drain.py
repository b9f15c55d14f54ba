"""The end of a worker, step by step: handlers may finish, then are told to stop, then are left."""

from __future__ import annotations

from enum import Enum

#: Seconds that the last acknowledgements may take.
ACKS = 5.0
#: Seconds that are spent on a goodbye alone.
GOODBYE = 2.0


class Step(Enum):
    """What is to be done."""

    STOP_HANDLERS = "stop handlers"
    GIVE_UP = "give up"


class Draining:
    """A drain that has begun."""

    def __init__(self, now: float, grace: float, cancel_grace: float) -> None:
        self._cancel_grace = cancel_grace
        self._stop_at = now + grace
        self._stopped = False
        self._give_up_at = self._stop_at + cancel_grace + ACKS

    def hasten(self, now: float, grace: float) -> None:
        """A second word can only make it shorter."""
        self._stop_at = min(self._stop_at, now + grace)
        self._give_up_at = min(self._give_up_at, now + grace + self._cancel_grace + ACKS)

    def only_goodbye_is_left(self, now: float) -> None:
        """Nothing is held any more, and there is no stream to say so."""
        self._give_up_at = min(self._give_up_at, now + GOODBYE)

    def due(self) -> float:
        """When :meth:`step` is next needed."""
        return self._give_up_at if self._stopped else min(self._stop_at, self._give_up_at)

    def step(self, now: float) -> Step | None:
        """What is to be done now; each step is told once."""
        if now >= self._give_up_at:
            return Step.GIVE_UP
        if not self._stopped and now >= self._stop_at:
            self._stopped = True
            return Step.STOP_HANDLERS
        return None
