"""A web site for tests: real HTTP over a real socket, with whatever fault a test can think of.

async with WebServer() as site:
    site.page("/", b"<p>Hi", "text/html")
    site.raw("/slow", trickle)
    ... site.url, site.requests
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

Handler = Callable[["Asked", asyncio.StreamWriter], Awaitable[None]]


class Asked:
    """One request as it came."""

    def __init__(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _version = first.split(" ", 2)
        self.path = urlsplit(self.target).path
        self.query = {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}
        pairs = [line.partition(":") for line in lines if line]
        self.headers = {name.lower(): value.strip() for name, _, value in pairs}


class WebServer:
    """Answers on a loopback port of its own while the block lasts. What has no page is a 404."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.port = 0
        self._tls = tls
        self.requests: list[Asked] = []
        self.came = asyncio.Event()
        self._handlers: dict[str, list[Handler]] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """The port refuses from now on, and open connections end."""
        if self._server is not None:
            self._server.close()
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._server.wait_closed()
            self._server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, path: str, body: bytes, content_type: str = "", *, status: int = 200, **headers: str) -> None:
        """Serve a body; headers as `retry_after="2"`. Several for one path come in turn."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if content_type:
            named["content-type"] = content_type
        head = head_of(status, {"content-length": str(len(body)), **named})

        async def handler(_asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(head + body)
            await writer.drain()

        self.raw(path, handler)

    def json(self, path: str, value: Any, *, status: int = 200, **headers: str) -> None:
        """Serve JSON."""
        self.page(path, json.dumps(value).encode(), "application/json", status=status, **headers)

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        """Send on to another address."""
        self.page(path, b"moved", "text/plain", status=status, location=to)

    def raw(self, path: str, handler: Handler) -> None:
        """Let a function write the whole answer."""
        self._handlers.setdefault(path, []).append(handler)

    def first(self, path: str, handler: Handler) -> None:
        """Let a function answer the next request, and then what was there before."""
        self._handlers.setdefault(path, []).insert(0, handler)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                asked = Asked((await reader.readuntil(b"\r\n\r\n"))[:-4])
                self.requests.append(asked)
                self.came.set()
                waiting = self._handlers.get(asked.path, [_missing])
                handler = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                await handler(asked, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()


def head_of(status: int, headers: dict[str, str]) -> bytes:
    """A response's head."""
    lines = [f"HTTP/1.1 {status} X", "connection: close", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def _missing(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.write(head_of(404, {"content-length": "0"}))


async def hang(_asked: Asked, _writer: asyncio.StreamWriter) -> None:
    """Take the request, and never answer."""
    await asyncio.Event().wait()


async def endless(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A page without end, as fast as it is taken."""
    writer.write(head_of(200, {"content-type": "text/html", "transfer-encoding": "chunked"}))
    block = b"<p>" + b"word " * 13_000
    while True:
        writer.write(f"{len(block):x}\r\n".encode() + block + b"\r\n")
        await writer.drain()


async def trickle(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A sentence at once, and then nothing more, though more was announced."""
    writer.write(head_of(200, {"content-type": "text/plain", "content-length": "100000"}) + b"The first sentence.")
    await writer.drain()
    await asyncio.Event().wait()


async def break_off(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A sentence, and then the connection breaks."""
    writer.write(head_of(200, {"content-type": "text/plain", "content-length": "100000"}) + b"The first sentence.")
    await writer.drain()
