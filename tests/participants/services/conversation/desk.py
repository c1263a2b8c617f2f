"""A ledger on an in-memory bus, with a clock that can be put forward, and somebody who asks it."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import pytest

from bus.client import BusClient
from bus.config import SystemConfig
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.approval import ApprovalRequest, ApprovalResult
from bus.messages.base import Message
from bus.messages.control import Done
from bus.messages.generation import AnswerDialog, CancelGeneration, ResponseGeneration
from bus.messages.ledger import ClaimTurn, FinishTurn, SessionChanged, TurnClaimed, TurnEnd, TurnGranted
from bus.messages.query import QueryReceived, SubmitTurn, TurnAccepted, TurnQueued
from bus.testing import MemoryBus
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.service import ConversationService

M = TypeVar("M", bound=Message)
RULES = ConversationConfig(
    id="ledger",
    lease_s=100,
    offer_s=(10, 20),
    give_up_s=1000,
    cancel_grace_s=90,
    cancel_again_s=30,
    max_active=3,
    max_open=4,
    drain_grace_s=0,
)
"""Long times, so that only the clock of a test makes something due."""
_STEP_S = 10
_HEARD: tuple[type[Message], ...] = (
    QueryReceived,
    TurnQueued,
    SessionChanged,
    ResponseGeneration,
    AnswerDialog,
    CancelGeneration,
    ApprovalRequest,
    ApprovalResult,
)


class Clock:
    """The loop's time, which a test puts forward."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._real, self._ahead = loop.time, 0.0

    def __call__(self) -> float:
        return self._real() + self._ahead

    async def forward(self, seconds: float) -> None:
        """Let time pass, and everything happen that is due meanwhile."""
        while seconds > _STEP_S:
            await self.jump(_STEP_S)
            seconds -= _STEP_S
        await self.jump(seconds)

    async def jump(self, seconds: float) -> None:
        """Let time pass while the process does nothing, as when its machine is overloaded."""
        self._ahead += seconds
        for _ in range(20):
            await asyncio.sleep(0)


class Desk:
    """A ledger, somebody who asks it, and what it says to all."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.bus = MemoryBus()
        self.heard: list[tuple[Message, Envelope]] = []
        self.grants: list[tuple[TurnGranted, TurnRef]] = []

    async def open(self, rules: ConversationConfig = RULES) -> None:
        """Start the ledger."""
        self.asker: BusClient = await self.bus.client("asker")
        for kind in _HEARD:
            self.asker.on(kind, lambda message, envelope: self.heard.append((message, envelope)))
        self.asker.on(TurnGranted, lambda message, envelope: self.grants.append((message, envelope.turn)))
        self.service = ConversationService(rules, self.bus.make("conversation"), SystemConfig(id="system"))
        self._run = asyncio.create_task(self.service.run())
        await self.service.bus.wait_ready(5)
        await self.clock.forward(0)

    async def close(self) -> None:
        """Stop it."""
        self.service.stop()
        await self._run
        await self.asker.close()

    async def restart(self, rules: ConversationConfig = RULES) -> None:
        """Another process on the same store."""
        await self.close()
        self.heard.clear()
        await self.open(rules)

    async def ask(self, message: Message, expect: type[M], turn: TurnRef) -> M:
        """Request and answer; what was said until then is in `heard`."""
        answer = await self.asker.request(message, expect, turn=turn)
        await self.clock.forward(0)
        return answer

    async def refused(self, message: Message, turn: TurnRef) -> str:
        """The code of the refusal."""
        with pytest.raises(RequestFailed) as caught:
            await self.asker.request(message, Message, turn=turn)
        return caught.value.code

    async def submit(self, turn: TurnRef, query: str = "Why?", **more: Any) -> TurnAccepted:
        """Ask a question."""
        return await self.ask(SubmitTurn(query=query, **more), TurnAccepted, turn)

    async def claim(self, turn: TurnRef, holder: str = "boot1", pid: int = 11, **more: Any) -> TurnClaimed:
        """Claim a turn."""
        return await self.ask(ClaimTurn(holder=holder, pid=pid, name="generator", **more), TurnClaimed, turn)

    async def finish(self, turn: TurnRef, fence: int = 1, answer: str = "Because.", status: str = "answered") -> Done:
        """End a turn."""
        end = TurnEnd(status=status, finish_reason="stop", answer=answer)
        return await self.ask(FinishTurn(fence=fence, end=end), Done, turn)

    async def answered(
        self, turn: TurnRef, query: str = "Why?", answer: str = "Because.", *, untrusted: bool = False
    ) -> None:
        """A whole turn."""
        await self.submit(turn, query)
        await self.claim(turn)
        end = TurnEnd(status="answered", finish_reason="stop", answer=answer, untrusted=untrusted)
        await self.ask(FinishTurn(fence=1, end=end), Done, turn)

    def said(self, kind: type[M]) -> list[M]:
        """All messages of a kind since the last `forget`."""
        return [message for message, _ in self.heard if isinstance(message, kind)]

    def said_of(self, kind: type[Message]) -> list[str]:
        """The turns that messages of a kind were about."""
        return [envelope.query_id for message, envelope in self.heard if isinstance(message, kind)]

    def forget(self) -> None:
        """Begin to listen anew."""
        self.heard.clear()


def turn(number: int, session: int = 1, user: str = "ann") -> TurnRef:
    """A turn's name."""
    return TurnRef(f"s{session}", user, f"q{number}")
