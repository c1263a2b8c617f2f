"""Who may use which of the engine's slots, and when? First come, first served; real requests before warm-ups."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from participants.services.model_server.generation import Lane


@dataclass(eq=False)
class Slot:
    """One sequence of the engine's cache. `key` is the text it holds, `used` counts up with each use."""

    number: int
    lane: Lane
    key: str = ""
    used: int = 0
    busy: bool = False
    preempt: Callable[[], None] | None = None


@dataclass(eq=False)
class _Waiter:
    lane: Lane
    key: str
    slot: asyncio.Future[Slot]


class SlotPool:
    """Slot 0 is the router's; the rest take answers. Belongs to one event loop."""

    def __init__(self, answers: int) -> None:
        self._slots = [Slot(0, Lane.ROUTER), *(Slot(number, Lane.ANSWER) for number in range(1, answers + 1))]
        self._waiting: deque[_Waiter] = deque()
        self._uses = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def count(self) -> int:
        """How many slots there are."""
        return len(self._slots)

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return self._idle.is_set()

    async def wait_idle(self) -> None:
        """Return once nothing runs and nothing waits."""
        await self._idle.wait()

    def forget(self) -> None:
        """The engine's cache is gone."""
        for slot in self._slots:
            slot.key = ""

    @asynccontextmanager
    async def take(self, lane: Lane, key: str, preempt: Callable[[], None] | None = None) -> AsyncGenerator[Slot, None]:
        """Hold a slot. With `preempt`, this is a warm-up: it is called as soon as anybody else comes."""
        if preempt is None:
            self._preempt_warm_ups()
        slot = await self._acquire(lane, key)
        slot.preempt = preempt
        try:
            yield slot
        finally:
            self._release(slot)

    async def _acquire(self, lane: Lane, key: str) -> Slot:
        self._idle.clear()
        waiter = _Waiter(lane, key, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._hand_out()
        try:
            return await waiter.slot
        except asyncio.CancelledError:
            self._withdraw(waiter)
            raise

    def _withdraw(self, waiter: _Waiter) -> None:
        if waiter in self._waiting:
            self._waiting.remove(waiter)
            self._note_idle()
        elif waiter.slot.done() and not waiter.slot.cancelled():
            self._release(waiter.slot.result())  # handed out in the same moment as it was cancelled

    def _hand_out(self) -> None:
        for waiter in list(self._waiting):
            free = [slot for slot in self._slots if slot.lane is waiter.lane and not slot.busy]
            if free and not waiter.slot.done():
                self._waiting.remove(waiter)
                waiter.slot.set_result(self._occupy(best_slot(free, waiter.key), waiter.key))

    def _occupy(self, slot: Slot, key: str) -> Slot:
        self._uses += 1
        slot.busy, slot.key, slot.used = True, key, self._uses
        return slot

    def _release(self, slot: Slot) -> None:
        slot.busy, slot.preempt = False, None
        self._hand_out()
        self._note_idle()

    def _note_idle(self) -> None:
        if not self._waiting and not any(slot.busy for slot in self._slots):
            self._idle.set()

    def _preempt_warm_ups(self) -> None:
        for slot in self._slots:
            if slot.preempt:
                slot.preempt()


def best_slot(free: list[Slot], key: str) -> Slot:
    """The slot that shares the longest beginning with the prompt; among equals the one unused for longest."""
    return max(free, key=lambda slot: (_worth(slot.key, key), -slot.used))


def _worth(held: str, key: str) -> int:
    common = next((index for index, (one, other) in enumerate(zip(held, key, strict=False)) if one != other), None)
    common = min(len(held), len(key)) if common is None else common
    # A few shared characters ("system") save nothing: do not give up a better slot for them.
    return common if common >= 40 else 0
