"""What does a user see when a process dies?"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.scripted_ollama import Call, Say, ScriptedOllama, Wait
from tests.support.stack import Stack, alive

pytestmark = pytest.mark.stack
PROGRAMS = ["proxy", "conversation", "model_server", "ops", "generator", "datetime"]


@pytest.mark.parametrize("name", PROGRAMS)
async def test_killed_in_mid_answer(stack: Stack, model: ScriptedOllama, name: str) -> None:
    """The turn ends well or with words, once; and the next question is answered."""
    model.reply(Say("Hello "), Wait("go"), Say("world."), times=2)
    async with stack.chat() as chat:
        await chat.send({"query": "hi", "session_id": "s1"})
        await model.reached("go")
        pid = await stack.kill(name)
        model.release("go")
        end = await chat.kind("response", "error")
        assert (end["type"], end.get("answer")) == ("response", "Hello world.")
        await stack.replaced(name, pid)
        model.reset()
        assert (await chat.ask("still there?"))["type"] == "response"
    saved = await stack.get("/api/sessions/s1")
    assert saved["turns"][0]["answer"] == "Hello world."
    assert len(saved["turns"]) == 2


async def test_gateway_killed_in_mid_answer(stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Hello "), Wait("go"), Say("world."))
    async with stack.chat() as chat:
        await chat.send({"query": "hi", "session_id": "s1"})
        seen = await chat.kind("answer_chunk")
        pid = await stack.kill("gateway")
    await stack.replaced("gateway", pid)
    async with stack.chat() as again:
        after = {"query_id": seen["query_id"], "attempt": seen["attempt"], "n": seen["n"]}
        await again.send({"type": "resume", "session_id": "s1", "after": after})
        assert (await again.kind("snapshot"))["answer"] == "Hello "
        model.release("go")
        assert (await again.kind("response"))["answer"] == "Hello world."


async def test_tool_killed_in_mid_call(stack: Stack, model: ScriptedOllama) -> None:
    """The call is made again by the next process, since that does no harm, and the generator is the same process."""
    generator = (await stack.pids())["generator"]
    pid = await stack.kill("datetime", signal.SIGSTOP)
    model.reply(Call("get_datetime", {}))
    model.reply(Say("Noon."))
    async with stack.chat() as chat:
        await chat.send({"query": "time?", "session_id": "s1"})
        await chat.kind("tool_start")
        os.kill(pid, signal.SIGKILL)
        end = await chat.kind("response", within_s=10)
        assert (end["tool_calls"][0]["outcome"], end["answer"]) == ("ok", "Noon.")
        await stack.replaced("datetime", pid)
        model.reply(Call("get_datetime", {}))
        model.reply(Say("Noon."))
        end = await chat.ask("and now?")
        assert end["tool_calls"][0]["outcome"] == "ok"
    assert (await stack.pids())["generator"] == generator


async def test_everything_killed_at_once(stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Hello "), Wait("go"), Say("world."), times=2)
    async with stack.chat() as chat:
        await chat.send({"query": "hi", "session_id": "s1"})
        await model.reached("go")
        pids = await stack.pids()
        for pid in pids.values():
            os.kill(pid, signal.SIGKILL)
    model.release("go")
    for name, pid in pids.items():
        await stack.replaced(name, pid)
    async with stack.chat() as again:
        await again.send({"type": "resume", "session_id": "s1"})
        assert (await again.ask("still there?"))["type"] == "response"
    turns = (await stack.get("/api/sessions/s1"))["turns"]
    assert turns[0]["answer"] == "Hello world."


async def test_down_and_up_resumes_what_was_open(stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Hello "), Wait("go"), Say("world."), times=2)
    async with stack.chat() as chat:
        await chat.send({"query": "hi", "session_id": "s1"})
        await model.reached("go")
    await stack.command("down")
    model.release("go")
    await stack.up()
    async with stack.chat() as again:
        await again.ask("still there?")
    turns = (await stack.get("/api/sessions/s1"))["turns"]
    assert turns[0]["answer"] == "Hello world."


async def test_supervisord_killed_and_started_again(stack: Stack, model: ScriptedOllama) -> None:
    """Its children end, and the next start has one of each."""
    before = await stack.pids()
    os.kill(_parent(before["proxy"]), signal.SIGKILL)
    await stack.up()
    after = await stack.pids()
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values())
    assert alive(before.values()) == []
    async with stack.chat() as chat:
        assert (await chat.ask("hi"))["type"] == "response"


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_second_start_on_one_home_says_who_is_there(stack: Stack, model: ScriptedOllama) -> None:
    before = await stack.pids()
    said = await stack.up()
    assert "runs already" in said
    assert await stack.pids() == before


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("datetime", "tool: [", "datetime.yaml"),
        ("datetime", "no_such_key: 1\n", "no_such_key"),
        ("datetime", "tool: 5\n", "tool"),
    ],
    ids=["syntax", "unknown key", "wrong type"],
)
async def test_bad_yaml_stops_only_its_own_participant(
    stack: Stack, model: ScriptedOllama, name: str, text: str, words: str
) -> None:
    (stack.home / "config").mkdir(exist_ok=True)
    (stack.home / "config" / f"{name}.yaml").write_text(text)
    said = await stack.command("restart", name, check=False)
    assert f"{name} ended: " in said
    assert words in said
    async with stack.chat() as chat:
        assert (await chat.ask("hi"))["type"] == "response"
    assert words in (stack.home / "logs" / f"{name}.log").read_text()


async def test_missing_id_is_no_failure(model: ScriptedOllama, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir(parents=True)
    (tmp_path / "config" / "datetime.yaml").write_text("id: '[set id in yaml]'\n")
    async with Stack.started(tmp_path, model.url) as stack, stack.chat() as chat:
        assert (await chat.ask("hi"))["type"] == "response"
        listed = (await stack.get("/api/participants"))["participants"]
    assert [e["sender_id"] for e in listed if e["name"] == "datetime"] == ["[set id in yaml]"]


async def test_model_server_gone_and_back(stack: Stack, model: ScriptedOllama) -> None:
    async with stack.chat() as chat:
        await chat.ask("hi")
        await model.stop()
        end = await chat.ask("gone?")
        assert end["type"] == "error"
        assert end["message"]
        await model.__aenter__()
        assert (await chat.ask("back?"))["type"] == "response"
