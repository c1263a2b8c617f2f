"""A model server that says when it was asked and when it sent each piece.

Only what `/api/chat` needs. Stamps are `time.monotonic()`, the same clock for every process of a machine.
The question scripts it: `tokens N gap MS`, `slow MS`, `call NAME`; anything else is echoed.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Any

MODEL = "bench:latest"


class StampedModel:
    """Listens on a free loopback port while the block lasts. `asked` holds (question, time, is a tool round)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, float, bool]] = []
        self.called: dict[str, float] = {}

    async def __aenter__(self) -> StampedModel:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        now = time.monotonic()
        length = re.search(rb"(?i)content-length: (\d+)", head)
        body = json.loads(await reader.readexactly(int(length[1]))) if length else {}
        path = head.split(b" ")[1].decode()
        if path != "/api/chat":
            self._whole(writer, _about(path))
            return True
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
        async for part in self._parts(body, now):
            line = json.dumps(part).encode() + b"\n"
            writer.write(b"%x\r\n%s\r\n" % (len(line), line))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _whole(self, writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data)
        )

    async def _parts(self, body: dict[str, Any], now: float) -> AsyncIterator[dict[str, Any]]:
        question = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
        after_tool = body["messages"][-1]["role"] == "tool"
        self.asked.append((question, now, after_tool))
        if slow := re.search(r"slow (\d+)", question):
            await asyncio.sleep(int(slow[1]) / 1000)
        call = re.search(r"call (\w+)", question)
        tokens = re.search(r"tokens (\d+) gap (\d+)", question)
        if call and not after_tool:
            self.called[question] = time.monotonic()
            yield _part({"content": "", "tool_calls": [{"function": {"name": call[1], "arguments": {}}}]})
        elif tokens:
            for _ in range(int(tokens[1])):
                await asyncio.sleep(int(tokens[2]) / 1000)
                yield _part({"content": f"@{time.monotonic():.6f} "})
        else:
            yield _part({"content": question})
        yield {**_part({"content": ""}), "done": True, "done_reason": "stop", "prompt_eval_count": 60, "eval_count": 5}


def _part(message: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": MODEL,
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", **message},
        "done": False,
    }


def _about(path: str) -> dict[str, Any]:
    if path == "/api/version":
        return {"version": "0.12.0"}
    if path == "/api/tags":
        return {"models": [{"name": MODEL, "model": MODEL, "size": 1}]}
    return {"capabilities": ["completion", "tools"], "model_info": {}, "details": {}}
