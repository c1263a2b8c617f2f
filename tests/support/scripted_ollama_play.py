"""How do the steps of a reply become lines on the wire, streamed or as one object?"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from tests.support.scripted_ollama_http import Exchange, Request
from tests.support.scripted_ollama_script import (
    BadJson,
    Call,
    Done,
    DoneLoad,
    Drop,
    ErrorLine,
    Hang,
    Line,
    RawCall,
    Say,
    Script,
    SplitBytes,
    Status,
    Step,
    Think,
    Wait,
)

_JOINED = ("content", "response", "thinking", "tool_calls")


class Sink(Protocol):
    """Where the parts of an answer go."""

    async def part(self, part: dict[str, Any]) -> None:
        """One line's object."""
        ...

    async def raw(self, data: bytes) -> None:
        """One line as it stands."""
        ...

    async def fail(self, message: str) -> None:
        """An error that comes too late for the status; the end."""
        ...

    async def end(self) -> None:
        """All was said."""
        ...

    def split(self, step: SplitBytes) -> None:
        """Cut all that follows."""
        ...


class _Cutter:
    """Sends a body, whole or cut as the script wants it."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._offset = 0
        self.split = SplitBytes()

    async def send(self, data: bytes) -> None:
        first, *others = self.split.cut(data, self._offset)
        self._offset += len(data)
        await self._exchange.send(first)
        for piece in others:
            await asyncio.sleep(0)
            await self._exchange.send(piece)


class Lines:
    """An NDJSON stream. The head waits for the first line, as the real server's does."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._cutter = _Cutter(exchange)

    def split(self, step: SplitBytes) -> None:
        """Cut all that follows."""
        self._cutter.split = step

    async def part(self, part: dict[str, Any]) -> None:
        """Send an object as a line."""
        await self.raw(_encode(part))

    async def raw(self, data: bytes) -> None:
        """Send a line as it stands."""
        await self._start()
        await self._cutter.send(data + b"\n")

    async def fail(self, message: str) -> None:
        """Send an error line and end."""
        await self.part({"error": message})
        await self.end()

    async def end(self) -> None:
        """End the stream in good order."""
        await self._start()
        await self._exchange.end()

    async def _start(self) -> None:
        if not self._exchange.started:
            await self._exchange.start(200, "application/x-ndjson")


class Whole:
    """One JSON object, made of all parts, for a request with `stream: false`."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._cutter = _Cutter(exchange)
        self._parts: dict[str, Any] = {}
        self._raw = b""

    def split(self, step: SplitBytes) -> None:
        """Cut all that follows."""
        self._cutter.split = step

    async def part(self, part: dict[str, Any]) -> None:
        """Add to the object."""
        _merge(self._parts, part)

    async def raw(self, data: bytes) -> None:
        """Answer with this instead of the object."""
        self._raw = data

    async def fail(self, message: str) -> None:
        """Answer with an error status."""
        await self._exchange.answer_json(500, {"error": message})

    async def end(self) -> None:
        """Send the object."""
        body = self._raw or _encode(self._parts)
        await self._exchange.start(200, "application/json; charset=utf-8", len(body))
        await self._cutter.send(body)
        await self._exchange.end()


def sink_for(exchange: Exchange) -> Sink:
    """Streaming is the rule, as with the real server."""
    return Whole(exchange) if exchange.request.body.get("stream") is False else Lines(exchange)


class Player:
    """Plays one reply to a chat or generate request, or to any other one if it holds only faults and lines."""

    def __init__(self, exchange: Exchange, script: Script) -> None:
        self._exchange = exchange
        self._script = script
        self._sink = sink_for(exchange)
        self._chunks = 0

    async def play(self, steps: Sequence[Step]) -> None:
        """Go through the steps; a `Default` among them is the caller's to replace."""
        for step in steps:
            await self._do(step)

    async def _do(self, step: Step) -> None:
        match step:
            case Say() | Think():
                async for chunk in _paced(step):
                    await self._chunk(self._text(chunk, thinking=isinstance(step, Think)))
            case Call() | RawCall():
                await self._chunk(self._call(step))
            case Wait(name):
                gate = self._script.gate(name)
                gate.reached.set()
                await gate.released.wait()
            case SplitBytes():
                self._sink.split(step)
            case Line(value):
                await self._sink.part(value)
            case BadJson(text):
                await self._sink.raw(text.encode())
            case _:
                await self._finish(step)

    async def _finish(self, step: Step) -> None:
        match step:
            case Status(code, message):
                await self._exchange.answer_json(code, {"error": message})
            case ErrorLine(message):
                await self._sink.fail(message)
            case Drop(reset):
                self._exchange.cut(reset=reset)
            case Hang():
                await asyncio.Event().wait()
            case Done() | DoneLoad():
                await self._sink.part(self._text("") | self._ending(step))
                await self._sink.end()
            case _:
                await self._sink.end()

    async def _chunk(self, part: dict[str, Any]) -> None:
        self._chunks += 1
        await self._sink.part(part)

    def _text(self, text: str, *, thinking: bool = False) -> dict[str, Any]:
        if self._exchange.request.path == "/api/generate":
            return self._head() | ({"response": "", "thinking": text} if thinking else {"response": text})
        message = {"content": "", "thinking": text} if thinking else {"content": text}
        return self._head() | {"message": {"role": "assistant"} | message}

    def _call(self, step: Call | RawCall) -> dict[str, Any]:
        if self._exchange.request.path == "/api/generate":
            raise ValueError(f"/api/generate knows no tools: {step!r}")
        arguments = step.args if isinstance(step, Call) else step.arguments
        call: dict[str, Any] = {"function": {"index": self._chunks, "name": step.name, "arguments": arguments}}
        if isinstance(step, Call) and step.id:
            call["id"] = step.id
        return self._head() | {"message": {"role": "assistant", "content": "", "tool_calls": [call]}}

    def _head(self) -> dict[str, Any]:
        return {"model": self._exchange.request.model, "created_at": now(), "done": False}

    def _ending(self, step: Done | DoneLoad) -> dict[str, Any]:
        if isinstance(step, DoneLoad):
            return {"done": True, "done_reason": "load"}
        words = _words(self._exchange.request)
        return {
            "done": True,
            "done_reason": step.reason,
            "total_duration": 3_000_000,
            "load_duration": 1_000_000,
            "prompt_eval_count": words if step.prompt_eval_count is None else step.prompt_eval_count,
            "prompt_eval_duration": 1_000_000,
            "eval_count": self._chunks if step.eval_count is None else step.eval_count,
            "eval_duration": 1_000_000,
        }


def now() -> str:
    """The time as Ollama writes it."""
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


async def _paced(step: Say | Think) -> AsyncIterator[str]:
    for chunk in [step.text] if isinstance(step.text, str) else step.text:
        if step.every_s:
            await asyncio.sleep(step.every_s)
        yield chunk


def _words(request: Request) -> int:
    return sum(len(re.findall(r"\S+", str(message.get("content") or ""))) for message in request.messages)


def _encode(value: dict[str, Any]) -> bytes:
    # Characters go out as UTF-8, not escaped, so that a cut can fall within one.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _merge(whole: dict[str, Any], part: dict[str, Any]) -> None:
    for key, value in part.items():
        if key == "message" and key in whole:
            _merge(whole[key], value)
        elif key in _JOINED and key in whole:
            whole[key] += value
        else:
            whole[key] = value
