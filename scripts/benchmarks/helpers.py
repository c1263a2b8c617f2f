"""Does a question wait for the helpers that grade and sum up, where a machine does one thing at a time?

The model server has one slot, and each call of a helper takes a second. `ours` is a question that comes while a helper
has the slot; `bare` is one that comes when nobody does.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path

from scripts.benchmarks.report import Report
from scripts.benchmarks.turns import client
from tests.support.scripted_ollama import MODELS, Say, ScriptedOllama
from tests.support.stack import Stack

PAIRS = 12
_HELPERS = _CRITIC, _MEMORY = "scripted-critic:latest", "scripted-memory:latest"
_ENVIRONMENT = {
    "LOCAL2_CRITIC__ENABLED": "true",
    "LOCAL2_MEMORY__USE_MODEL": "true",
    "LOCAL2_MODELS__CRITIC": _CRITIC,
    "LOCAL2_MODELS__MEMORY": _MEMORY,
}
_QUIET_S = 2.0
_SUMMARY = json.dumps({"summary": "In better words.", "intent": "fact", "entities": []})


def _slow(text: str) -> Say:
    """A reply that takes a second."""
    middle = len(text) // 2
    return Say([text[:middle], text[middle:]], every_s=0.5)


async def _working(model: ScriptedOllama, question: str) -> None:
    """Until a helper asks after this question was answered."""
    asked = False
    while True:
        request = await model.next_request("/api/chat", within_s=30)
        is_helper = request.body["model"] in _HELPERS
        if asked and is_helper:
            return
        asked = asked or (not is_helper and question in request.said)


async def _quiet(model: ScriptedOllama) -> None:
    """Until nobody has asked for anything for a while."""
    known, since = len(model.requests), time.monotonic()
    while time.monotonic() - since < _QUIET_S:
        await asyncio.sleep(0.05)
        if len(model.requests) > known:
            known, since = len(model.requests), time.monotonic()


async def run(report: Report) -> None:
    """Measure from a question's send to its first chunk, with helpers at work and without."""
    first: list[float] = []
    following: list[float] = []
    async with ScriptedOllama(models=[*MODELS, *_HELPERS], slots=1) as model:
        model.reply(_slow("Feedback: fine. [RESULT] 4"), model=_CRITIC, times=None)
        model.reply(_slow(_SUMMARY), model=_MEMORY, times=None)
        with tempfile.TemporaryDirectory() as home:
            async with (
                Stack.started(Path(home), model.url, environment=_ENVIRONMENT) as stack,
                client(stack.port, "helpers") as chat,
            ):
                for number in range(PAIRS + 1):
                    await _quiet(model)
                    question = f"Where is berth {number}?"
                    lone = await chat.first_chunk(question)
                    await _working(model, question)
                    busy = await chat.first_chunk(f"And where is the crane of berth {number}?")
                    if number:  # the first pair warms up
                        first.append(lone)
                        following.append(busy)
    report.add("first chunk while a helper works", "ms", following, first, "as bare")
