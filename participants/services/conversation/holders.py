"""Which processes that answer turns are alive?"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from bus.envelope import Envelope
from bus.messages.control import OpsProcess, Presence
from bus.messages.generation import GeneratorStatus
from participants.services.conversation import ledger
from participants.services.conversation.keeper import Keeper

_DEAD = frozenset({"died", "stopped", "fatal", "wedged"})
_REMEMBERED = 256


class Holders:
    """What presence and ops say, turned into what the keeper does."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._boots: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._draining: set[str] = set()
        self._news = asyncio.Event()

    def on_process(self, message: OpsProcess, _envelope: Envelope) -> None:
        """Ops saw a process end: its turns are offered without waiting for the lease."""
        if message.event in _DEAD:
            self._keeper.lost(lambda holder: ledger.is_of(holder, message.name, message.pid))
            self._news.set()

    def on_status(self, message: GeneratorStatus, envelope: Envelope) -> None:
        """One that answers says how many turns it takes at once."""
        if envelope.boot not in self._draining:
            self._keeper.answerers.heard(envelope.boot)
        self._keeper.answerer_says(message)

    def on_presence(self, message: Presence, envelope: Envelope) -> None:
        """One name on one machine is one process: a new one means that the one before is dead."""
        boot = envelope.boot
        if message.state == "gone":
            self._keeper.answerers.leaves(boot)
            self._keeper.lost(lambda holder: holder.boot == boot)
        elif message.state == "draining":
            self._keeper.answerers.leaves(boot)
            self._draining.add(boot)
        elif message.state == "ready":
            self._ready(message, boot)
        self._news.set()

    def _ready(self, message: Presence, boot: str) -> None:
        place = (message.name, message.instance)
        before = self._boots.get(place)
        if before == boot:
            return
        self._boots[place] = boot
        while len(self._boots) > _REMEMBERED:
            self._draining.discard(self._boots.popitem(last=False)[1])
        if before is not None:
            self._draining.discard(before)
            self._keeper.answerers.leaves(before)
        if message.kind == "agent":
            self._keeper.offer_unclaimed()
        alive = set(self._boots.values())  # one that died together with our predecessor is met only by its successor
        self._keeper.lost(lambda holder: holder.name == message.name and holder.boot not in alive)

    async def let_go(self, grace_s: float) -> None:
        """Wait while turns are held by processes that stop as well.

        One that does not stop is not waited for: it goes on with our successor, and does not notice.

        Args:
            grace_s: How long to watch for a holder's word that it stops.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + grace_s
        while boots := self._holding():
            stopping = bool(boots & self._draining)
            left_s = until - loop.time()
            if not stopping and left_s <= 0:
                return
            self._news.clear()
            try:
                async with asyncio.timeout(None if stopping else left_s):
                    await self._news.wait()
            except TimeoutError:
                return

    def changed(self) -> None:
        """A turn was finished or handed back."""
        self._news.set()

    def _holding(self) -> set[str]:
        return {turn.holder.boot for turn in self._keeper.turns.values() if turn.holder is not None}
