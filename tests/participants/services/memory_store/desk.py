"""A memory store, somebody who asks it, and what it says to all."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

import pytest

from bus.client import BusClient
from bus.config import SystemConfig
from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.base import Message
from bus.messages.control import Backend, BackendRequest, Done
from bus.messages.memory import (
    FactKept,
    KeepEngram,
    ListMemories,
    MemoriesFound,
    Memory,
    MemoryPage,
    MemoryStatus,
    Recall,
    Recalled,
    RememberFact,
    SearchMemory,
    UserContextUpdated,
)
from bus.testing import MemoryBus
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.service import MemoryService

M = TypeVar("M", bound=Message)
RULES = MemoryStoreConfig(id="memory", embed_s=5.0)
_WITHIN_S = 20.0


class Desk:
    """The store's desk."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.updated: list[str] = []
        self.statuses: list[MemoryStatus] = []
        self.embedded = Backend(state="absent")

    async def open(self, rules: MemoryStoreConfig = RULES) -> None:
        """Start the store."""
        self.asker: BusClient = await self.bus.client("asker")
        self.asker.serve(BackendRequest, lambda _message, _envelope: self.embedded)
        self.asker.on(UserContextUpdated, lambda _message, envelope: self.updated.append(envelope.user_id))
        self.asker.on(MemoryStatus, lambda message, _envelope: self.statuses.append(message))
        self.service = MemoryService(rules, self.bus.make("memory_store"), SystemConfig(id="system"))
        self._run = asyncio.create_task(self.service.run())
        await self.service.bus.wait_ready(5)

    async def close(self) -> None:
        """Stop it."""
        self.service.stop()
        await self._run
        await self.asker.close()

    async def restart(self, rules: MemoryStoreConfig = RULES) -> None:
        """Another process on the same store."""
        await self.close()
        await self.open(rules)

    async def ask(self, message: Message, expect: type[M], user: str = "ann", query_id: str = "", **more: str) -> M:
        """Request and answer."""
        turn = TurnRef(more.get("session_id", ""), user, query_id)
        return await self.asker.request(message, expect, turn=turn, timeout_s=_WITHIN_S)

    async def refused(self, message: Message, user: str = "ann", query_id: str = "", **more: str) -> str:
        """The code of the refusal."""
        with pytest.raises(RequestFailed) as caught:
            await self.ask(message, Message, user, query_id, **more)
        return caught.value.code

    # ------------------------------------------------------------------ short ways

    async def pin(self, fact: str, user: str = "ann", query_id: str = "") -> FactKept:
        """Pin a fact."""
        return await self.ask(RememberFact(fact=fact), FactKept, user, query_id)

    async def keep(self, number: int, query: str, text: str, user: str = "ann", session: int = 1, **more: Any) -> None:
        """Keep an engram."""
        engram = Memory(memory_id="", user_id="", kind="engram", query=query, text=text, **more)
        await self.ask(KeepEngram(engram=engram), Done, user, f"q{number}", session_id=f"s{session}")

    async def settled(self) -> None:
        """Make the vectors that are missing, and take out those that have to go."""
        while await self.service.meaning.some():
            pass

    async def recall(self, query: str, user: str = "ann") -> Recalled:
        """What fits."""
        return await self.ask(Recall(query=query), Recalled, user)

    async def recalled(self, query: str, user: str = "ann") -> list[str]:
        """The texts of the engrams that fit."""
        return [memory.text for memory in (await self.recall(query, user)).engrams]

    async def search(self, query: str, user: str = "ann") -> list[str]:
        """The texts of all that fits."""
        return [m.text for m in (await self.ask(SearchMemory(query=query), MemoriesFound, user)).memories]

    async def all(self, user: str = "ann", **more: Any) -> list[Memory]:
        """The newest page of all."""
        return (await self.ask(ListMemories(**more), MemoryPage, user)).memories
