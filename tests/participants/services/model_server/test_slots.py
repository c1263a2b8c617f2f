"""The queue for the engine's slots."""

from __future__ import annotations

import asyncio

import pytest

from participants.services.model_server.generation import Lane
from participants.services.model_server.slots import Slot, SlotPool, best_slot

HEAD = "You are a helpful assistant that answers briefly. "


async def hold(pool: SlotPool, key: str, order: list[str], leave: asyncio.Event, lane: Lane = Lane.ANSWER) -> int:
    """Take a slot, note it, hold it until `leave`."""
    async with pool.take(lane, key) as slot:
        order.append(key)
        await leave.wait()
        return slot.number


async def settle() -> None:
    """Let every task that can run, run."""
    for _turn in range(10):
        await asyncio.sleep(0)


async def test_first_come_first_served() -> None:
    pool, order, leave = SlotPool(answers=1), list[str](), asyncio.Event()

    tasks = [asyncio.create_task(hold(pool, key, order, leave)) for key in "abc"]
    await settle()
    assert order == ["a"]
    leave.set()
    await asyncio.gather(*tasks)

    assert order == ["a", "b", "c"]
    assert pool.idle


async def test_the_router_does_not_wait_for_answers() -> None:
    pool, order, leave = SlotPool(answers=1), list[str](), asyncio.Event()

    tasks = [
        asyncio.create_task(hold(pool, "answer", order, leave)),
        asyncio.create_task(hold(pool, "second answer", order, leave)),
        asyncio.create_task(hold(pool, "router", order, leave, Lane.ROUTER)),
    ]
    await settle()
    assert order == ["answer", "router"]
    leave.set()

    assert await asyncio.gather(*tasks) == [1, 1, 0]


async def test_who_gives_up_waiting_blocks_nobody() -> None:
    pool, order, leave = SlotPool(answers=1), list[str](), asyncio.Event()

    tasks = [asyncio.create_task(hold(pool, key, order, leave)) for key in "abc"]
    await settle()
    tasks[1].cancel()
    leave.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert order == ["a", "c"]
    assert pool.idle


async def test_cancelled_in_the_moment_of_the_handover() -> None:
    pool, order, leave = SlotPool(answers=1), list[str](), asyncio.Event()
    first = asyncio.create_task(hold(pool, "a", order, leave))
    second = asyncio.create_task(hold(pool, "b", order, leave))
    await settle()

    leave.set()
    await first  # the slot is handed to the second, which has not run yet
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await asyncio.wait_for(hold(pool, "c", order, leave), 1)

    assert pool.idle


async def test_a_warm_up_gives_way() -> None:
    pool, called = SlotPool(answers=2), asyncio.Event()

    async with pool.take(Lane.ROUTER, "head", called.set), pool.take(Lane.ANSWER, "question"):
        assert called.is_set()


async def test_a_warm_up_does_not_drive_out_another() -> None:
    pool, called = SlotPool(answers=2), asyncio.Event()

    async with pool.take(Lane.ANSWER, "head", called.set), pool.take(Lane.ANSWER, "other", called.set):
        assert not called.is_set()


@pytest.mark.parametrize(
    ("held", "key", "number"),
    [
        ([HEAD + "a", "something else entirely"], HEAD + "b", 1),
        (["something else entirely", HEAD + "a"], HEAD + "b", 2),
        ([HEAD + "a", HEAD + "a, and on"], HEAD + "a, and on and on", 2),
        (["system one", "system two"], "system three", 1),
        (["", ""], HEAD, 1),
    ],
)
def test_the_slot_that_holds_most_of_the_prompt_is_best(held: list[str], key: str, number: int) -> None:
    slots = [Slot(index, Lane.ANSWER, text, used=index) for index, text in enumerate(held, 1)]

    assert best_slot(slots, key).number == number
