"""A tool on an in-memory bus, somebody who calls it, and stand-ins for the services that it asks."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bus.client import BusClient
from bus.config import SystemConfig, load
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages import Message
from bus.messages.control import Presence
from bus.messages.tool import ToolCall, ToolResult, ToolSchema
from bus.testing import MemoryBus
from participants.tools.base import BaseTool, ToolConfig
from tests.support.stage import Heard, presence

ANN = TurnRef("s1", "ann", "q1")
BOB = TurnRef("s2", "bob", "q2")


class StandIn:
    """A service that gives the answers that a test has put down, and keeps what it was asked.

    Attributes:
        asked: Requests with the turn that their envelopes name, oldest first.
        answers: By request class: the answer, or what it is refused with.
    """

    def __init__(self, bus: BusClient) -> None:
        self.bus = bus
        self.asked: list[tuple[Message, TurnRef]] = []
        self.answers: dict[type[Message], Message | RequestFailed] = {}

    def serve(self, kind: type[Message], answer: Message | RequestFailed) -> None:
        """Answer requests of a kind from now on."""
        known = kind in self.answers
        self.answers[kind] = answer
        if not known:
            self.bus.serve(kind, self._answer)

    async def _answer(self, message: Message, request: Envelope) -> Message:
        self.asked.append((message, request.turn))
        answer = self.answers[type(message)]
        if isinstance(answer, RequestFailed):
            raise answer
        return answer


class Calling:
    """A running tool and its caller."""

    def __init__(self, tool: BaseTool, caller: BusClient, service: StandIn, memory: MemoryBus) -> None:
        self.tool, self.caller, self.service, self.memory = tool, caller, service, memory
        self.results, self.schemas, self.presence = Heard(), Heard(), Heard()
        self._ids = itertools.count(1)
        caller.on(ToolResult, self.results)
        caller.on(ToolSchema, self.schemas)
        caller.on(Presence, self.presence)

    async def call(self, turn: TurnRef = ANN, **args: Any) -> ToolResult:
        """Call it as the dispatcher does."""
        call_id = str(next(self._ids))
        self.caller.publish(ToolCall(tool=self.tool.config.tool, call_id=call_id, args=args, timeout_s=10), turn=turn)
        return await self.results.first(lambda result: result.call_id == call_id)

    async def said(self, turn: TurnRef = ANN, **args: Any) -> str:
        """The text of a call that goes well."""
        result = await self.call(turn, **args)
        assert result.outcome == "ok", result.result
        return result.result

    async def failure(self, turn: TurnRef = ANN, **args: Any) -> str:
        """The words of a call that fails."""
        result = await self.call(turn, **args)
        assert result.outcome == "failed", result.result
        return result.result


@asynccontextmanager
async def calling(kind: type[BaseTool], config: ToolConfig | None = None) -> AsyncIterator[Calling]:
    """A tool that is ready, with its own yaml where no other is given."""
    memory = MemoryBus()
    config = config or load(kind.CONFIG_NAME, kind.Config)  # pyright: ignore[reportAssignmentType]  a tool's is one
    tool = kind(config, memory.make(kind.CONFIG_NAME), SystemConfig(instance_id="here", heartbeat_s=100))
    service = StandIn(await memory.client("service"))
    scene = Calling(tool, await memory.client("caller"), service, memory)
    life = asyncio.create_task(tool.run())
    await scene.presence.first(presence(kind.CONFIG_NAME))
    yield scene
    tool.stop()
    await asyncio.wait_for(life, 10)
    await scene.caller.close()
    await service.bus.close()
