"""How does a stubborn client behave, and what has it seen?

One session, one question after another. A connection that breaks is opened again; a question that was not
accepted is sent again under the same id; the turn that runs is resumed at the last chunk that came.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field
from random import Random
from typing import Any

import websockets

from tests.support.scripted_ollama_default import signed
from tests.support.stack import Frame

_PROGRESS = frozenset({"answer_chunk", "thinking_chunk", "tool_start", "tool_result", "response", "error"})
_RETRY_S = 0.05
_SILENCE_S = 10.0
"""After so long without a frame the client opens a new connection, as a person would reload the page."""


@dataclass
class Asked:
    """One question, and all that came of it. Times are `time.monotonic()`."""

    query_id: str
    session_id: str
    query: str
    tool: bool
    sent_at: float
    accepted_at: float = 0.0
    ended_at: float = 0.0
    heard_at: list[float] = field(default_factory=list[float])
    """When its turn went on: a piece of text, a tool, its end."""
    ends: list[Frame] = field(default_factory=list[Frame])
    last: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def answer(self) -> str:
        """The right one. It is more than an echo, which would be neither graded nor new."""
        return signed(self.query)


class Asker:
    """One client.

    Args:
        port: The gateway's.
        session_id: Its session.
        seed: Chooses its questions.
        padding: Ends each question, so that its echo takes a while.
    """

    def __init__(self, port: int, session_id: str, seed: int, padding: str) -> None:
        self._address, self._padding = f"ws://127.0.0.1:{port}/ws/chat", padding
        self.session_id, self._random = session_id, Random(f"{seed} {session_id}")  # noqa: S311  repeatable
        self.asked: list[Asked] = []
        self.reconnects = 0
        self.strays: list[Frame] = []
        """Frames of another session."""

    async def run(self, stop: asyncio.Event) -> None:
        """Ask until told to stop; the last question is still followed to its end."""
        while not stop.is_set():
            await self.follow(self._next())

    def _next(self) -> Asked:
        number, tool = len(self.asked), self._random.random() < 0.5
        query_id = f"{self.session_id}-{number}"
        what = "use get_datetime {} for" if tool else "say"
        query = f"{what} <{query_id}> {self._padding}"
        asked = Asked(query_id, self.session_id, query, tool, time.monotonic())
        self.asked.append(asked)
        return asked

    async def follow(self, asked: Asked) -> None:
        """Ask this question until it has an end."""
        while not asked.ended_at:
            try:
                async with websockets.connect(self._address, max_size=None, proxy=None, open_timeout=5) as socket:
                    await self._converse(socket, asked)
            except (OSError, TimeoutError, websockets.WebSocketException):
                self.reconnects += 1
                await asyncio.sleep(_RETRY_S)

    async def _converse(self, socket: websockets.ClientConnection, asked: Asked) -> None:
        if asked.accepted_at:
            after = {"after": asked.last} if asked.last else {}
            await socket.send(json.dumps({"type": "resume", "session_id": self.session_id, **after}))
        # Also after a resume: the ledger knows the id, and a turn that has ended meanwhile says so.
        ask = {"query": asked.query, "session_id": self.session_id, "query_id": asked.query_id}
        await socket.send(json.dumps(ask))
        while not asked.ended_at:
            async with asyncio.timeout(_SILENCE_S):
                self._take(json.loads(await socket.recv()), asked)
        with contextlib.suppress(TimeoutError):  # a second answer would come at once
            async with asyncio.timeout(0.02):
                while True:
                    self._take(json.loads(await socket.recv()), asked)

    def _take(self, frame: Frame, asked: Asked) -> None:
        if frame.get("query_id") != asked.query_id:
            self.strays += [frame] if "query_id" in frame and frame.get("session_id") != self.session_id else []
            return
        now = time.monotonic()
        if frame["type"] == "error" and not asked.accepted_at:
            raise TimeoutError  # the ledger is away: ask again
        if frame["type"] in _PROGRESS:
            asked.heard_at.append(now)
        match frame["type"]:
            case "accepted":
                asked.accepted_at = asked.accepted_at or now
            case "answer_chunk" | "thinking_chunk":
                asked.last = {key: frame[key] for key in ("query_id", "attempt", "n")}
            case "response" | "error":
                asked.accepted_at = asked.accepted_at or now
                asked.ended_at = now
                asked.ends.append(frame)
            case _:
                pass
