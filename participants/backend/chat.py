"""How is a streamed chat request sent, and what comes back?

The `ollama` client, with its own way of streaming replaced. Its pydantic models cost about a
millisecond a request and more with each earlier message, it takes a character such as U+0085 inside an
answer for the end of a line, and it refuses a whole answer for one tool call with odd arguments.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from contextlib import aclosing
from typing import Any, cast

import httpx
import msgspec
import ollama
import structlog

from bus.envelope import encode_payload

log = structlog.get_logger()
MAX_LINE_BYTES = 16 * 1024 * 1024
_LONGEST_ERROR = 65_536


class Function(msgspec.Struct):
    """What a model calls; the arguments as it gave them, still in JSON."""

    name: Any = ""
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class Call(msgspec.Struct):
    """One tool call; some servers leave `function` out."""

    function: Function | None = None
    name: Any = ""
    arguments: msgspec.Raw = msgspec.Raw(b"null")


class Said(msgspec.Struct):
    """A chunk's message. Its tool calls are read later (`calls_in`): one odd number must not lose the chunk."""

    content: str | None = None
    thinking: str | None = None
    tool_calls: msgspec.Raw = msgspec.Raw(b"null")


class Chunk(msgspec.Struct):
    """One line of the stream."""

    message: Said = msgspec.field(default_factory=Said)
    done: bool = False
    done_reason: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    error: str | None = None


class Unreadable(Exception):
    """The server sent a line that is no chunk."""


_decode = msgspec.json.Decoder(Chunk).decode
_decode_calls = msgspec.json.Decoder(list[Call] | Call | None).decode


class ChatClient(ollama.AsyncClient):
    """The `ollama` client, with `stream_chat`.

    Args:
        host: The server's URL.
        transport: One that chats use directly: a client's redirects, cookies and authentication are not for them.
        more: As for httpx.AsyncClient.
    """

    def __init__(self, host: str, *, transport: httpx.AsyncBaseTransport | None = None, **more: Any) -> None:
        super().__init__(host, transport=transport, **more)  # pyright: ignore[reportUnknownMemberType]  untyped there
        self._direct = transport
        self._http = cast("httpx.AsyncClient", self._client)  # pyright: ignore[reportUnknownMemberType]  untyped there
        self._form = self._http.build_request("POST", "/api/chat")  # made once: it costs more than to fill it in
        del self._form.headers["content-length"]
        self._form.headers["accept-encoding"] = "identity"
        self._form.extensions = {"timeout": {**self._http.timeout.as_dict(), "read": None}}

    async def stream_chat(self, request: Mapping[str, Any]) -> AsyncGenerator[Chunk]:
        """The chunks of one request; closing the generator closes the connection, and the server stops.

        How long a chunk may take is for the caller to bound.

        Args:
            request: The body of /api/chat, as Ollama's API describes it.

        Raises:
            ollama.ResponseError: The server refused, or sent an error line.
            Unreadable: A line is no chunk.
            httpx.HTTPError: The connection broke.
        """
        form = self._form
        post = httpx.Request(
            form.method, form.url, headers=form.headers, extensions=form.extensions, content=encode(request)
        )
        if self._direct is None:
            response = await self._http.send(post, stream=True)
        else:
            response = await self._direct.handle_async_request(post)
        async with aclosing(response):
            assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101  for the type checker
            if response.is_error:
                body = await beginning(response.stream, _LONGEST_ERROR)
                raise ollama.ResponseError(body.decode("utf-8", "replace"), response.status_code)
            async for line in lines(response.stream):
                yield read(line)


def calls_in(raw: bytes) -> list[tuple[str, str]]:
    """The calls of a chunk, each (name, arguments as JSON); what is no call has no name, which no tool has."""
    try:
        listed = _decode_calls(raw) or []
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        log.info("calls_unreadable", reason=str(error))
        return [("", "")]
    return [_call(call) for call in (listed if isinstance(listed, list) else [listed])]


def _call(call: Call) -> tuple[str, str]:
    function = call.function or Function(call.name, call.arguments)
    name = function.name if isinstance(function.name, str) else ""
    return name, bytes(function.arguments).decode("utf-8", "replace")


def encode(request: Mapping[str, Any]) -> bytes:
    """The request as JSON."""
    return bytes(encode_payload(request))


async def beginning(pieces: AsyncIterable[bytes], size: int) -> bytes:
    """At most so many bytes of a stream, which may have no end."""
    read = b""
    async for piece in pieces:
        read += piece
        if len(read) >= size:
            break
    return read[:size]


async def lines(pieces: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """The stream's lines, cut at line feeds alone."""
    held = bytearray()  # grows in place: a long line comes in many pieces
    async for piece in pieces:
        *done, rest = piece.split(b"\n")
        for part in done:
            line = bytes(held) + part if held else part
            held.clear()
            if line.strip():
                yield line
        held += rest
        if len(held) > MAX_LINE_BYTES:
            raise Unreadable(f"a line of more than {MAX_LINE_BYTES} bytes")
    if held.strip():
        yield bytes(held)


def read(line: bytes) -> Chunk:
    """One line as a chunk.

    Raises:
        ollama.ResponseError: It is an error line.
        Unreadable: It is no chunk.
    """
    try:
        chunk = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if chunk.error:
        raise ollama.ResponseError(chunk.error)
    return chunk
