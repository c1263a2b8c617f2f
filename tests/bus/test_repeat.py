"""Is it done at once, again after each pause, and not after the stop?"""

from __future__ import annotations

import asyncio

from bus.repeat import Repeat


class Counted:
    """Work that says when it was done three times more."""

    def __init__(self) -> None:
        self.times, self.enough = 0, asyncio.Event()

    def __call__(self) -> None:
        self.times += 1
        if self.times >= 3:
            self.enough.set()


async def test_it_is_done_at_once_and_until_it_is_stopped() -> None:
    first, second = Counted(), Counted()
    repeat = Repeat(0.001, first)
    assert first.times == 1
    await asyncio.wait_for(first.enough.wait(), 5)
    repeat.stop()
    done = first.times
    clock = Repeat(0.001, second)
    await asyncio.wait_for(second.enough.wait(), 5)
    clock.stop()
    assert first.times == done


async def test_it_can_be_stopped_twice() -> None:
    repeat = Repeat(0.001, Counted())
    repeat.stop()
    repeat.stop()
