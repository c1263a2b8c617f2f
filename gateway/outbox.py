"""Which frames wait for one client, and when is it too slow for them?"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

Key = tuple[str, str]
"""A user and one of that user's sessions."""
_KEPT = 64
"""Notices that outlive an overflow; what belongs to a turn is told anew by a snapshot."""


class Waiting(NamedTuple):
    """One frame in the queue; `key` and `query_id` where it is about a turn."""

    text: str
    key: Key = ("", "")
    query_id: str = ""


class Outbox:
    """A bounded queue between the bus handlers, which only put, and the one task that sends.

    Args:
        frames: At most so many wait.
        size: At most so many characters wait; a single frame may be larger.
    """

    def __init__(self, frames: int, size: int) -> None:
        self._frames, self._size = frames, size
        self._waiting: deque[Waiting] = deque()
        self._used = 0
        self._wake = asyncio.Event()
        self.closed = False

    def put(self, item: Waiting) -> bool:
        """Queue a frame; False where there is no room."""
        full = len(self._waiting) >= self._frames or self._used + len(item.text) > self._size
        if full and self._waiting:
            return False
        self._waiting.append(item)
        self._used += len(item.text)
        self._wake.set()
        return True

    def clear(self) -> list[Waiting]:
        """Drop what is about turns, and return it."""
        dropped = [item for item in self._waiting if item.query_id]
        kept = [item for item in self._waiting if not item.query_id][-_KEPT:]
        self._waiting = deque(kept)
        self._used = sum(len(item.text) for item in kept)
        self._wake.set()
        return dropped

    def close(self) -> None:
        """Nothing is put any more; what waits is still sent."""
        self.closed = True
        self._wake.set()

    def pop(self) -> str | None:
        """The next frame's text; None where none waits."""
        if not self._waiting:
            return None
        item = self._waiting.popleft()
        self._used -= len(item.text)
        return item.text

    async def wait(self) -> None:
        """Until there may be something to do."""
        await self._wake.wait()
        self._wake.clear()
