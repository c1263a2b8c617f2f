"""What is remembered that fits a question?"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import Local2Error, RequestTimeout
from bus.messages.memory import MemoryContext, Recall, Recalled
from participants.agents.memory.states import Action, State
from participants.presence import Watched
from participants.state_machine import StateMachine

log = structlog.get_logger()
Machine = StateMachine[State, Action]
ABSENT = "The memory's store does not run now: nothing was recalled."


class Recollection:
    """Recalls for questions.

    Args:
        bus: Reaches the store.
        store: Whether it runs.
        limit_s: How long it may take, as it is set now.
    """

    def __init__(self, bus: BusClient, store: Watched, limit_s: Callable[[], float]) -> None:
        self._bus, self._store, self._limit_s = bus, store, limit_s

    async def tell(self, turn: TurnRef, query: str, machine: Machine) -> None:
        """Publish what fits, or why there is nothing: whoever answers waits for it."""
        started = monotonic()
        machine.do(Action.RECALL)
        found = await self._find(turn, query)
        context = MemoryContext(
            facts=found.facts,
            engrams=found.engrams,
            insights=found.insights,
            reason=found.reason,
            seconds=round(monotonic() - started, 4),
        )
        self._bus.publish(context, turn=turn)
        machine.do(Action.TELL, found.reason)

    async def _find(self, turn: TurnRef, query: str) -> Recalled:
        if not self._store.here:
            return Recalled(reason=ABSENT)
        limit_s = self._limit_s()
        try:
            return await self._bus.request(Recall(query=query), Recalled, turn=turn, timeout_s=limit_s)
        except RequestTimeout:
            return Recalled(reason=f"Recalling took longer than {limit_s:g} s and was left out.")
        except Local2Error as error:
            log.warning("not_recalled", reason=str(error))
            return Recalled(reason=f"Nothing was recalled: {error}")
