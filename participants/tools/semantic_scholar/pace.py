"""When may the next request go out? One clock for all calls of this process."""

from __future__ import annotations

import asyncio


class Pace:
    """Keeps requests apart, and remembers until when a server wants none."""

    def __init__(self) -> None:
        self._free_at = 0.0

    async def turn(self, apart_s: float, most_s: float) -> bool:
        """Wait for this request's turn; False at once where that is more than `most_s` away."""
        now = asyncio.get_running_loop().time()
        start = max(now, self._free_at)
        if start - now > most_s:
            return False
        self._free_at = start + apart_s
        await asyncio.sleep(start - now)
        return True

    def hold(self, seconds: float) -> None:
        """No request for so long."""
        self._free_at = max(self._free_at, asyncio.get_running_loop().time() + seconds)
