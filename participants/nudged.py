"""How is work done that events only hint at?

Each hint is a nudge. The work asks for what there is to do until nothing is left, so that a lost hint costs nothing
once another comes, and two at once do nothing twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from bus.errors import Local2Error

log = structlog.get_logger()


class Nudged:
    """Works after each nudge; nudges that come meanwhile count once.

    Args:
        work: Does some of it; returns whether there may be more.
        name: For the log.
        again_s: So long after a failure it is tried again.
    """

    def __init__(self, work: Callable[[], Awaitable[bool]], name: str, again_s: float = 5.0) -> None:
        self._work, self._name, self._again_s = work, name, again_s
        self._wanted = asyncio.Event()

    def nudge(self) -> None:
        """There may be something to do."""
        self._wanted.set()

    async def run(self) -> None:
        """Work for ever."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                while await self._work():
                    pass
            except Local2Error as error:  # who has the work, or takes it, is away
                log.info("put_off", work=self._name, reason=str(error))
                asyncio.get_running_loop().call_later(self._again_s, self.nudge)
            except Exception:  # one fault must not end all that comes after it
                log.exception("work_failed", work=self._name)
                asyncio.get_running_loop().call_later(self._again_s, self.nudge)
