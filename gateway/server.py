"""How does uvicorn run inside a participant's event loop?"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import uvicorn

from bus import paths
from bus.errors import ConfigError
from gateway.auth import App

HARD_FRAME_BYTES = 16 * 1024 * 1024
"""A larger WebSocket frame is not even read: its socket is closed with 1009."""
_GRACE_S = 2
_LOOK_S = 0.005


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigError: The address is taken, or not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns off Nagle's algorithm: without it each small frame waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ConfigError(str(paths.config_dir() / "gateway.yaml"), "port", _words(host, port, error)) from error
    listener.setblocking(False)
    return listener


def _words(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{port} on {host} is taken by another program: stop that one, or set another port here"
    if error.errno == errno.EACCES:
        return f"{port} may not be used by ordinary users: set one from 1024 to 65535"
    return f"{host}:{port} cannot be listened on: {error.strerror}"


def address(listener: socket.socket) -> str:
    """What a user opens in the browser."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class InLoopServer(uvicorn.Server):
    """A uvicorn server that leaves signals alone, and sleeps instead of looking ten times a second."""

    def __init__(self, app: App) -> None:
        super().__init__(
            uvicorn.Config(
                app,  # pyright: ignore[reportArgumentType]  uvicorn names the same protocol by its own types
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                http="h11",
                ws="websockets-sansio",
                ws_max_size=HARD_FRAME_BYTES,
                ws_per_message_deflate=False,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self._asked_to_stop = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The participant handles them."""
        yield

    async def main_loop(self) -> None:
        """Wait for `stop`: without headers to refresh there is nothing to do meanwhile."""
        await self._asked_to_stop.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, without its tenths of a second: each restart during development waits for them."""
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110  nobody tells
                    await asyncio.sleep(_LOOK_S)
        for task in self.server_state.tasks:
            task.cancel()

    def stop(self) -> None:
        """Take no more connections, finish those that are open, and end."""
        self._asked_to_stop.set()
