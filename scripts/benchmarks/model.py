"""How fast is the embedded model through the whole stack, and how fast is its engine alone?

LOCAL2_EMBEDDED_MODEL chooses the model. Needs its weights: `local2 models install`.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from participants.services.model_server.generation import Sampling, Work
from participants.services.model_server.llama import Llama, LlamaConfig
from participants.services.model_server.weights import resolve
from scripts.benchmarks.report import Report
from tests.support.stack import Chat, Frame, Stack

SHORT = [
    "Name a colour.",
    "Is the sea salty?",
    "Say good morning.",
    "What is 2 plus 2?",
    "Name a fruit.",
    "Who are you?",
]
CITIES = ["Tokyo", "Paris", "London", "Berlin", "Madrid", "Rome", "Oslo", "Lima"]
LONG = "Write a story of 200 words about a lighthouse."
TOKENS = 160


async def ask(chat: Chat, query: str, session: str) -> tuple[float, float, list[float], Frame]:
    """(seconds to the first piece, seconds in all, the times of all pieces, the end)."""
    chat.session_id = session
    begun, times = time.monotonic(), list[float]()
    await chat.send({"query": query, "session_id": session})
    while True:
        frame = await chat.kind("answer_chunk", "response", "error", within_s=300)
        if frame["type"] != "answer_chunk":
            return times[0] - begun, time.monotonic() - begun, times, frame
        times.append(time.monotonic())


def rate(times: list[float]) -> float:
    """Pieces (tokens) a second, from the first to the last."""
    return (len(times) - 1) / (times[-1] - times[0])


def engine_alone(choice: str) -> list[float]:
    """Tokens a second of llama.cpp itself, with the same settings and no server."""
    llama = Llama(LlamaConfig(model_path=resolve(choice).path, num_ctx=8192, slots=3, batch=128))
    work = Work(messages=({"role": "user", "content": LONG},), sampling=Sampling(max_tokens=TOKENS, temperature=0.0))
    rates: list[float] = []
    for _ in range(3):
        times: list[float] = []

        def take(chunk: dict[str, Any], times: list[float] = times) -> bool:
            choices = chunk.get("choices") or [{}]
            if (choices[0].get("delta") or {}).get("content"):
                times.append(time.monotonic())
            return False

        llama.run(work, 0, take)
        rates.append(rate(times))
    llama.close()
    return rates


async def run(report: Report) -> None:
    """Measure the stack first, then the engine in this process."""
    choice = os.environ.get("LOCAL2_EMBEDDED_MODEL", "default")
    environment = {
        "LOCAL2_EMBEDDED_MODEL": choice,
        "LOCAL2_GENERATOR__ANSWER_TOKENS": str(TOKENS),
        "LOCAL2_GENERATOR__TEMPERATURE": "0.0",
    }
    with tempfile.TemporaryDirectory() as home:
        async with Stack.started(Path(home), None, environment=environment) as stack, stack.chat() as chat:
            cold, _, _, _ = await ask(chat, "Hello!", "cold")
            report.add("embedded: first token, first question", "s", [cold])
            first = [(await ask(chat, query, f"short-{i}"))[0] for i, query in enumerate(SHORT)]
            report.add("embedded: first token, once ready", "s", first, goal="<= 5")
            tools = [await ask(chat, f"What time is it in {city}?", f"tool-{city}") for city in CITIES]
            report.add("embedded: tool question answered", "s", [t[1] for t in tools], goal="<= 8")
            called = [100.0 * bool(t[3].get("tool_calls")) for t in tools]
            report.add("embedded: tool called", "%", [sum(called) / len(called)])
            rates = [rate((await ask(chat, LONG, f"long-{i}"))[2]) for i in range(3)]
    alone = await asyncio.to_thread(engine_alone, choice)
    report.add("embedded: speed", "tokens/s", rates, alone, goal=">= 97 % of bare")
