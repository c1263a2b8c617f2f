"""An HTTP server inside somebody else's event loop: no signal handlers, no logging set-up of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp


class _QuietServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals belong to the process that we are a part of."""
        yield


async def serve(app: ASGIApp, listener: socket.socket) -> tuple[uvicorn.Server, asyncio.Task[None]]:
    """Serve on `listener`; return once it answers. Setting `should_exit` ends the task."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http="h11",
        ws="none",
        timeout_graceful_shutdown=1,
        server_header=False,
        date_header=False,
    )
    server = _QuietServer(config)
    # The socket listens already: a connection made before the server's first turn waits in its backlog.
    task = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]), name="model server")
    return server, task
