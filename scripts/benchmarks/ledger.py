"""What does it cost that nothing is lost, and does a long conversation get slower?

accepted          from the client's send to `accepted`, which comes after a synced commit
answer committed  from the model's last chunk to `response`, which comes after another one
turns per second  1, 8 and 32 sessions with a model that answers at once
long session      send to model in the last turns of a session of 1,000, half a page each, beside its first
                  turns, and beside those from which on the prompt was as long as the model reads
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path

from scripts.benchmarks.report import Report
from scripts.benchmarks.stamped_model import StampedModel
from scripts.benchmarks.turns import Client, client
from tests.support.stack import Stack

TURNS, LONG, EDGE = 100, 1000, 50
FULL = 200
"""After so many turns the prompt takes all of num_ctx."""
SESSIONS = (1, 8, 32)
PER_SESSION = 12
WORDS = " ".join(["an ordinary question has some words and so has its answer"] * 8)


async def acceptance(port: int) -> tuple[list[float], list[float]]:
    """Milliseconds from the send to `accepted`, and from the last chunk to `response`."""
    accepted: list[float] = []
    committed: list[float] = []
    async with client(port, "accepted") as chat:
        for number in range(TURNS):
            begun = time.monotonic()
            await chat.socket.send(json.dumps({"query": f"echo {number}", "session_id": "accepted"}))
            last = begun
            while True:
                frame = json.loads(await chat.socket.recv())
                now = time.monotonic()
                if frame["type"] == "accepted":
                    accepted.append((now - begun) * 1e3)
                elif frame["type"] == "answer_chunk":
                    last = now
                elif frame["type"] == "response":
                    committed.append((now - last) * 1e3)
                    break
    return accepted, committed


async def throughput(port: int, sessions: int) -> float:
    """Turns a second of so many sessions at once."""

    async def session(number: int) -> None:
        async with client(port, f"{sessions}-{number}") as chat:
            for turn in range(PER_SESSION):
                await chat.turn(f"echo {turn}")

    begun = time.monotonic()
    await asyncio.gather(*(session(number) for number in range(sessions)))
    return sessions * PER_SESSION / (time.monotonic() - begun)


async def long_session(port: int, model: StampedModel) -> list[float]:
    """Milliseconds from the send to the model's receipt, of each turn."""
    async with client(port, "long") as chat:
        return [await _send_to_model(chat, model, number) for number in range(LONG)]


async def _send_to_model(chat: Client, model: StampedModel, number: int) -> float:
    model.asked.clear()
    sent, _ = await chat.turn(f"echo {number} {WORDS}")
    return (model.asked[0][1] - sent) * 1e3


async def run(report: Report) -> None:
    """Measure on one stack."""
    with tempfile.TemporaryDirectory() as home:
        async with StampedModel() as model, Stack.started(Path(home), model.url) as stack:
            accepted, committed = await acceptance(stack.port)
            report.add("accepted", "ms", accepted)
            report.add("answer committed", "ms", committed)
            for sessions in SESSIONS:
                rates = [await throughput(stack.port, sessions) for _ in range(3)]
                report.add(f"turns per second, {sessions} sessions", "turns/s", rates)
            lags = await long_session(stack.port, model)
            name = f"send to model, turns {LONG - EDGE} to {LONG}, bare:"
            report.add(f"{name} 1 to {EDGE}", "ms", lags[-EDGE:], lags[1 : EDGE + 1])
            report.add(f"{name} {FULL} to {FULL + EDGE}", "ms", lags[-EDGE:], lags[FULL : FULL + EDGE], "flat")
