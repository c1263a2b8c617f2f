"""The real engine with the smallest model: what the scripted one cannot prove."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import httpx
import ollama
import pytest

from participants.services.model_server.embed import MiniLm
from participants.services.model_server.engine import LlamaEngine
from participants.services.model_server.errors import ContextOverflow, EngineUnavailable, Refused
from participants.services.model_server.generation import Delta, Done, Event, Lane, Sampling, State, Work
from participants.services.model_server.llama import LlamaConfig
from participants.services.model_server.service import EmbeddedBackend, EmbeddedConfig

pytestmark = pytest.mark.model
LONG = "one two three " * 900
EXACT = Sampling(temperature=0.0, max_tokens=12)


def work(text: str, system: str = "You are helpful. " * 20, sampling: Sampling = EXACT, **more: object) -> Work:
    """A question."""
    messages = ({"role": "system", "content": system}, {"role": "user", "content": text})
    return Work(messages=messages, sampling=sampling, **more)  # pyright: ignore[reportArgumentType]


async def run(engine: LlamaEngine, job: Work) -> tuple[str, Done]:
    """Text and end of a generation."""
    events = [event async for event in engine.stream(job)]
    assert isinstance(events[-1], Done)
    return "".join(event.text for event in events if isinstance(event, Delta)), events[-1]


def nested(depth: int) -> dict[str, object]:
    """A schema of lists of lists of lists."""
    schema: dict[str, object] = {"type": "string"}
    for _level in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.fixture
async def states() -> list[State]:
    """What the engine has told of itself."""
    return []


@pytest.fixture
async def llama(tiny: Path, states: list[State]) -> AsyncIterator[LlamaEngine]:
    """The real engine."""
    engine = LlamaEngine(LlamaConfig(tiny, num_ctx=4096, slots=3, batch=128), lambda state, _why: states.append(state))
    yield engine
    await engine.close()


async def test_it_answers_and_counts(llama: LlamaEngine, states: list[State]) -> None:
    text, done = await run(llama, work("What is the capital of France?"))

    assert "Paris" in text
    assert done.prompt_tokens > done.answer_tokens > 0
    assert done.prompt_s > 0
    assert states == ["loading", "ready"]


async def test_each_prompt_shape_keeps_its_cache(llama: LlamaEngine) -> None:
    router = "You route. " * 60
    await llama.run([work("", router, lane=Lane.ROUTER), work("")])

    shares: list[float] = []
    for question in ("What is rain?", "What is snow?"):
        for job in (work(question, router, lane=Lane.ROUTER), work(question)):
            done = (await run(llama, job))[1]
            shares.append(done.cached_tokens / done.prompt_tokens)

    assert min(shares) > 0.8


async def test_other_prompts_do_not_evict_the_routers(llama: LlamaEngine) -> None:
    router = work("x", "You route. " * 60, lane=Lane.ROUTER)
    await run(llama, router)
    for system in ("Ada. " * 40, "Bob. " * 40, "Eve. " * 40):
        await run(llama, work("x", system))

    done = (await run(llama, router))[1]

    assert done.cached_tokens / done.prompt_tokens > 0.8


async def test_cancelled_while_it_reads_the_prompt(llama: LlamaEngine) -> None:
    await llama.load()
    task = asyncio.create_task(run(llama, work(LONG)))
    await asyncio.sleep(0)
    assert llama.busy
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert not llama.busy
    assert (await run(llama, work("Hi")))[1].answer_tokens > 0


async def test_cancelled_while_it_answers(llama: LlamaEngine) -> None:
    endless = work("Count.", sampling=Sampling(temperature=0.0))
    async with aclosing(llama.stream(endless)) as events:
        first: Event = await anext(events)

    assert isinstance(first, Delta)
    assert not llama.busy


async def test_a_warm_up_gives_way_and_ends_later(llama: LlamaEngine) -> None:
    await llama.load()
    warming = asyncio.create_task(llama.run([work("", LONG[:4000])]))
    await asyncio.sleep(0)

    await run(llama, work("Hi"))
    assert not warming.done()
    await warming
    done = (await run(llama, work("Hello", LONG[:4000])))[1]

    assert done.cached_tokens / done.prompt_tokens > 0.9


async def test_several_at_once(llama: LlamaEngine) -> None:
    results = await asyncio.gather(*(run(llama, work(f"Say {number}.")) for number in range(5)))

    assert all(done.answer_tokens for _text, done in results)


async def test_too_long_for_the_engine_and_for_the_request(llama: LlamaEngine) -> None:
    with pytest.raises(ContextOverflow, match="holds 4096"):
        await run(llama, work(LONG * 4))
    with pytest.raises(ContextOverflow, match="holds 64"):
        await run(llama, work("Hi", num_ctx=64))


async def test_the_requests_context_ends_the_answer(llama: LlamaEngine) -> None:
    _text, done = await run(llama, work("Count.", sampling=Sampling(temperature=0.0), num_ctx=140))

    assert done.reason == "length"
    assert done.prompt_tokens + done.answer_tokens == 140


async def test_a_schema_binds(llama: LlamaEngine) -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}

    text, _done = await run(
        llama, work("Which colour?", sampling=Sampling(temperature=0.0, max_tokens=60), schema=schema)
    )

    assert text.replace(" ", "").replace("\n", "") in {'{"colour":"red"}', '{"colour":"blue"}'}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "wat"},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.org/schema.json"},
        {"type": "string", "pattern": "^((a$"},
        {"enum": [str(number) for number in range(20_000)]},
        nested(400),
        {"type": "string", "minLength": 10**9},
    ],
)
async def test_hostile_schemas_are_refused(llama: LlamaEngine, schema: dict[str, object]) -> None:
    with pytest.raises(Refused):
        await run(llama, work("Hi", schema=schema))

    assert (await run(llama, work("Hi")))[1].answer_tokens > 0


async def test_unloaded_and_loaded_again(llama: LlamaEngine, states: list[State]) -> None:
    await run(llama, work("Hi"))
    await llama.unload()
    await run(llama, work("Hi"))

    assert states == ["loading", "ready", "idle", "loading", "ready"]


async def test_unloading_waits_for_answers(llama: LlamaEngine) -> None:
    answers = [asyncio.create_task(run(llama, work("Hi"))) for _number in range(3)]
    await asyncio.sleep(0)
    await asyncio.gather(llama.unload(), *answers)

    assert not llama.loaded


async def test_closing_ends_what_runs_with_words(llama: LlamaEngine) -> None:
    await llama.load()
    jobs = [asyncio.create_task(run(llama, work(LONG))) for _number in range(3)]
    await asyncio.sleep(0)
    await llama.close()

    ends = await asyncio.gather(*jobs, return_exceptions=True)
    assert {type(end) for end in ends} == {EngineUnavailable}


async def test_a_broken_file(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(1000))
    engine = LlamaEngine(LlamaConfig(broken, num_ctx=512, slots=2, batch=128), lambda _state, _why: None)

    with pytest.raises(EngineUnavailable, match=r"broken\.gguf could not be loaded"):
        await engine.load()
    await engine.close()


SHORT = {"num_predict": 40}  # a small model may ramble to the end of its context


async def test_the_whole_backend(tiny: Path, minilm: Path) -> None:
    backend = EmbeddedBackend(EmbeddedConfig(model="tiny"))
    url = await backend.start()
    question = [{"role": "user", "content": "What is the capital of France?"}]
    async with ollama.AsyncClient(host=url, trust_env=False) as client:
        parts = [
            part async for part in await client.chat("smollm2:135m", messages=question, stream=True, options=SHORT)
        ]
        vectors = (await client.embed("minilm", ["A dog barks.", "A hound is barking.", "Taxes rose."])).embeddings
        old = (await client.embeddings("all-minilm", "A dog barks.")).embedding
    await backend.stop()

    assert "".join(part.message.content or "" for part in parts)
    assert len(parts) > 2
    assert old == pytest.approx(list(vectors[0]), abs=0.05)  # int8: other texts in the batch shift it a little
    assert similarity(vectors[0], vectors[1]) > 0.6 > similarity(vectors[0], vectors[2])


async def test_a_client_that_leaves_frees_the_engine(tiny: Path) -> None:
    backend = EmbeddedBackend(EmbeddedConfig(model="tiny"))
    url = await backend.start()
    body = {"model": "smollm2", "messages": [{"role": "user", "content": "Count to a thousand."}]}
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        async with http.stream("POST", "/api/chat", json=body) as answer:
            await anext(answer.aiter_lines())
        await asyncio.wait_for(backend.engine().unload(), 5)  # which waits until nothing runs
    await backend.stop()


def similarity(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors of unit length."""
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_vectors(minilm: Path) -> None:
    model = MiniLm(minilm, minilm.with_name("all-minilm-l6-v2-tokenizer.json"))

    vectors, tokens = await model.embed(["Hello world", "word " * 1000, ""])
    with pytest.raises(Refused, match="of at most 256"):
        await model.embed(["word " * 1000], truncate=False)
    model.close()

    assert [len(vector) for vector in vectors] == [384, 384, 384]
    assert [similarity(vector, vector) for vector in vectors] == pytest.approx([1.0, 1.0, 1.0])
    assert tokens == 4 + 256 + 2
