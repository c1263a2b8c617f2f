"""How is the bus watched from outside? (`/ws/bus`: everything, `/ws/bus/{session_id}`: one session)

Each frame is an envelope as JSON. Where an observer was too slow, a frame of type `dropped` says how
many it has missed. Until there are accounts, whoever uses this machine sees all users' messages.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable

import msgspec

from bus.client import BusClient
from bus.envelope import Envelope
from gateway.auth import Denied, Receive, Scope, Send, deny
from gateway.config import GatewayConfig
from gateway.ws import GOING_AWAY, GOODBYE


class Dropped(msgspec.Struct, frozen=True, tag="dropped"):
    """Messages that this observer was too slow for."""

    dropped: int


class Observer:
    """One observer's queue.

    Args:
        session_id: The session to show; empty for all.
        limit: Messages that may wait; older ones go first.
    """

    def __init__(self, session_id: str, limit: int) -> None:
        self._session_id, self._limit = session_id, limit
        self._waiting: deque[bytes] = deque()
        self._dropped = 0
        self._wake = asyncio.Event()

    def show(self, envelope: Envelope, body: bytes) -> None:
        """Called by the bus with each message."""
        if self._session_id and envelope.session_id != self._session_id:
            return
        if len(self._waiting) >= self._limit:
            self._waiting.popleft()
            self._dropped += 1
        self._waiting.append(body)
        self._wake.set()

    async def next(self) -> str:
        """The next frame."""
        while not self._waiting:
            self._wake.clear()
            await self._wake.wait()
        if self._dropped:
            count, self._dropped = self._dropped, 0
            return msgspec.json.encode(Dropped(count)).decode()
        return self._waiting.popleft().decode("utf-8", "replace")


class BusEndpoint:
    """`/ws/bus` and `/ws/bus/{session_id}`."""

    def __init__(self, bus: BusClient, config: Callable[[], GatewayConfig]) -> None:
        self._bus, self._config = bus, config
        self._open: set[asyncio.Task[None]] = set()
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        if self.draining or len(self._open) >= self._config().max_observers:
            words = GOODBYE if self.draining else "Too many observe the bus (gateway.yaml: max_observers)."
            await deny(scope, send, Denied(503, "too_many_observers", words))
            return
        await send({"type": "websocket.accept"})
        observer = Observer(scope.get("path_params", {}).get("session_id", ""), self._config().observer_queue)
        stop = self._bus.observe(observer.show)
        writer = asyncio.create_task(self._write(observer, send), name="write to an observer")
        self._open.add(writer)
        try:
            while (await receive())["type"] != "websocket.disconnect":
                pass
        finally:
            stop()
            writer.cancel()
            self._open.discard(writer)
            with contextlib.suppress(asyncio.CancelledError):
                await writer

    @staticmethod
    async def _write(observer: Observer, send: Send) -> None:
        try:
            while True:
                await send({"type": "websocket.send", "text": await observer.next()})
        except (OSError, RuntimeError):  # the observer is gone; the reader notices as well
            return
        except asyncio.CancelledError:
            with contextlib.suppress(OSError, RuntimeError):
                await send({"type": "websocket.close", "code": GOING_AWAY, "reason": GOODBYE})
            raise

    def drain(self) -> None:
        """Say goodbye to all."""
        self.draining = True
        for writer in self._open:
            writer.cancel()
