"""Does a whole stack remember for the right person, forget at once, and never wait for its helpers?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.support.scripted_ollama import MODELS, Call, Say, ScriptedOllama, Wait
from tests.support.stack import Stack

pytestmark = pytest.mark.stack
HELPERS = ("scripted-critic:latest", "scripted-memory:latest")
ENVIRONMENT = {
    "LOCAL2_MODELS__EMBEDDING": "scripted-embed",
    "LOCAL2_MODELS__CRITIC": "scripted-critic",
    "LOCAL2_MODELS__MEMORY": "scripted-memory",
}
WORK = {
    HELPERS[0]: "Feedback: fine. [RESULT] 5",
    HELPERS[1]: json.dumps({"summary": "In better words.", "intent": "fact", "entities": []}),
}
"""What each helper answers when it is asked again."""
HINT = "My PIN hint is blue whale."


@pytest.fixture
async def model() -> AsyncIterator[ScriptedOllama]:
    """A model server that does one thing at a time, as small machines do."""
    async with ScriptedOllama(models=[*MODELS, *HELPERS], slots=1) as server:
        yield server


@pytest.fixture
async def stack(model: ScriptedOllama, tmp_path: Path) -> AsyncIterator[Stack]:
    """A stack that remembers by rules alone, and grades nothing."""
    async with Stack.started(tmp_path / "home", model.url, environment=ENVIRONMENT) as started:
        yield started


class Api:
    """What a user may do with the memory over REST."""

    def __init__(self, stack: Stack, user: str) -> None:
        self._stack, self.user = stack, user

    async def call(self, method: str, path: str = "", **options: Any) -> httpx.Response:
        """A request and its answer."""
        url = f"{self._stack.url}/api/memory{path}{'&' if '?' in path else '?'}user_id={self.user}"
        async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
            return await client.request(method, url, **options)

    async def everything(self, words: str) -> str:
        """All that any route tells this user, as text."""
        paths = ("", "?kind=fact", "?kind=engram", f"?text={quote(words)}", f"/search?q={quote(words)}", "/export")
        return "\n".join([(await self.call("GET", path)).raise_for_status().text for path in paths])


def prompts(model: ScriptedOllama) -> list[str]:
    """What the answering model was asked, as text."""
    chats = [request.body for request in model.requests if request.path == "/api/chat"]
    return [json.dumps(body["messages"]) for body in chats if body["model"] not in HELPERS]


async def kept(stack: Stack, user: str, words: str) -> None:
    """Until an engram says this: it is kept soon after the answer."""
    async with httpx.AsyncClient(trust_env=False, timeout=20) as client, asyncio.timeout(30):
        while words not in (await client.get(f"{stack.url}/api/memory?kind=engram&user_id={user}")).text:
            pass


async def test_nothing_of_one_user_reaches_another_also_after_a_restart(stack: Stack, model: ScriptedOllama) -> None:
    ann, bob = Api(stack, "ann@example.com"), Api(stack, "bob")
    async with stack.chat("of-ann") as chat:
        model.reply(Call("remember_this", {"fact": HINT, "reason": "She said so."}))
        model.reply(Say("I will remember it."))
        await chat.ask("Remember that my PIN hint is blue whale.", user_id=ann.user)
        model.reply(Say("The spare key lies below the third flower pot of the terrace."))
        await chat.ask("Where was the spare key of my house again?", user_id=ann.user)
        await kept(stack, ann.user, "flower pot")
    ids = [one["memory_id"] for one in (await ann.call("GET")).json()["memories"]]
    assert len(ids) >= 2
    for life in range(2):
        async with stack.chat(f"of-bob-{life}") as chat:
            first = len(model.requests)
            model.reply(Call("search_memory", {"query": "PIN hint, blue whale, spare key"}))
            model.reply(Say("I do not know."))
            answer = await chat.ask("What is my PIN hint, and where is my spare key?", user_id=bob.user)
            assert [call["tool"] for call in answer["tool_calls"]] == ["search_memory"]
            assert "blue whale." not in json.dumps(chat.frames)
            assert "flower pot" not in json.dumps(chat.frames)
            told = json.dumps([request.body for request in model.requests[first:]])
            assert "flower pot" not in told
            assert HINT not in told
        told = await bob.everything("blue whale spare key flower pot")
        assert HINT not in told
        assert "flower pot" not in told
        for memory_id in ids:
            assert json.loads((await bob.call("GET", f"/items?id={memory_id}")).text)["memories"] == []
            assert (await bob.call("PATCH", f"/{memory_id}", json={"text": "mine"})).status_code == 404
            assert (await bob.call("DELETE", f"/{memory_id}")).status_code == 404
        assert HINT in await ann.everything("blue whale")
        if life == 0:
            await stack.command("down")
            await stack.up()
    assert (await bob.call("DELETE")).status_code == 204
    assert HINT in await ann.everything("blue whale")


async def test_what_is_deleted_is_gone_from_prompts_search_and_export_also_after_a_restart(
    stack: Stack, model: ScriptedOllama
) -> None:
    me = Api(stack, "default")
    async with stack.chat("first") as chat:
        model.reply(Say("The best bakery is Crumb and Crust in Mill Lane."))
        await chat.ask("Which bakery did Theo like best in our town?")
        await kept(stack, me.user, "Crumb and Crust")
    async with stack.chat("second") as chat:
        await chat.ask("Which bakery does Theo like?")
        assert "Crumb and Crust" in prompts(model)[-1]
        listed = (await me.call("GET", "?kind=engram")).json()["memories"]
        for memory in listed:
            assert (await me.call("DELETE", f"/{memory['memory_id']}")).status_code == 204
    for life in range(2):
        async with stack.chat(f"third-{life}") as chat:
            first = len(model.requests)
            model.reply(Call("search_memory", {"query": "Theo's bakery"}))
            model.reply(Say("I do not know."))
            await chat.ask("Which bakery does Theo like, again?")
            assert "Crumb and Crust" not in json.dumps([request.body for request in model.requests[first:]])
        assert "Crumb and Crust" not in await me.everything("bakery Theo Crumb Crust")
        if life == 0:
            await stack.command("down")
            await stack.up()


@pytest.mark.parametrize("program", ["memory", "memory_store"])
async def test_a_memory_that_dies_in_mid_turn_costs_no_answer_and_no_engram(
    stack: Stack, model: ScriptedOllama, program: str
) -> None:
    async with stack.chat("killed") as chat:
        model.reply(Say("The tide tables "), Wait("go"), Say("hang beside the door of the boathouse."))
        await chat.send({"query": "Where do the tide tables hang in our club?", "session_id": "killed"})
        await chat.kind("answer_chunk")
        pid = await stack.kill(program)
        model.release("go")
        ended = await chat.kind("response", "error")
        assert ended["answer"].endswith("boathouse.")
        await stack.replaced(program, pid)
        await kept(stack, "default", "boathouse")
    engrams = (await Api(stack, "default").call("GET", "?kind=engram")).json()["memories"]
    assert [one["query"] for one in engrams] == ["Where do the tide tables hang in our club?"]


async def test_a_fact_that_was_said_to_be_kept_survives_kills_in_mid_write(stack: Stack) -> None:
    me, kept_facts, refused, said = Api(stack, "default"), list[str](), list[int](), asyncio.Semaphore(0)

    async def write(writer: int) -> None:
        for number in range(60):
            fact = f"Locker {writer}-{number} holds parcel {1000 * writer + number}."
            answer = await me.call("POST", "/facts", json={"fact": fact})
            if answer.status_code == 201:
                kept_facts.append(fact)
                said.release()
            else:
                refused.append(answer.status_code)

    async with asyncio.TaskGroup() as group:
        for writer in range(3):
            group.create_task(write(writer))
        for _ in range(3):
            for _ in range(5):
                await said.acquire()
            pid = await stack.kill("memory_store")
            await stack.replaced("memory_store", pid)
    assert set(refused) <= {503, 504}, refused
    assert len(kept_facts) > 100
    exported = (await me.call("GET", "/export")).text
    assert [fact for fact in kept_facts if fact not in exported] == []
    async with asyncio.timeout(60):
        while (await stack.get("/api/memory/status"))["waiting"]:
            pass
    found = json.loads((await me.call("GET", f"/search?q={quote(kept_facts[-1])}")).text)["memories"]
    assert kept_facts[-1] in [memory["text"] for memory in found]


@pytest.mark.parametrize("helper", HELPERS)
async def test_a_question_waits_for_no_helper(model: ScriptedOllama, tmp_path: Path, helper: str) -> None:
    critic = helper == HELPERS[0]
    environment = ENVIRONMENT | {
        "LOCAL2_CRITIC__ENABLED": str(critic).lower(),
        "LOCAL2_MEMORY__USE_MODEL": str(not critic).lower(),
    }
    model.reply(Wait("busy"), Say("Too late."), model=helper)
    model.reply(Say(WORK[helper]), model=helper, times=None)
    async with (
        Stack.started(tmp_path / "another", model.url, environment=environment) as stack,
        stack.chat("busy") as chat,
    ):
        model.reply(Say("It takes twelve minutes on foot."))
        await chat.ask("How long does it take from the station to the harbour?")
        await model.reached("busy", within_s=30)  # the helper has the only slot, and keeps it
        ended = await chat.ask("And by bus, at night?")
        assert ended["answer"] == "You said: And by bus, at night?"
        if critic:
            graded = [await chat.kind("critique", within_s=60) for _ in range(2)]
            assert {grade["score"] for grade in graded} == {5}
        else:
            await kept(stack, "default", "In better words.")
