"""Stop working for a client that has gone: in the middle of a stream, and before its first byte too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")


class HungUp(Exception):
    """The client has closed the connection."""


async def until_hangup(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The work's result. If the client leaves first, the work is cancelled and HungUp raised."""
    task = asyncio.ensure_future(work)
    watch = asyncio.ensure_future(_hangup(receive))
    try:
        await asyncio.wait([task, watch], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise HungUp
        return task.result()
    finally:
        for pending in (task, watch):
            pending.cancel()
        await asyncio.gather(task, watch, return_exceptions=True)


async def _hangup(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class LinesResponse(Response):
    """A stream of lines whose source is closed when the client leaves or the last line is out."""

    media_type = "application/x-ndjson"

    def __init__(self, lines: AsyncGenerator[bytes, None]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(HungUp):  # the response has begun: there is nobody left to tell
            await until_hangup(receive, self._send_all(send))

    async def _send_all(self, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for line in self._lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            await self._lines.aclose()


async def body_of(request: Request, limit: int) -> bytes | None:
    """The body, or None when it is longer than `limit` bytes."""
    body = bytearray()
    received = 0
    async for chunk in request.stream():
        received += len(chunk)
        if received <= limit:
            body += chunk
        elif received > limit * 4:
            return None  # cut off: a client that is still sending then may not see the answer
    return None if received > limit else bytes(body)
