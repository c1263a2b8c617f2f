"""A small request to a model, and every way in which it gives nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from bus.messages.control import Backend
from participants.backend.ask import NoAnswer, ask
from participants.backend.backends import Backends, NoModel
from participants.models import ModelsConfig
from tests.support.scripted_ollama import ScriptedOllama
from tests.support.scripted_ollama_script import Call, Hang, Say, Status

MODEL = "scripted:latest"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as started:
        yield started


@pytest.fixture
async def backends(server: ScriptedOllama) -> AsyncIterator[Backends]:
    async def embedded() -> Backend:
        return Backend(state="ready", url=server.url, model=MODEL)

    made = Backends(ModelsConfig(ollama_host=server.url), embedded, httpx.Timeout(2.0))
    await made.refresh()
    yield made
    await made.close()


async def answer(backends: Backends, **more: Any) -> str:
    messages = [{"role": "user", "content": "sum up"}]
    return await ask(backends, MODEL, messages, num_ctx=4096, most_tokens=50, **{"limit_s": 5.0, **more})


async def test_the_answer_comes_without_its_thinking_and_with_the_loaded_models_options(server, backends):
    server.reply(Say("<think>hm</think>short"))
    assert await answer(backends) == "short"
    sent = server.requests[-1].body
    assert sent["options"]["num_ctx"] == 4096
    assert "tools" not in sent


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([Say("")], "said nothing"),
        ([Say("<think>only a thought</think>")], "said nothing"),
        ([Call("web_search", {"query": "x"})], "said nothing"),
        ([Status(500, "out of memory")], "out of memory"),
    ],
)
async def test_no_answer_has_a_reason(server, backends, script, words):
    server.reply(*script)
    with pytest.raises(NoAnswer, match=words):
        await answer(backends)


async def test_one_that_takes_too_long_is_given_up(server, backends):
    server.reply(Hang())
    with pytest.raises(NoAnswer, match="did not answer within"):
        await answer(backends, limit_s=0.05)


async def test_being_cancelled_frees_the_server(server, backends):
    server.reply(Hang())
    task = asyncio.ensure_future(answer(backends))
    request = await server.next_request("/api/chat")
    task.cancel()
    await asyncio.wait_for(request.closed.wait(), 5)


async def test_the_demo_model_helps_nobody(server):
    async def embedded() -> Backend:
        return Backend(state="ready", url=server.url, model=MODEL)

    made = Backends(ModelsConfig(backend="embedded"), embedded, httpx.Timeout(2.0))
    await made.refresh()
    with pytest.raises(NoModel, match="not used as critic"):
        made.helper("critic")
    await made.close()


async def test_a_role_without_a_model_takes_the_default_one(backends):
    backends.config = ModelsConfig(default=MODEL)
    assert backends.helper("memory") == MODEL
