"""Does another program run now? Then it is worth waiting for."""

from __future__ import annotations

import asyncio

from bus.client import BusClient
from bus.envelope import Envelope
from bus.messages.control import OpsProcess, Presence

_HERE = "ready"


class Watched:
    """What is heard of one program. Somebody has to send a `PresenceRequest` once the bus is there.

    Args:
        bus: Tells of programs.
        name: The program's name.
    """

    def __init__(self, bus: BusClient, name: str) -> None:
        self._bus, self._name = bus, name
        self._pid = 0
        self._gone = asyncio.Event()
        self._gone.set()

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._bus.on(Presence, self._on_presence)
        self._bus.on(OpsProcess, self._on_process)

    @property
    def here(self) -> bool:
        """Whether it is ready."""
        return not self._gone.is_set()

    async def gone(self) -> None:
        """Wait until it is there no longer."""
        await self._gone.wait()

    def _on_presence(self, presence: Presence, _envelope: Envelope) -> None:
        if presence.name != self._name:
            return
        if presence.state == _HERE:
            self._pid = presence.pid
            self._gone.clear()
        elif presence.pid == self._pid:  # a process that goes may speak later than its successor
            self._gone.set()

    def _on_process(self, process: OpsProcess, _envelope: Envelope) -> None:
        if process.name == self._name and process.event != "started" and process.pid in (0, self._pid):
            self._gone.set()
