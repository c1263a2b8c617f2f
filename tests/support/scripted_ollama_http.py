"""How does one HTTP exchange reach the test: who asked, what goes back, and did the client hang up?

Plain asyncio streams with h11 for the protocol, since no framework lets a test cut the connection or see when it ends.
"""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import h11
import msgspec

_READ_BYTES = 1 << 16
_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass(slots=True, eq=False)
class Request:
    """What a client asked. Times are `time.monotonic()`, which all processes of a machine share."""

    method: str
    path: str
    query: dict[str, str]
    raw: bytes
    at: float = field(default_factory=time.monotonic)
    index: int = -1
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client goes away before its answer is complete; `closed_at` says when."""
    closed_at: float | None = None
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more will be sent, whoever ended it."""

    @property
    def body(self) -> dict[str, Any]:
        """The JSON object that was sent; empty when it was none."""
        try:
            return msgspec.json.decode(self.raw, type=dict[str, Any])
        except msgspec.DecodeError:
            return {}

    @property
    def model(self) -> str:
        """The model asked for."""
        return str(self.body.get("model") or self.body.get("name") or "")

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The chat so far; a prompt for `/api/generate` counts as one user message."""
        prompt = self.body.get("prompt")
        return self.body.get("messages") or ([{"role": "user", "content": prompt}] if prompt else [])

    @property
    def said(self) -> str:
        """The last user message."""
        texts = [message.get("content") or "" for message in self.messages if message.get("role") == "user"]
        return texts[-1] if texts else ""

    @property
    def tools(self) -> list[str]:
        """The names of the tools offered."""
        tools: list[dict[str, Any]] = self.body.get("tools") or []
        return [tool["function"]["name"] for tool in tools]

    def to_json(self) -> dict[str, Any]:
        """For a test in another process."""
        known = {name: getattr(self, name) for name in ("index", "method", "path", "body", "at", "closed_at")}
        return known | {"finished": self.finished.is_set()}

    def hung_up(self) -> None:
        """The client went away."""
        self.closed_at = time.monotonic()
        self.closed.set()


class RequestLog:
    """All requests in the order of their arrival, and a way to wait for the next."""

    def __init__(self) -> None:
        self.all: list[Request] = []
        self._seen: dict[str | None, int] = {}
        self._news = asyncio.Event()

    def add(self, request: Request) -> None:
        """Note a request and wake who waits for one."""
        request.index = len(self.all)
        self.all.append(request)
        self._news.set()
        self._news = asyncio.Event()

    def since(self, index: int, path: str | None) -> list[Request]:
        """Requests from this index on, of all paths or of one."""
        return [request for request in self.all[index:] if path in (None, request.path)]

    async def wait_since(self, index: int, path: str | None) -> list[Request]:
        """The same, once there is at least one."""
        while not (found := self.since(index, path)):
            await self._news.wait()
        return found

    async def next(self, path: str | None) -> Request:
        """The first request to this path that `next` has not returned yet."""
        request = (await self.wait_since(self._seen.get(path, 0), path))[0]
        self._seen[path] = request.index + 1
        return request


class Exchange:
    """A request and the way back to who sent it."""

    def __init__(self, request: Request, protocol: h11.Connection, writer: asyncio.StreamWriter) -> None:
        self.request = request
        self.started = False
        self.was_cut = False
        self._protocol = protocol
        self._writer = writer

    async def start(self, status: int, content_type: str, length: int | None = None) -> None:
        """Send the head; without a length the body goes out in chunks."""
        size = ("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))
        self.started = True
        await self._write(h11.Response(status_code=status, headers=[("Content-Type", content_type), size]))

    async def send(self, data: bytes) -> None:
        """Send a part of the body: one HTTP chunk, one TCP write."""
        await self._write(h11.Data(data=data))

    async def end(self) -> None:
        """End the body in good order."""
        await self._write(h11.EndOfMessage())

    async def answer(self, status: int, content_type: str, body: bytes) -> None:
        """The whole answer at once."""
        await self.start(status, content_type, len(body))
        if self.request.method != "HEAD":
            await self.send(body)
        await self.end()

    async def answer_json(self, status: int, value: Any) -> None:
        """The same, for a JSON value."""
        body = json.dumps(value, ensure_ascii=False).encode()
        await self.answer(status, "application/json; charset=utf-8", body)

    def cut(self, *, reset: bool) -> None:
        """End the TCP connection here and now."""
        self.was_cut = True
        if reset:
            self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._writer.transport.abort()
        else:
            self._writer.close()

    async def _write(self, event: h11.Event) -> None:
        self._writer.write(self._protocol.send(event) or b"")
        await self._writer.drain()


class Connection:
    """One TCP connection: reads requests, has each answered, and notices when the client leaves meanwhile."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answer: Callable[[Exchange], Awaitable[None]],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._answer = answer
        self._protocol = h11.Connection(h11.SERVER)

    async def run(self) -> None:
        """Serve until one side is done."""
        try:
            while (request := await self._read_request()) and await self._respond(request):
                self._protocol.start_next_cycle()
        except (ConnectionError, h11.RemoteProtocolError):
            pass
        except asyncio.CancelledError:
            self._writer.transport.abort()
            raise
        finally:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()

    async def _read_request(self) -> Request | None:
        head = await self._next_event()
        if not isinstance(head, h11.Request):
            return None
        body = bytearray()
        while isinstance(part := await self._next_event(), h11.Data):
            body += part.data
        target = urlsplit(head.target.decode())
        return Request(head.method.decode(), target.path, dict(parse_qsl(target.query)), bytes(body))

    async def _next_event(self) -> h11.Event | None:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            self._protocol.receive_data(await self._reader.read(_READ_BYTES))
        return event if isinstance(event, h11.Event) else None

    async def _respond(self, request: Request) -> bool:
        """Whether another request may follow."""
        exchange = Exchange(request, self._protocol, self._writer)
        answering = asyncio.ensure_future(self._answer(exchange))
        leaving = asyncio.create_task(self._client_leaves())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() or isinstance(answering.exception(), ConnectionError):
                request.hung_up()
                return False
            answering.result()
            return not exchange.was_cut and self._protocol.our_state is h11.DONE
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.wait({answering, leaving})
            request.finished.set()

    async def _client_leaves(self) -> None:
        with suppress(ConnectionError):
            while data := await self._reader.read(_READ_BYTES):
                self._protocol.receive_data(data)
