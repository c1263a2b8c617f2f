"""What does LoCAL2 add to a turn?

send to model     from the client's send to the model's receipt of the request
chunk lag         from the model's send of a chunk to the client's receipt
tool round trip   from the model's call to the next request with its result
turns per second  8 sessions with a model that takes 500 ms
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import websockets

from scripts.benchmarks.report import Report
from scripts.benchmarks.stamped_model import StampedModel
from tests.support.stack import REPOSITORY, Stack, free_port

TURNS, WARM_UP, SESSIONS, ROUNDS = 60, 5, 8, 4


class Client:
    """One session on one socket."""

    def __init__(self, socket: websockets.ClientConnection, session: str) -> None:
        self.socket, self._session = socket, session

    async def turn(self, query: str) -> tuple[float, list[float]]:
        """Ask; the time of the send, and the lag of each stamped chunk in ms."""
        sent = time.monotonic()
        lags: list[float] = []
        async for chunk, now in self._chunks(query):
            lags += [(now - float(stamp)) * 1e3 for stamp in re.findall(r"@(\d+\.\d+)", chunk)]
        return sent, lags

    async def first_chunk(self, query: str) -> float:
        """Ask, and wait for the end; milliseconds to the first chunk."""
        sent = time.monotonic()
        times = [now async for _, now in self._chunks(query)]
        return (times[0] - sent) * 1e3

    async def _chunks(self, query: str) -> AsyncIterator[tuple[str, float]]:
        """Ask; each chunk and when it came, until the turn ends."""
        await self.socket.send(json.dumps({"query": query, "session_id": self._session}))
        while True:
            frame = json.loads(await self.socket.recv())
            now = time.monotonic()
            if frame["type"] == "answer_chunk":
                yield frame["chunk"], now
            elif frame["type"] == "response":
                return
            elif frame["type"] == "error":
                raise RuntimeError(frame["message"])


@asynccontextmanager
async def client(port: int, session: str) -> AsyncIterator[Client]:
    """A connected client."""
    async with websockets.connect(f"ws://127.0.0.1:{port}/ws/chat", max_size=None, proxy=None) as socket:
        yield Client(socket, session)


async def send_to_model(port: int, model: StampedModel) -> list[float]:
    """Milliseconds from the send to the model's receipt."""
    out: list[float] = []
    async with client(port, "echo") as chat:
        for number in range(WARM_UP + TURNS):
            model.asked.clear()
            sent, _ = await chat.turn(f"echo {number}")
            out.append((model.asked[0][1] - sent) * 1e3)
            await asyncio.sleep(0.02)
    return out[WARM_UP:]


async def chunk_lag(port: int) -> tuple[list[float], list[float]]:
    """Milliseconds: of each first chunk, and of all."""
    first: list[float] = []
    every: list[float] = []
    async with client(port, "stream") as chat:
        for _ in range(8):
            _, lags = await chat.turn("tokens 40 gap 10")
            first.append(lags[0])
            every += lags
    return first[1:], every


async def tool_round_trip(port: int, model: StampedModel) -> list[float]:
    """Milliseconds from the model's call to its next request."""
    out: list[float] = []
    async with client(port, "tool") as chat:
        for number in range(WARM_UP + TURNS):
            model.asked.clear()
            query = f"call get_datetime {number}"
            await chat.turn(query)
            out.append((model.asked[-1][1] - model.called[query]) * 1e3)
    return out[WARM_UP:]


async def turns_per_second(port: int) -> list[float]:
    """8 sessions at once, each with a model of 500 ms."""

    async def session(number: int) -> None:
        async with client(port, f"many-{number}") as chat:
            for turn in range(ROUNDS):
                await chat.turn(f"slow 500 {number} {turn}")

    out: list[float] = []
    for _ in range(2):
        begun = time.monotonic()
        await asyncio.gather(*(session(number) for number in range(SESSIONS)))
        out.append(SESSIONS * ROUNDS / (time.monotonic() - begun))
    return out


@asynccontextmanager
async def bare(model: StampedModel) -> AsyncIterator[int]:
    """The bare gateway's port."""
    port = free_port()
    command = [sys.executable, "-m", "scripts.benchmarks.bare_gateway", str(port), model.url]
    process = await asyncio.create_subprocess_exec(*command, cwd=REPOSITORY)
    try:
        async with asyncio.timeout(20):
            while True:
                try:
                    async with client(port, "probe"):
                        break
                except OSError:
                    await asyncio.sleep(0.05)
        yield port
    finally:
        process.terminate()
        await process.wait()


async def run(report: Report) -> None:
    """Measure ours and the bare one against the same model."""
    with tempfile.TemporaryDirectory() as home:
        async with StampedModel() as model, Stack.started(Path(home), model.url) as stack, bare(model) as bare_port:
            pairs = [
                (
                    "send to model",
                    "ms",
                    await send_to_model(stack.port, model),
                    await send_to_model(bare_port, model),
                    "<= 4",
                ),
                (
                    "tool round trip",
                    "ms",
                    await tool_round_trip(stack.port, model),
                    await tool_round_trip(bare_port, model),
                    "<= 3",
                ),
            ]
            first, every = await chunk_lag(stack.port)
            bare_first, bare_every = await chunk_lag(bare_port)
            pairs += [
                ("first chunk's lag", "ms", first, bare_first, "<= 2"),
                ("chunk lag", "ms", every, bare_every, ""),
                (
                    "8 sessions on a 500 ms model",
                    "turns/s",
                    await turns_per_second(stack.port),
                    await turns_per_second(bare_port),
                    ">= 14",
                ),
            ]
            for pair in pairs:
                report.add(*pair)
