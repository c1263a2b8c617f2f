"""Are hints told later, in order, and before what must not overtake them?"""

from __future__ import annotations

import asyncio

from bus.envelope import Envelope, TurnRef
from bus.messages.control import ToolTransition
from bus.testing import MemoryBus

TURN = TurnRef("s", "u", "q")


def move(number: int) -> ToolTransition:
    return ToolTransition(tool=f"t{number}", before="A", action="B", after="C")


class Ear:
    """What one client hears, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.last = asyncio.Event()

    def __call__(self, message: ToolTransition, envelope: Envelope) -> None:
        self.heard.append(message.tool)
        assert envelope.turn == TURN
        if message.tool == "t9":
            self.last.set()


async def test_hints_come_by_themselves_and_in_order() -> None:
    bus, ear = MemoryBus(), Ear()
    speaker, listener = await bus.client("speaker"), await bus.client("listener")
    listener.on(ToolTransition, ear)
    for number in (1, 2, 9):
        speaker.hints.tell(move(number), TURN)
    assert speaker.counters.sent == 0
    await asyncio.wait_for(ear.last.wait(), 5)
    assert ear.heard == ["t1", "t2", "t9"]
    speaker.hints.tell(move(9), TURN)
    ear.last.clear()
    await asyncio.wait_for(ear.last.wait(), 5)
    await speaker.close()
    await listener.close()


async def test_a_flush_tells_all_at_once_and_only_once() -> None:
    bus, ear = MemoryBus(), Ear()
    speaker, listener = await bus.client("speaker"), await bus.client("listener")
    listener.on(ToolTransition, ear)
    speaker.hints.tell(move(1), TURN)
    speaker.hints.flush()
    speaker.publish(move(2), turn=TURN)
    speaker.hints.flush()
    speaker.hints.tell(move(9), TURN)
    await asyncio.wait_for(ear.last.wait(), 5)
    assert ear.heard == ["t1", "t2", "t9"]
    await speaker.close()
    await listener.close()


async def test_what_waits_is_told_before_the_client_leaves() -> None:
    bus, ear = MemoryBus(), Ear()
    speaker, listener = await bus.client("speaker"), await bus.client("listener")
    listener.on(ToolTransition, ear)
    speaker.hints.tell(move(9), TURN)
    await speaker.close()
    await asyncio.wait_for(ear.last.wait(), 5)
    await listener.close()
