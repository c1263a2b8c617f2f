"""Which open turns have been silent for so long that their last message may be lost?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from gateway.outbox import Key


@dataclass(slots=True)
class OpenTurn:
    """A turn that somebody watches."""

    key: Key
    heard: float
    """The loop's time of its last event, or of its last check."""


class Silence:
    """One timer for all open turns, only while there are any.

    Args:
        limit_s: How long is too long; asked for at each tick.
        check: Called with a turn that has been silent for so long, and again after as long.
    """

    def __init__(self, limit_s: Callable[[], float], check: Callable[[Key, str], None]) -> None:
        self._limit_s, self._check = limit_s, check
        self._turns: dict[str, OpenTurn] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._turns)

    def heard(self, key: Key, query_id: str) -> None:
        """The turn is open."""
        loop = asyncio.get_running_loop()
        turn = self._turns.get(query_id)
        if turn is not None:
            turn.heard = loop.time()
            return
        self._turns[query_id] = OpenTurn(key, loop.time())
        if self._timer is None:
            self._timer = loop.call_later(self._limit_s() / 2, self._tick)

    def knows(self, query_id: str) -> bool:
        """Whether the turn is open, as far as is known."""
        return query_id in self._turns

    def over(self, query_id: str) -> None:
        """The turn has ended."""
        self._turns.pop(query_id, None)

    def unwatched(self, key: Key) -> None:
        """Nobody watches this session any more."""
        self._turns = {query_id: turn for query_id, turn in self._turns.items() if turn.key != key}

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        self._timer = None
        loop, limit_s = asyncio.get_running_loop(), self._limit_s()
        for query_id, turn in list(self._turns.items()):
            if loop.time() - turn.heard >= limit_s:
                turn.heard = loop.time()
                self._check(turn.key, query_id)
        if self._turns:
            self._timer = loop.call_later(limit_s / 2, self._tick)
