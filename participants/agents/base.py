"""What is an agent? It has a model, is triggered by bus events, and moves through explicit states."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, TypeVar

from bus.envelope import TurnRef
from bus.messages.control import AgentTransition
from participants.participant import Participant
from participants.state_machine import StateMachine

S = TypeVar("S", bound=StrEnum)
A = TypeVar("A", bound=StrEnum)


class BaseAgent(Participant):
    """An agent: each turn that it works on has a state machine of its own."""

    KIND: ClassVar[str] = "agent"

    def machine(self, table: Mapping[tuple[S, A], S], state: S, turn: TurnRef) -> StateMachine[S, A]:
        """A machine for one turn; each move is an `agent.transition` on the bus."""

        def told(before: S, action: A, after: S, note: str) -> None:
            move = AgentTransition(agent=self.CONFIG_NAME, before=before, action=action, after=after, note=note)
            self.bus.hints.tell(move, turn)

        return StateMachine(table, state, told)
