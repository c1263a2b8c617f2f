"""Does a model that runs on this very machine answer, with no Ollama anywhere?"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.model]


@pytest.fixture(scope="session")
def tiny() -> str:
    """The smallest model, and the one that makes vectors: fetched once, as a start fetches them."""
    for choice in ("tiny", "embedding"):
        subprocess.run([sys.executable, "-m", "gateway.cli", "models", "install", choice], check=True, timeout=600)
    return "tiny"


def short(weights: str) -> dict[str, str]:
    """Small models ramble: a short limit keeps the test short."""
    return {"LOCAL2_EMBEDDED_MODEL": weights, "LOCAL2_GENERATOR__ANSWER_TOKENS": "64"}


async def test_embedded_model_answers_streams_and_remembers(tiny: str, tmp_path: Path) -> None:
    async with Stack.started(tmp_path, None, environment=short(tiny)) as stack, stack.chat() as chat:
        end = await chat.ask("Say hello.", within_s=120)
        assert end["type"] == "response", end
        assert end["answer"].strip()
        assert end["demo"] is True
        assert chat.text(end["query_id"]) == end["answer"]
        chunks = [f for f in chat.frames if f["type"] == "answer_chunk"]
        assert len(chunks) > 1
        second = await chat.ask("And again.", within_s=120)
        assert second["prompt_tokens"] > end["prompt_tokens"]
        models = await stack.get("/api/models")
        assert (models["backend"]["kind"], models["backend"]["demo"]) == ("embedded", True)
        assert "ollama" in models["backend"]["message"].lower()


async def test_stop_ends_the_embedded_generation(tiny: str, tmp_path: Path) -> None:
    async with Stack.started(tmp_path, None, environment=short(tiny)) as stack, stack.chat() as chat:
        await chat.send({"query": "Count from one to one thousand in words.", "session_id": "s1"})
        chunk = await chat.kind("answer_chunk", within_s=120)
        await chat.send({"type": "stop", "query_id": chunk["query_id"]})
        end = await chat.kind("response", within_s=10)
        assert end["finish_reason"] in ("cancelled", "length", "stop")
        assert (await chat.ask("Hi.", within_s=120))["type"] == "response"


async def test_what_was_said_is_recalled_in_another_chat_by_its_meaning(tiny: str, tmp_path: Path) -> None:
    async with Stack.started(tmp_path, None, environment=short(tiny)) as stack:
        async with stack.chat("first") as chat:
            pinned = await chat.ask("/remember My sister Nora plays the cello.", within_s=60)
            assert pinned["tool_calls"][0]["outcome"] == "ok", pinned
            await chat.ask("My grandmother was a lighthouse keeper on Skye.", within_s=120)
        async with asyncio.timeout(60):
            while not (engrams := (await stack.get("/api/memory?kind=engram"))["memories"]):
                pass
            while (await stack.get("/api/memory/status"))["waiting"]:
                pass
        assert engrams[0]["query"] == "My grandmother was a lighthouse keeper on Skye."
        async with stack.chat("second") as chat:
            # Not one word is the same.
            end = await chat.ask("Which job did Mum's mother have?", within_s=120)
        assert [fact["kind"] for fact in end["facts"]] == ["fact"]
        assert [memory["memory_id"] for memory in end["recalled"]] == [engrams[0]["memory_id"]]
        status = await stack.get("/api/memory/status")
        assert (status["model"], status["dimensions"], status["message"]) == ("minilm", 384, "")
