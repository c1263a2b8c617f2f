"""Ollama's API on a scripted engine: what clients get, and what a hostile one gets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx
import ollama
import pytest

from participants.services.model_server.errors import ContextOverflow, EngineUnavailable, Refused
from participants.services.model_server.generation import Delta, Done, Lane
from participants.services.model_server.service import EmbeddedBackend
from tests.participants.services.model_server.conftest import ScriptedEngine

HELLO = [{"role": "user", "content": "Hello"}]
CLOCK = {
    "type": "function",
    "function": {
        "name": "get_datetime",
        "description": "Get the time.",
        "parameters": {"type": "object", "properties": {"timezone": {"type": "string"}}},
    },
}


def routed_to(reply: str) -> Any:
    """A script: the router says `reply`, the answer says Hi."""
    return lambda work: [Delta(reply if work.lane is Lane.ROUTER else "Hi"), Done("stop", 5, 0, 1)]


async def test_the_official_client_streams(client: ollama.AsyncClient) -> None:
    parts = [part async for part in await client.chat("toy-model", messages=HELLO, stream=True)]

    assert [part.message.content for part in parts] == ["Hello", " there", ""]
    assert [part.done for part in parts] == [False, False, True]
    assert (parts[-1].prompt_eval_count, parts[-1].eval_count, parts[-1].done_reason) == (7, 2, "stop")
    assert (parts[-1].prompt_eval_duration, parts[-1].eval_duration) == (500_000_000, 250_000_000)
    assert (parts[-1].total_duration or 0) >= (parts[-1].load_duration or 0) > 0


async def test_the_official_client_gets_it_whole(client: ollama.AsyncClient) -> None:
    answer = await client.chat("toy-model:latest", messages=HELLO)

    assert (answer.message.content, answer.done, answer.eval_count) == ("Hello there", True, 2)


async def test_the_synchronous_client(backend: EmbeddedBackend) -> None:
    with ollama.Client(host=backend.status().url, trust_env=False) as client:
        answer = await asyncio.to_thread(client.chat, "toy-model", messages=HELLO)

    assert answer.message.content == "Hello there"


async def test_generate(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    whole = await client.generate("toy-model", "Hello", system="Be brief.")
    parts = [part.response async for part in await client.generate("toy-model", "Hello", raw=True, stream=True)]

    assert (whole.response, whole.done_reason) == ("Hello there", "stop")
    assert parts == ["Hello", " there", ""]
    assert engine.works[0].messages[0] == {"role": "system", "content": "Be brief."}
    assert (engine.works[1].raw, engine.works[1].messages) == ("Hello", ())


async def test_options_reach_the_engine(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    options = {"temperature": 0.1, "top_k": 5, "seed": 3, "num_predict": 9, "stop": ["x"], "num_ctx": 99, "num_gpu": 1}

    await client.chat("toy-model", messages=HELLO, options=options, format={"type": "object"})

    work = engine.works[0]
    assert (work.sampling.temperature, work.sampling.top_k, work.sampling.seed) == (0.1, 5, 3)
    assert (work.sampling.max_tokens, work.sampling.stop, work.num_ctx) == (9, ("x",), 99)
    assert work.schema == {"type": "object"}


async def test_a_context_larger_than_served_is_bounded(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    await client.chat("toy-model", messages=HELLO, options={"num_ctx": 1_000_000})

    assert engine.works[0].num_ctx == 8192


async def test_a_tool_is_called(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    engine.script = routed_to('{"name": "get_datetime", "arguments": {"timezone": "Asia/Tokyo"}}')

    answer = await client.chat("toy-model", messages=HELLO, tools=[CLOCK])

    calls = answer.message.tool_calls or []
    assert [(call.function.name, call.function.arguments) for call in calls] == [
        ("get_datetime", {"timezone": "Asia/Tokyo"})
    ]
    assert answer.message.content == ""


async def test_no_tool_is_called(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    engine.script = routed_to('{"name": "answer"}')

    answer = await client.chat("toy-model", messages=HELLO, tools=[CLOCK])

    assert (answer.message.content, answer.message.tool_calls) == ("Hi", None)
    assert [work.lane for work in engine.works] == [Lane.ROUTER, Lane.ANSWER]


async def test_after_a_tools_result_the_model_answers(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    call = {"function": {"name": "get_datetime", "arguments": {}}}
    result = {"role": "tool", "tool_name": "get_datetime", "content": "noon"}
    messages = [*HELLO, {"role": "assistant", "content": "", "tool_calls": [call]}, result]

    await client.chat("toy-model", messages=messages, tools=[CLOCK])

    assert [work.lane for work in engine.works] == [Lane.ANSWER]
    assert "noon" in engine.works[0].messages[-1]["content"]


async def test_a_router_that_fails_costs_no_answer(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    failing = [Refused("no grammar for this")]
    engine.script = lambda work: failing if work.lane is Lane.ROUTER else [Delta("Hi"), Done("stop")]

    answer = await client.chat("toy-model", messages=HELLO, tools=[CLOCK])

    assert answer.message.content == "Hi"


async def test_load_and_unload(client: ollama.AsyncClient, engine: ScriptedEngine) -> None:
    loaded = await client.chat("toy-model", keep_alive="10m")
    running = await client.ps()
    unloaded = await client.generate("toy-model", keep_alive=0)

    assert (loaded.done_reason, unloaded.done_reason, engine.kept) == ("load", "unload", [600.0])
    assert [model.model for model in running.models] == ["toy-model"]
    assert (await client.ps()).models == []


async def test_what_is_here(client: ollama.AsyncClient, http: httpx.AsyncClient) -> None:
    shown = await client.show("toy-model")
    versions = (await http.get("/api/version")).json()

    assert [model.model for model in (await client.list()).models] == ["toy-model"]
    assert shown.capabilities == ["completion", "tools"]
    assert (shown.modelinfo or {})["gguf.context_length"] == 8192
    assert versions["embedded"] == "local2"
    assert (await http.get("/")).text.startswith("Ollama is running")
    assert (await http.head("/")).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/api/chat", b"{", 400, "invalid JSON"),
        ("/api/chat", b"", 400, "missing request body"),
        ("/api/chat", b"[" * 50_000, 400, "invalid"),
        ("/api/chat", b"\xff\xfe", 400, "invalid"),
        ("/api/chat", b'{"messages": []}', 400, "model"),
        ("/api/chat", b'{"model": 3}', 400, "$.model"),
        ("/api/chat", b'{"model": "toy-model", "messages": [{"role": "pope"}]}', 400, "$.messages[0].role"),
        ("/api/chat", b'{"model": "toy-model", "messages": "hi"}', 400, "$.messages"),
        ("/api/chat", b'{"model": "nope", "messages": []}', 404, "model 'nope' not found"),
        ("/api/chat", b'{"model": "minilm", "messages": []}', 400, "does not support chat"),
        ("/api/chat", b'{"model": "toy-model", "think": true}', 400, '"toy-model" does not support thinking'),
        ("/api/chat", b'{"model": "toy-model", "keep_alive": "soon"}', 400, "keep_alive"),
        ("/api/chat", b'{"model": "toy-model", "messages": [{"role": "user", "images": ["a"]}]}', 400, "images"),
        ("/api/generate", b'{"model": "toy-model", "prompt": "a", "suffix": "b"}', 400, "suffix"),
        ("/api/generate", b'{"model": "toy-model", "prompt": "a", "format": "xml"}', 400, "format"),
        ("/api/generate", b'{"model": "toy-model", "prompt": "a", "options": {"top_p": 7}}', 400, "top_p"),
        ("/api/embed", b'{"model": "toy-model", "input": "a"}', 400, "does not support embeddings"),
        ("/api/embed", b'{"model": "minilm", "input": "a"}', 503, "install embedding"),
        ("/api/pull", b'{"model": "llama3"}', 501, "Ollama"),
        ("/api/chat", b'"' + b"x" * 200_000 + b'"', 413, "longer than"),
        ("/api/nothing", b"{}", 404, "no such address"),
    ],
)
async def test_refusals(http: httpx.AsyncClient, path: str, body: bytes, status: int, words: str) -> None:
    answer = await http.post(path, content=body)

    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text


async def spaces(blocks: int) -> AsyncIterator[bytes]:
    """A body whose length nobody declares."""
    for _block in range(blocks):
        yield b" " * 10_000


async def test_a_body_without_a_declared_length_is_capped(http: httpx.AsyncClient) -> None:
    answer = await http.post("/api/chat", content=spaces(15))

    assert answer.status_code == 413


async def test_an_endless_body_is_cut_off(http: httpx.AsyncClient) -> None:
    with suppress(httpx.TransportError):  # whether the answer still arrives is up to the network
        await http.post("/api/chat", content=spaces(10**9))

    assert (await http.get("/")).status_code == 200


async def test_get_of_a_post(http: httpx.AsyncClient) -> None:
    answer = await http.get("/api/chat")

    assert (answer.status_code, answer.json()) == (405, {"error": "GET is not for /api/chat"})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example:80"}, 403),
        ({"host": "[bad"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "localhost:11434"}, 200),
        ({"origin": "http://localhost:3000"}, 200),
        ({"origin": "http://[::1]:3000"}, 200),
    ],
)
async def test_foreign_names_and_pages(http: httpx.AsyncClient, headers: dict[str, str], status: int) -> None:
    assert (await http.get("/api/tags", headers=headers)).status_code == status


async def test_an_early_failure_has_its_status_also_in_a_stream(
    http: httpx.AsyncClient, engine: ScriptedEngine
) -> None:
    engine.script = lambda _work: [ContextOverflow(5000, 4096)]

    answer = await http.post("/api/chat", json={"model": "toy-model", "messages": HELLO})

    assert answer.status_code == 400
    assert "5000" in answer.json()["error"]
    assert "4096" in answer.json()["error"]


async def test_a_late_failure_is_an_error_line(http: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    engine.script = lambda _work: [Delta("Hel"), Refused("the context is full")]

    answer = await http.post("/api/chat", json={"model": "toy-model", "messages": HELLO})

    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[0]["message"]["content"] == "Hel"
    assert lines[1] == {"error": "the context is full"}


async def test_an_engine_that_cannot_run(http: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    engine.failure = EngineUnavailable("this computer's processor has no AVX2")

    answer = await http.post("/api/chat", json={"model": "toy-model", "messages": HELLO})

    assert (answer.status_code, "AVX2" in answer.json()["error"]) == (503, True)


async def test_the_engine_stops_when_a_streaming_client_leaves(http: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    engine.gate = asyncio.Event()
    body = {"model": "toy-model", "messages": HELLO}

    async with http.stream("POST", "/api/chat", json=body) as answer:
        await anext(answer.aiter_lines())
        await engine.waiting.wait()

    await asyncio.wait_for(engine.stopped.wait(), 5)


async def test_the_engine_stops_when_a_waiting_client_leaves(http: httpx.AsyncClient, engine: ScriptedEngine) -> None:
    engine.gate = asyncio.Event()
    body = {"model": "toy-model", "messages": HELLO, "stream": False}

    request = asyncio.create_task(http.post("/api/chat", json=body))
    await engine.waiting.wait()
    request.cancel()

    await asyncio.wait_for(engine.stopped.wait(), 5)
