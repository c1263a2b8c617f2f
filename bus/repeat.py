"""How is something done again and again until it has worked?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Repeat:
    """Does it now, and after each pause again, until `stop`.

    Args:
        pause_s: Between two times.
        work: What to do.
    """

    def __init__(self, pause_s: float, work: Callable[[], object]) -> None:
        self._pause_s, self._work = pause_s, work
        self._timer: asyncio.TimerHandle | None = None
        self.again()

    def again(self) -> None:
        """Begin anew, also after a stop."""
        self.stop()
        self._timer = asyncio.get_running_loop().call_later(self._pause_s, self.again)
        self._work()

    def stop(self) -> None:
        """Not again."""
        if self._timer is not None:
            self._timer.cancel()
