"""When does the memory recall, keep, refine and forget?

Recalling is asked for by each question, and bounded. All else is pulled: from the ledger what is overdue, so that a
lost event or a restart costs nothing, and from the model in quiet times alone.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from bus.config import Section
from bus.envelope import Envelope, TurnRef
from bus.messages.control import PresenceRequest
from bus.messages.critique import CritiqueResult, UserFeedback
from bus.messages.generation import ResponseGeneration
from bus.messages.ledger import EndedTurn, SessionChanged
from bus.messages.memory import MemoryStatus
from bus.messages.query import QueryReceived
from participants.agents.base import BaseAgent
from participants.agents.memory.config import MemoryConfig
from participants.agents.memory.forget import Forgetting
from participants.agents.memory.ingest import Ingestion, Machine, Waiting
from participants.agents.memory.recall import Recollection
from participants.agents.memory.refine import Refining
from participants.agents.memory.states import State
from participants.agents.memory.transitions import TRANSITIONS
from participants.backend.helper import HelperModel
from participants.background import Background
from participants.nudged import Nudged
from participants.presence import Watched

_STORE = "memory_store"
_DELETED = frozenset({"deleted", "turns"})


class MemoryAgent(BaseAgent):
    """The agent that remembers."""

    CONFIG_NAME: ClassVar[str] = "memory"
    Config: ClassVar[type[Section]] = MemoryConfig
    ALSO_READS: ClassVar[tuple[str, ...]] = ("models",)
    config: MemoryConfig

    async def setup(self) -> None:
        """Listen for questions, answers, and what is said of them."""
        self._store = Watched(self.bus, _STORE)
        self._store.listen()
        self._model = HelperModel(self.bus, "memory")
        self._model.listen()
        self._background = Background(self.bus)
        self._background.listen()
        self._insights_soon: asyncio.TimerHandle | None = None
        self._waiting = Waiting()
        self._recollection = Recollection(self.bus, self._store, lambda: self.config.recall_s)
        refining = Refining(self.bus, self._model, self._background, self._waiting, lambda: self.config)
        self._ingesting = Nudged(Ingestion(self.bus, self._machine, self._kept).some, "ingest")
        self._forgetting = Nudged(Forgetting(self.bus).some, "forget")
        self._refining = Nudged(refining.one_turn, "refine")
        self._insights = Nudged(refining.one_insight, "insights")
        self.bus.on(QueryReceived, self._on_query)
        self.bus.on(ResponseGeneration, lambda _message, _envelope: self._ingesting.nudge())
        self.bus.on(CritiqueResult, lambda _message, _envelope: self._ingesting.nudge())
        self.bus.on(UserFeedback, lambda _message, _envelope: self._ingesting.nudge())
        self.bus.on(SessionChanged, self._on_session)
        self.bus.on(MemoryStatus, lambda _message, _envelope: self._catch_up())

    async def started(self) -> None:
        """Begin to work off what is overdue."""
        for work in (self._ingesting, self._forgetting, self._refining, self._insights):
            self.spawn(work.run(), name="work")

    def linked(self) -> None:
        """Whatever was said while the bus was away, or before we came, is asked for."""
        self.bus.publish(PresenceRequest())
        self._catch_up()

    def reconfigured(self, before: Any) -> None:
        """Another model may be there now."""
        self._model.reconfigured()

    async def farewell(self) -> None:
        """Leave no connection open. What was not kept is still overdue."""
        await self._model.close()

    def _catch_up(self) -> None:
        self._ingesting.nudge()
        self._forgetting.nudge()

    def _on_query(self, message: QueryReceived, envelope: Envelope) -> None:
        self._no_insights_yet()
        if message.incognito:
            return
        turn = envelope.turn
        work = self._recollection.tell(turn, message.query, self._machine(turn))
        self.spawn(work, name=f"recall {turn.query_id}")

    def _on_session(self, message: SessionChanged, _envelope: Envelope) -> None:
        if message.change in _DELETED:
            self._forgetting.nudge()

    def _kept(self, turn: EndedTurn, machine: Machine) -> None:
        """A model may do better than rules; and several memories may agree now."""
        if not self.config.use_model:
            return
        self._waiting.add(turn, machine)
        self._refining.nudge()
        if self.config.insights:
            self._no_insights_yet()
            loop = asyncio.get_running_loop()
            self._insights_soon = loop.call_later(self.config.insights_pause_s, self._insights.nudge)

    def _no_insights_yet(self) -> None:
        if self._insights_soon is not None:
            self._insights_soon.cancel()

    def _machine(self, turn: TurnRef) -> Machine:
        return self.machine(TRANSITIONS, State.IDLE, turn)
