"""When may slow work run that no user waits for?

While no turn is being generated. It waits for that, and where a turn starts meanwhile it is cancelled,
which frees the model, and begun anew later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, TypeVar

from bus.client import BusClient
from bus.envelope import Envelope
from bus.messages.generation import GeneratorStatus, ResponseGeneration
from bus.messages.query import QueryReceived

R = TypeVar("R")
_UNTAKEN_S = 2.0
"""A turn that was announced so long ago, and that the generator does not name, is not being answered."""
_IDLE_STATES = frozenset({"AWAITING_APPROVAL"})


class Background:
    """Runs such work.

    Args:
        bus: Tells of turns.
        pause_s: How long it has to be quiet first: the next question often follows the answer.
        clock: Seconds, growing.
    """

    def __init__(self, bus: BusClient, pause_s: float = 0.2, clock: Callable[[], float] = monotonic) -> None:
        self._bus, self._pause_s, self._clock = bus, pause_s, clock
        self._open: dict[str, float] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._interrupted: set[asyncio.Task[Any]] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()

    def listen(self) -> None:
        """Register with the bus."""
        self._bus.on(QueryReceived, self._on_query)
        self._bus.on(ResponseGeneration, self._on_response)
        self._bus.on(GeneratorStatus, self._on_status)

    @property
    def quiet(self) -> bool:
        """Whether no turn is being generated."""
        return not self._open

    async def run(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """The outcome of `work`, which may be begun several times.

        Args:
            work: Makes the coroutine; being cancelled in it must do no harm.
        """
        while True:
            await self._wait()
            task = asyncio.ensure_future(work())
            self._running.add(task)
            try:
                return await task
            except asyncio.CancelledError:
                if task not in self._interrupted:
                    raise
            finally:
                self._running.discard(task)
                self._interrupted.discard(task)

    async def _wait(self) -> None:
        while not self._quiet.is_set():
            await self._quiet.wait()
            await asyncio.sleep(self._pause_s)

    # ------------------------------------------------------------------ turns

    def _on_query(self, _message: QueryReceived, envelope: Envelope) -> None:
        self._open[envelope.query_id] = self._clock()
        self._changed()

    def _on_response(self, _message: ResponseGeneration, envelope: Envelope) -> None:
        self._open.pop(envelope.query_id, None)
        self._changed()

    def _on_status(self, message: GeneratorStatus, _envelope: Envelope) -> None:
        """The generator knows best, but for a turn that is on its way to it."""
        now = self._clock()
        named = {query_id for query_id, state in message.turns.items() if state not in _IDLE_STATES}
        young = {query_id: at for query_id, at in self._open.items() if now - at < _UNTAKEN_S}
        self._open = {**dict.fromkeys(named, now), **young}
        self._changed()

    def _changed(self) -> None:
        if self.quiet:
            self._quiet.set()
            return
        self._quiet.clear()
        for task in self._running - self._interrupted:
            self._interrupted.add(task)
            task.cancel()
