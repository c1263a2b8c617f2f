"""How is a participant tested without sockets?

`MemoryBus` hands frames from client to client inside one event loop; clients on it are ordinary
`BusClient`s, so envelopes, matching, requests and counting are the real ones.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from bus.client import BusClient
from bus.config import BusConfig
from bus.transport import Frames


class MemoryBus:
    """All clients of one test."""

    def __init__(self, config: BusConfig | None = None) -> None:
        self.config = config or BusConfig(id="bus")
        self.up = True
        self.frames: list[Frames] = []
        self._members: list[MemoryTransport] = []

    async def client(self, name: str, *, instance: str = "here", sender_id: str = "") -> BusClient:
        """A client that is ready."""
        client = self.make(name, instance=instance, sender_id=sender_id)
        client.open()
        await client.wait_ready(5)
        return client

    def make(self, name: str, *, instance: str = "here", sender_id: str = "") -> BusClient:
        """A client that is not open yet."""
        transport = MemoryTransport(self)
        return BusClient(self.config, name=name, instance=instance, sender_id=sender_id or name, transport=transport)

    def inject(self, *frames: bytes) -> None:
        """Publish raw frames, well-formed or not."""
        self.carry(list(frames))

    def break_link(self) -> None:
        """The proxy dies: what is sent is lost, and every client notices."""
        self.up = False
        for member in self._members:
            member.link(False)

    def mend_link(self) -> None:
        """The proxy is back."""
        self.up = True
        for member in self._members:
            member.link(True)

    def join(self, member: MemoryTransport) -> None:
        """Called by a transport that opens."""
        self._members.append(member)

    def leave(self, member: MemoryTransport) -> None:
        """Called by a transport that closes."""
        if member in self._members:
            self._members.remove(member)

    def carry(self, frames: Frames) -> None:
        """Hand frames to all whose subscriptions match, as ZeroMQ does: by prefix."""
        if not self.up:
            return
        self.frames.append(frames)
        for member in self._members:
            member.deliver(frames)


class MemoryTransport:
    """One client's end of a `MemoryBus`."""

    def __init__(self, bus: MemoryBus) -> None:
        self._bus = bus
        self._prefixes: Counter[bytes] = Counter()

    def open(self, on_frames: Callable[[Frames], None], on_link: Callable[[bool], None]) -> None:
        """Join the bus."""
        self._on_frames, self._on_link = on_frames, on_link
        self._bus.join(self)
        if self._bus.up:
            asyncio.get_running_loop().call_soon(on_link, True)

    def link(self, up: bool) -> None:
        """The proxy came or went."""
        self._on_link(up)

    def send(self, frames: Frames) -> bool:
        """Publish."""
        self._bus.carry(frames)
        return True

    def deliver(self, frames: Frames) -> None:
        """Take frames from the bus, on the loop's next turn."""
        if frames and any(frames[0].startswith(prefix) for prefix in self._prefixes):
            asyncio.get_running_loop().call_soon(self._on_frames, frames)

    def subscribe(self, prefix: bytes) -> None:
        """Receive what starts with `prefix`."""
        self._prefixes[prefix] += 1

    def unsubscribe(self, prefix: bytes) -> None:
        """Undo one `subscribe`."""
        self._prefixes[prefix] -= 1
        self._prefixes += Counter()

    def close(self) -> None:
        """Leave the bus."""
        self._bus.leave(self)
