"""How do two frames get from one process to all others?

`ZmqTransport` is the real one. bus/testing.py has one in memory, with the same interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import zmq
from zmq.utils.monitor import parse_monitor_message

from bus.config import BusConfig

Frames = list[bytes]
_DRAIN = 256
"""Messages read in one go before the loop gets a turn."""


class Transport(Protocol):
    """Publishes and receives frames; knows nothing of envelopes."""

    def open(self, on_frames: Callable[[Frames], None], on_link: Callable[[bool], None]) -> None:
        """Start receiving. `on_link` tells when the connection comes (True) and goes (False)."""
        ...

    def send(self, frames: Frames) -> bool:
        """Publish; False where the outgoing queue is full."""
        ...

    def subscribe(self, prefix: bytes) -> None:
        """Receive what starts with `prefix`."""
        ...

    def unsubscribe(self, prefix: bytes) -> None:
        """Undo one `subscribe`."""
        ...

    def close(self) -> None:
        """Close at once; what is queued gets the linger time."""
        ...


class ZmqTransport:
    """PUB and SUB sockets connected to the proxy, read straight from the event loop.

    A plain socket with a reader on its file descriptor costs a third less latency than zmq.asyncio.
    The descriptor is edge-triggered: after each use of the socket it must be drained again.
    """

    def __init__(self, config: BusConfig) -> None:
        self._config = config
        self._context = zmq.Context()
        self._pub = self._socket(zmq.PUB)
        self._sub = self._socket(zmq.SUB)
        events = zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED
        self._monitors = [socket.get_monitor_socket(events) for socket in (self._pub, self._sub)]
        self._up = [False, False]
        self._draining = False
        self._closed = False

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.linger = self._config.linger_ms
        socket.reconnect_ivl = self._config.reconnect_ms
        socket.maxmsgsize = self._config.max_message_bytes
        socket.sndhwm = socket.rcvhwm = self._config.high_water_mark
        if kind == zmq.PUB:
            socket.setsockopt(zmq.XPUB_NODROP, 1)  # a full queue is then an error that can be counted
        return socket

    def open(self, on_frames: Callable[[Frames], None], on_link: Callable[[bool], None]) -> None:
        """Connect and start reading."""
        self._on_frames, self._on_link = on_frames, on_link
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._sub.FD, self._drain)
        for index, monitor in enumerate(self._monitors):
            self._loop.add_reader(monitor.FD, self._watch, index)
        self._pub.connect(self._config.publish_to())
        self._sub.connect(self._config.subscribe_to())
        self._again()

    def send(self, frames: Frames) -> bool:
        """Publish; False where the outgoing queue is full."""
        if self._closed:
            return False
        try:
            self._pub.send_multipart(frames, zmq.NOBLOCK, copy=True)
        except zmq.Again:
            return False
        return True

    def subscribe(self, prefix: bytes) -> None:
        """Receive what starts with `prefix`."""
        self._sub.setsockopt(zmq.SUBSCRIBE, prefix)
        self._again()

    def unsubscribe(self, prefix: bytes) -> None:
        """Undo one `subscribe`."""
        self._sub.setsockopt(zmq.UNSUBSCRIBE, prefix)
        self._again()

    def close(self) -> None:
        """Close the sockets; what was sent gets `linger_ms` to leave."""
        if self._closed:
            return
        self._closed = True
        for socket, monitor in zip((self._pub, self._sub), self._monitors, strict=True):
            if hasattr(self, "_loop"):
                self._loop.remove_reader(monitor.FD)
            socket.disable_monitor()
            monitor.close(0)
        if hasattr(self, "_loop"):
            self._loop.remove_reader(self._sub.FD)
        self._sub.close(0)
        self._pub.close()
        self._context.term()

    def _again(self) -> None:
        if not self._draining and hasattr(self, "_loop"):
            self._draining = True
            self._loop.call_soon(self._drain_later)

    def _drain_later(self) -> None:
        self._draining = False
        if not self._closed:
            self._drain()
            for index in range(len(self._monitors)):
                self._watch(index)

    def _drain(self) -> None:
        for _ in range(_DRAIN):
            if self._closed:
                return
            try:
                frames = self._sub.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                self._on_frames(frames)
            except BaseException:
                self._again()  # the rest would wait for an edge that does not come
                raise
        self._again()

    def _watch(self, index: int) -> None:
        before = all(self._up)
        while not self._closed:
            try:
                frames = self._monitors[index].recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            self._up[index] = parse_monitor_message(frames)["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
            if before and not all(self._up):
                before = False
                self._on_link(False)
        if not before and all(self._up):
            self._on_link(True)
