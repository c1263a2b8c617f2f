"""Slow work that no user waits for: it gives way to turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.messages.generation import BackendInfo, GeneratorStatus, ResponseGeneration
from bus.messages.ledger import TurnEnd
from bus.messages.query import QueryReceived
from bus.testing import MemoryBus
from participants.background import Background

TURN = TurnRef("s1", "ada", "q1")
END = TurnEnd(status="answered", finish_reason="stop")


class Clock:
    """Time that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Work:
    """Work that ends when told, and counts how often it was begun."""

    def __init__(self) -> None:
        self.begun, self.cancelled = 0, 0
        self.may_end, self.began = asyncio.Event(), asyncio.Event()

    async def __call__(self) -> str:
        self.begun += 1
        self.began.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "done"


class Desk:
    """The helper's background, the generator's words, and the time."""

    def __init__(self, here: BusClient, there: BusClient) -> None:
        self.clock, self.work = Clock(), Work()
        self.background = Background(here, pause_s=0.0, clock=self.clock)
        self.background.listen()
        self._there = there

    async def ask(self) -> None:
        self._there.publish(QueryReceived(query="why?", created_at=""), turn=TURN)
        await asyncio.sleep(0)  # the bus hands over with the loop's next round

    async def answered(self) -> None:
        self._there.publish(ResponseGeneration(query="why?", end=END), turn=TURN)
        await asyncio.sleep(0)  # the bus hands over with the loop's next round

    async def status(self, **turns: str) -> None:
        info = BackendInfo(kind="ollama")
        self._there.publish(GeneratorStatus(backend=info, roles=[], models=[], tools=[], turns=turns))
        await asyncio.sleep(0)

    async def begin(self) -> asyncio.Task[str]:
        """Start the work, and wait until it runs."""
        task = asyncio.ensure_future(self.background.run(self.work))
        await self.work.began.wait()
        return task

    async def done(self, task: asyncio.Task[str]) -> str:
        self.work.may_end.set()
        return await asyncio.wait_for(task, 5)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    bus = MemoryBus()
    here, there = await bus.client("helper"), await bus.client("generator")
    yield Desk(here, there)
    await here.close()
    await there.close()


async def test_work_runs_while_it_is_quiet(desk: Desk) -> None:
    assert await desk.done(await desk.begin()) == "done"
    assert desk.work.begun == 1


async def test_a_turn_cancels_the_work_which_begins_anew_after_it(desk: Desk) -> None:
    task = await desk.begin()
    desk.work.began.clear()
    await desk.ask()
    assert not desk.background.quiet
    await desk.answered()
    await desk.work.began.wait()
    assert await desk.done(task) == "done"
    assert (desk.work.begun, desk.work.cancelled) == (2, 1)


async def test_work_waits_for_a_turn(desk: Desk) -> None:
    await desk.ask()
    task = asyncio.ensure_future(desk.background.run(desk.work))
    await asyncio.sleep(0)
    assert desk.work.begun == 0
    await desk.answered()
    assert await desk.done(task) == "done"


async def test_an_end_that_was_lost_is_learnt_from_the_status(desk: Desk) -> None:
    await desk.ask()
    await desk.status()
    assert not desk.background.quiet
    desk.clock.now += 5
    await desk.status()
    assert desk.background.quiet


async def test_a_turn_that_began_before_we_came_counts(desk: Desk) -> None:
    await desk.status(q1="GENERATING")
    assert not desk.background.quiet


async def test_a_turn_that_waits_for_its_user_does_not(desk: Desk) -> None:
    await desk.status(q1="AWAITING_APPROVAL")
    assert desk.background.quiet


async def test_who_is_cancelled_from_outside_stays_so(desk: Desk) -> None:
    task = await desk.begin()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert desk.work.cancelled == 1
