"""What is remembered for a turn, and how long is it waited for?

The memory agent hears of each question by itself, and publishes what it finds. It is waited for while it runs, and
never longer than the limit: an answer without recall is better than none.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.messages.memory import MemoryContext
from participants.presence import Watched

_AGENT = "memory"
_MOST_KEPT = 64
LATE = "The memory did not answer in time: nothing was recalled."
GONE = "The memory ended meanwhile: nothing was recalled."


class Recall:
    """Takes what the memory agent publishes.

    Args:
        bus: Where it is published. Somebody else asks all programs for their presence.
        limit_s: The longest wait, as it is set now.
    """

    def __init__(self, bus: BusClient, limit_s: Callable[[], float]) -> None:
        self._bus, self._limit_s = bus, limit_s
        self._agent = Watched(bus, _AGENT)
        self._early: OrderedDict[str, MemoryContext] = OrderedDict()
        self._waiting: dict[str, asyncio.Future[MemoryContext]] = {}

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._agent.listen()
        self._bus.on(MemoryContext, self._on_context)

    async def of(self, turn: TurnRef) -> MemoryContext:
        """What is remembered for a turn; where that is nothing, maybe with a reason."""
        found = self._early.pop(turn.query_id, None)
        if found is not None or not self._agent.here:
            return found or MemoryContext()
        coming = self._waiting[turn.query_id] = asyncio.get_running_loop().create_future()
        gone = asyncio.ensure_future(self._agent.gone())
        try:
            await asyncio.wait([coming, gone], timeout=self._limit_s(), return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                return coming.result()
            return MemoryContext(reason=GONE if gone.done() else LATE)
        finally:
            gone.cancel()
            del self._waiting[turn.query_id]

    def _on_context(self, context: MemoryContext, envelope: Envelope) -> None:
        waiting = self._waiting.get(envelope.query_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(context)
        elif waiting is None:
            self._early[envelope.query_id] = context
            if len(self._early) > _MOST_KEPT:
                self._early.popitem(last=False)
