"""One answer of the model as lines of JSON: streamed as they come, or merged into one."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from participants.services.model_server import wire
from participants.services.model_server.about import Backend
from participants.services.model_server.chat import Called
from participants.services.model_server.errors import EngineUnavailable, Refused
from participants.services.model_server.generation import Delta, Done, Engine, Event, Json
from participants.services.model_server.hangup import LinesResponse, until_hangup

Shape = Callable[[Event | Called], Json]


class Turn:
    """One answer, streamed or whole; then the model's idle time begins."""

    def __init__(self, backend: Backend, asked: wire.Request, stream: bool, shape: Shape) -> None:
        self._backend = backend
        self._model = asked.model
        self._keep_s = wire.seconds_of(asked.keep_alive, backend.keep_alive_s)
        self._stream = stream
        self._shape = shape
        self._started = time.monotonic()
        self._load_s = 0.0

    async def answer(
        self, request: Request, source: Callable[[Engine], AsyncGenerator[Event | Called, None]]
    ) -> Response:
        """Answer with the events of `source`. Raises Refused, EngineUnavailable, HungUp before the first byte."""
        engine = self._backend.engine()
        lines = self._lines(engine, source)
        if not self._stream:
            return JSONResponse(await until_hangup(request.receive, self._whole(lines)))
        try:
            first = await until_hangup(request.receive, anext(lines))  # an early failure still gets its status
        except BaseException:
            await lines.aclose()
            raise
        return LinesResponse(_encoded(first, lines))

    async def _lines(
        self, engine: Engine, source: Callable[[Engine], AsyncGenerator[Event | Called, None]]
    ) -> AsyncGenerator[Json, None]:
        try:
            await engine.load()
            self._load_s = time.monotonic() - self._started
            async with aclosing(source(engine)) as events:
                async for event in events:
                    yield self._line(event)
        finally:
            engine.keep(self._keep_s)

    def _line(self, event: Event | Called) -> Json:
        line: Json = {"model": self._model, "created_at": wire.now(), **self._shape(event), "done": False}
        if isinstance(event, Done):
            line |= wire.counts(event, time.monotonic() - self._started, self._load_s)
        return line

    async def _whole(self, lines: AsyncGenerator[Json, None]) -> Json:
        whole: Json = {}
        async with aclosing(lines):
            async for line in lines:
                whole = _merged(whole, line)
        return whole


async def _encoded(first: Json, lines: AsyncGenerator[Json, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(lines):
        try:
            yield msgspec.json.encode(first) + b"\n"
            async for line in lines:
                yield msgspec.json.encode(line) + b"\n"
        except (Refused, EngineUnavailable) as error:
            yield msgspec.json.encode({"error": str(error)}) + b"\n"


def chat_shape(event: Event | Called) -> Json:
    """The part of a line that /api/chat has of its own."""
    message: Json = {"role": "assistant", "content": ""}
    match event:
        case Delta(text, thinking):
            message["content"] = text
            if thinking:
                message["thinking"] = thinking
        case Called(tool, arguments):
            message["tool_calls"] = [{"function": {"name": tool, "arguments": arguments}}]
        case Done():
            pass
    return {"message": message}


def generate_shape(event: Event | Called) -> Json:
    """The part of a line that /api/generate has of its own."""
    match event:
        case Delta(text, thinking):
            return {"response": text, "thinking": thinking} if thinking else {"response": text}
        case _:
            return {"response": ""}


def _merged(whole: Json, line: Json) -> Json:
    """The later line, with the text of both and the calls of either."""
    merged = {**whole, **line}
    for name in ("response", "thinking"):
        if name in whole or name in line:
            merged[name] = whole.get(name, "") + line.get(name, "")
    if "message" in line:
        before, after = whole.get("message", {}), line["message"]
        merged["message"] = {**before, **after, "content": before.get("content", "") + after["content"]}
        if thinking := before.get("thinking", "") + after.get("thinking", ""):
            merged["message"]["thinking"] = thinking
    return merged
