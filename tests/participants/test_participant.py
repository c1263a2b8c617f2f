"""A participant's life, on a bus in memory."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from bus.client import BusClient
from bus.config import Section, SystemConfig
from bus.errors import BusUnavailable, ConfigError
from bus.messages.control import ConfigReload, Heartbeat, Presence, PresenceRequest
from bus.testing import MemoryBus
from participants.participant import Participant
from tests.support.stage import Heard, presence

SYSTEM = SystemConfig(instance_id="here", heartbeat_s=0.01, drain_s=0.2)
STEPS = ["setup", "linked", "started", "drain", "farewell"]


class Probe(Participant):
    """Notes which hooks were called; each can be made to fail or to wait."""

    CONFIG_NAME: ClassVar[str] = "probe"

    def __init__(self, bus: BusClient, **behaviour: Any) -> None:
        super().__init__(Section(id="probe_id"), bus, SYSTEM)
        self.steps: list[str] = []
        self.behaviour = behaviour

    async def _step(self, name: str) -> None:
        self.steps.append(name)
        await self.behaviour.get(name, self._nothing)()

    async def _nothing(self) -> None:
        """As the hooks do by default."""

    async def setup(self) -> None:
        await self._step("setup")

    async def started(self) -> None:
        await self._step("started")

    def linked(self) -> None:
        self.steps.append("linked")

    async def drain(self) -> None:
        await self._step("drain")

    async def farewell(self) -> None:
        await self._step("farewell")


async def forever() -> None:
    await asyncio.Event().wait()


async def fail() -> None:
    raise ValueError("a fault")


@pytest.fixture
def memory() -> MemoryBus:
    return MemoryBus()


@pytest.fixture
async def heard(memory: MemoryBus) -> Heard:
    client, heard = await memory.client("listener"), Heard()
    client.on(Presence, heard)
    client.on(Heartbeat, heard)
    return heard


def states(heard: Heard) -> list[str]:
    return [m.state for m in heard.messages if isinstance(m, Presence)]


async def test_a_life(memory: MemoryBus, heard: Heard) -> None:
    probe = Probe(memory.make("probe"))
    life = asyncio.create_task(probe.run())
    beat = await heard.first(lambda m: isinstance(m, Heartbeat))
    assert (beat.name, beat.instance, beat.state) == ("probe", "here", "ready")
    probe.stop()
    await heard.first(presence("probe", "gone"))
    await life
    assert sorted(probe.steps) == sorted(STEPS)
    assert states(heard) == ["ready", "draining", "gone"]


async def test_it_says_again_who_it_is(memory: MemoryBus, heard: Heard) -> None:
    probe = Probe(memory.make("probe"))
    life = asyncio.create_task(probe.run())
    await heard.first(presence("probe"))
    heard.forget()
    (await memory.client("asker")).publish(PresenceRequest())
    await heard.first(presence("probe"))
    heard.forget()
    memory.break_link()
    memory.mend_link()
    await heard.first(presence("probe"))
    probe.stop()
    await life


@pytest.mark.parametrize("step", ["drain", "farewell"])
@pytest.mark.parametrize("trouble", [forever, fail])
async def test_trouble_in_leaving_keeps_nobody(memory: MemoryBus, heard: Heard, step: str, trouble: Any) -> None:
    probe = Probe(memory.make("probe"), **{step: trouble})
    life = asyncio.create_task(probe.run())
    await heard.first(presence("probe"))
    probe.stop()
    await asyncio.wait_for(life, 10)
    assert "farewell" in probe.steps
    assert states(heard)[-1] == "gone"


async def test_a_stop_before_the_bus_is_there(memory: MemoryBus) -> None:
    memory.up = False
    probe = Probe(memory.make("probe"))
    probe.stop()
    await asyncio.wait_for(probe.run(), 10)
    assert probe.steps == ["setup"]


async def test_a_stop_while_it_starts(memory: MemoryBus, heard: Heard) -> None:
    probe = Probe(memory.make("probe"), started=forever)
    life = asyncio.create_task(probe.run())
    await asyncio.sleep(0)
    await probe.bus.wait_ready(5)
    probe.stop()
    await asyncio.wait_for(life, 10)
    assert states(heard) == []


async def test_no_bus_is_said(memory: MemoryBus) -> None:
    memory.up = False
    bus = memory.make("probe")
    wait = bus.wait_ready
    bus.wait_ready = lambda timeout_s=0.01: wait(0.01)  # type: ignore[method-assign]
    with pytest.raises(BusUnavailable, match="is the proxy running"):
        await Probe(bus).run()


async def test_a_fault_in_starting_ends_it_and_closes_the_bus(memory: MemoryBus) -> None:
    probe = Probe(memory.make("probe"), started=fail)
    with pytest.raises(ValueError, match="a fault"):
        await probe.run()
    assert probe.bus._transport not in memory._members


async def test_a_bad_setting_on_reload_keeps_the_old_ones_and_says_so(
    memory: MemoryBus, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bad(_section: str, _kind: type[Section]) -> Section:
        raise ConfigError("probe.yaml", "id", "Expected `str`, got `int`")

    monkeypatch.setattr("participants.participant.load", bad)
    probe = Probe(memory.make("probe"))
    life = asyncio.create_task(probe.run())
    await heard.first(presence("probe"))
    asker = await memory.client("asker")
    asker.publish(ConfigReload(section="somebody_else"))
    asker.publish(ConfigReload())
    said = await heard.first(lambda m: bool(getattr(m, "note", "")))
    assert said.note == "old settings kept: probe.yaml: id: Expected `str`, got `int`"
    assert said.state == "ready"
    assert probe.config.id == "probe_id"
    probe.stop()
    await life


async def test_it_ends_when_its_parent_is_gone(
    memory: MemoryBus, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = Probe(memory.make("probe"))
    life = asyncio.create_task(probe.run())
    await heard.first(presence("probe"))
    monkeypatch.setattr("os.getppid", lambda: 1)
    await asyncio.wait_for(life, 10)
    assert states(heard)[-1] == "gone"
