"""How does a request reach a model server on this machine without delay?

httpx's own transport takes half a millisecond for a request, most of it in layers for TLS, proxies and other
event loops. This one is asyncio's streams and h11, the HTTP parser that httpx uses, too. All else stays httpx's.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from typing import Any, TypeVar

import h11
import httpx

T = TypeVar("T")
_READ_BYTES = 64 * 1024
_KEPT = 16


class LoopbackTransport(httpx.AsyncBaseTransport):
    """Plain HTTP; connections are kept for the next request."""

    def __init__(self) -> None:
        self._kept: list[_Line] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send, and return with the response's head; the body is read from its stream.

        Raises:
            httpx.TransportError: It could not be sent, or no response came.
        """
        timeouts: dict[str, float | None] = request.extensions.get("timeout", {})
        line = self._take() or await _open(request.url, timeouts.get("connect"))
        try:
            await line.send(request, timeouts.get("write"))
            head = await line.head(timeouts.get("read"))
        except BaseException:
            line.close()
            raise
        body = _Body(self, line, timeouts.get("read"))
        return httpx.Response(head.status_code, headers=head.headers.raw_items(), stream=body)

    def _take(self) -> _Line | None:
        while self._kept:
            line = self._kept.pop()
            if line.usable:
                return line
            line.close()
        return None

    def give_back(self, line: _Line) -> None:
        """A response is done with: one that was read to its end leaves its connection for the next request."""
        if line.reset() and len(self._kept) < _KEPT:
            self._kept.append(line)
        else:
            line.close()

    async def aclose(self) -> None:
        """Close what is kept."""
        while self._kept:
            self._kept.pop().close()


class _Body(httpx.AsyncByteStream):
    """A response's body, as it comes."""

    def __init__(self, transport: LoopbackTransport, line: _Line, read_s: float | None) -> None:
        self._transport, self._line, self._read_s = transport, line, read_s
        self._over = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._line.event(self._read_s), h11.Data):
            yield bytes(event.data)

    async def aclose(self) -> None:
        if not self._over:
            self._over = True
            self._transport.give_back(self._line)


class _Line:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.CLIENT)

    @property
    def usable(self) -> bool:
        """Whether the server has not closed it meanwhile."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def reset(self) -> bool:
        """Get ready for the next request; False where that cannot be."""
        try:
            self._http.start_next_cycle()
        except h11.ProtocolError:
            return False
        return self.usable

    def close(self) -> None:
        """Close it at once: a server that still generates stops."""
        self._writer.close()

    async def send(self, request: httpx.Request, limit_s: float | None) -> None:
        """Send a request in as few pieces as it has."""
        head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
        out = self._http.send(head) or b""
        async for piece in _pieces(request):
            out += self._http.send(h11.Data(data=piece)) or b""
        self._writer.write(out + (self._http.send(h11.EndOfMessage()) or b""))
        with contextlib.suppress(httpx.WriteError):  # a server that refuses early says why before it closes
            await _within(self._writer.drain(), limit_s, httpx.WriteTimeout, httpx.WriteError)

    async def head(self, limit_s: float | None) -> h11.Response:
        """The response's head; what comes before it (100 Continue) is passed over."""
        while True:
            event = await self.event(limit_s)
            if isinstance(event, h11.Response):
                return event
            if not isinstance(event, h11.InformationalResponse):
                raise httpx.RemoteProtocolError("The server closed the connection without an answer.")

    async def event(self, limit_s: float | None) -> Any:
        """What comes next."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                read = self._reader.read(_READ_BYTES)
                self._http.receive_data(await _within(read, limit_s, httpx.ReadTimeout, httpx.ReadError))
        except h11.RemoteProtocolError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        return event


async def _open(url: httpx.URL, limit_s: float | None) -> _Line:
    opening = asyncio.open_connection(url.host, url.port or 80)
    return _Line(*await _within(opening, limit_s, httpx.ConnectTimeout, httpx.ConnectError))


async def _pieces(request: httpx.Request) -> AsyncGenerator[bytes]:
    assert isinstance(request.stream, httpx.AsyncByteStream)  # noqa: S101  for the type checker: the client is async
    async for piece in request.stream:
        yield piece


async def _within(
    work: Awaitable[T], limit_s: float | None, late: type[httpx.TransportError], broken: type[httpx.TransportError]
) -> T:
    """The work's result, within its limit, with httpx's names for what can go wrong."""
    limit = None if limit_s is None else asyncio.timeout(limit_s)
    try:
        async with limit or contextlib.nullcontext():
            return await work
    except OSError as error:
        kind = late if limit is not None and limit.expired() else broken
        raise kind(str(error)) from error
