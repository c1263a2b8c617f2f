"""What `local2` tells the participants, and whom it waits for."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bus.client import BusClient
from bus.envelope import Envelope
from bus.messages.control import ConfigReload
from bus.messages.tool import Policies, ToolSchema, ToolSchemaRequest
from bus.testing import MemoryBus
from gateway.stack.tell import tell


class Tool:
    """A tool that reads its yaml when it is told, and is then on or off."""

    def __init__(self, client: BusClient, name: str, now: bool, then: bool) -> None:
        self.client, self.name, self.now, self.then = client, name, now, then
        self.reloads: list[str] = []
        client.on(ConfigReload, self._reload)
        client.on(ToolSchemaRequest, self._announce)

    def _reload(self, message: ConfigReload, _envelope: Envelope) -> None:
        self.reloads.append(message.section)
        self.now = self.then

    def _announce(self, _message: ToolSchemaRequest, _envelope: Envelope) -> None:
        schema = {"type": "object"}
        policies = Policies(enabled=self.now)
        self.client.publish(
            ToolSchema(tool=self.name, name=self.name, description="x", parameters=schema, policies=policies)
        )


@pytest.fixture
async def memory() -> MemoryBus:
    return MemoryBus()


@pytest.fixture
async def local2(memory: MemoryBus) -> AsyncIterator[BusClient]:
    made = memory.make("local2")
    yield made
    await made.close()


async def test_tools_say_that_they_are_on(memory: MemoryBus, local2: BusClient) -> None:
    client = await memory.client("search")
    tool = Tool(client, "search", now=False, then=True)
    assert await tell(local2, ["search", "fetch"], {"search": True}, 10) == set()
    assert tool.reloads == ["search", "fetch"]
    await client.close()


async def test_who_is_silent_or_kept_its_old_settings_is_named(memory: MemoryBus, local2: BusClient) -> None:
    client = await memory.client("search")
    Tool(client, "search", now=False, then=False)
    assert await tell(local2, ["search"], {"search": True, "absent": True}, 0.2) == {"search", "absent"}
    await client.close()


async def test_nobody_is_waited_for_where_nobody_has_to_answer(memory: MemoryBus, local2: BusClient) -> None:
    assert await tell(local2, [""], {}, 60) == set()
