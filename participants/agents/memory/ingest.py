"""How does an answered turn become a memory?

The ledger says what is overdue; events only hint. A turn is kept at once as rules see it, so that nothing that fails
later can lose it; a model may put it in better words afterwards, when nobody waits for the model.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.ledger import EndedTurn, IngestedTurn, Overdue, OverdueTurns
from bus.messages.memory import GetMemories, KeepEngram, MemoryPage, UpdateEngram
from participants.agents.memory import rules, worth
from participants.agents.memory.states import Action, State
from participants.state_machine import StateMachine

log = structlog.get_logger()
Machine = StateMachine[State, Action]
_AT_ONCE = 10
_MOST_WAITING = 200


class Ingestion:
    """Keeps what the ledger says is overdue.

    Args:
        bus: Reaches the ledger and the store.
        machine: Makes the states of one turn.
        kept: Called with what a model may put in better words.
    """

    def __init__(
        self, bus: BusClient, machine: Callable[[TurnRef], Machine], kept: Callable[[EndedTurn, Machine], None]
    ) -> None:
        self._bus, self._machine, self._kept = bus, machine, kept

    async def some(self) -> bool:
        """Ingest the oldest few; whether there may be more."""
        overdue = await self._bus.request(OverdueTurns(stage="ingested", limit=_AT_ONCE), Overdue)
        for turn in overdue.turns:
            await self._one(turn, ref_of(turn))
        return bool(overdue.turns)

    async def _one(self, turn: EndedTurn, ref: TurnRef) -> None:
        if not (turn.revision and await self._annotated(turn, ref)):
            await self._ingest(turn, ref)
        await self._bus.request(IngestedTurn(revision=turn.revision), Done, turn=ref)

    async def _annotated(self, turn: EndedTurn, ref: TurnRef) -> bool:
        """Whether the turn is kept already, and now with what was said of its answer since."""
        said = UpdateEngram(critic_score=turn.grade.score if turn.grade else None, sentiment=turn.sentiment)
        try:
            await self._bus.request(said, Done, turn=ref)
        except RequestFailed as error:
            if error.code != "not_found":
                raise
            return False
        return True

    async def _ingest(self, turn: EndedTurn, ref: TurnRef) -> None:
        machine = self._machine(ref)
        machine.do(Action.INGEST)
        why_not = worth.why_not(turn, await self._recalled(turn, ref))
        if why_not:
            machine.do(Action.SKIP, why_not)
            return
        await self._bus.request(KeepEngram(engram=rules.engram(turn)), Done, turn=ref)
        machine.do(Action.KEEP)
        self._kept(turn, machine)

    async def _recalled(self, turn: EndedTurn, ref: TurnRef) -> list[str]:
        """What the prompt held of the memory, and what a tool found in it."""
        found = [call.result for call in turn.end.tool_calls if any("memory_id" in source for source in call.sources)]
        ids = [memory.memory_id for memory in [*turn.end.facts, *turn.end.recalled]]
        if ids:
            page = await self._bus.request(GetMemories(memory_ids=ids), MemoryPage, turn=ref)
            found += [f"{memory.query} {memory.text}" for memory in page.memories]
        return found


class Waiting:
    """Turns that a model may put in better words, the newest first: they are asked about soonest. Bounded."""

    def __init__(self) -> None:
        self._turns: OrderedDict[str, tuple[EndedTurn, Machine]] = OrderedDict()

    def add(self, turn: EndedTurn, machine: Machine) -> None:
        """One more; the oldest one goes where there are too many, and stays as rules saw it."""
        self._turns[turn.query_id] = (turn, machine)
        if len(self._turns) > _MOST_WAITING:
            self._turns.popitem(last=False)

    def take(self) -> tuple[EndedTurn, Machine] | None:
        """The newest one."""
        return self._turns.popitem()[1] if self._turns else None


def ref_of(turn: EndedTurn) -> TurnRef:
    """A turn's name."""
    return TurnRef(turn.session_id, turn.user_id, turn.query_id)
