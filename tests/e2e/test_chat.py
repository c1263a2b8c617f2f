"""Does a question get its answer through every layer?"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from tests.support.scripted_ollama import Call, Default, Hang, Say, ScriptedOllama, Think, Wait
from tests.support.stack import Stack, alive, open_to_others

pytestmark = pytest.mark.stack


async def test_conversation(stack: Stack, model: ScriptedOllama) -> None:
    """Streaming, thinking, a real tool, memory of the conversation, and the saved whole."""
    async with stack.chat() as chat:
        model.reply(Think("let me see"), Call("get_datetime", {"timezone": "Europe/Paris"}))
        model.reply(Say(["It is ", "noon."]))
        end = await chat.ask("What time is it in Paris?")
        assert (end["type"], end["answer"], end["thinking"]) == ("response", "It is noon.", "let me see")
        assert chat.text(end["query_id"]) == "It is noon."
        call = end["tool_calls"][0]
        assert (call["tool"], call["outcome"]) == ("get_datetime", "ok")
        assert "Europe/Paris" in call["result"]
        kinds = [frame["type"] for frame in chat.frames]
        assert (
            kinds.index("accepted")
            < kinds.index("tool_start")
            < kinds.index("tool_result")
            < kinds.index("answer_chunk")
        )
        model.reply(Say("You asked for the time."))
        await chat.ask("What did I ask?")
    sent = [r for r in model.requests if r.path == "/api/chat"][-1].messages
    assert [m["content"] for m in sent if m["role"] == "user"] == ["What time is it in Paris?", "What did I ask?"]
    assert "let me see" not in json.dumps(sent)
    saved = await stack.get("/api/sessions/s1")
    assert [turn["answer"] for turn in saved["turns"]] == ["It is noon.", "You asked for the time."]
    assert saved["session"]["title"] == "What time is it in Paris?"


async def test_second_question_waits_its_turn_and_other_sessions_do_not(stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Wait("go"), Say("first"), match="one")
    async with stack.chat("a") as chat, stack.chat("b") as other:
        await chat.send({"query": "one", "session_id": "a"})
        await model.reached("go")
        await chat.send({"query": "two", "session_id": "a"})
        assert (await chat.kind("queued"))["position"] == 1
        assert (await other.ask("three"))["type"] == "response"
        model.release("go")
        answers = [(await chat.kind("response"))["answer"], (await chat.kind("response"))["answer"]]
    assert answers[0] == "first"
    assert "two" in answers[1]


async def test_stop_reaches_the_model_and_keeps_the_text(stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say(["one ", "two "]), Hang())
    async with stack.chat() as chat:
        await chat.send({"query": "count", "session_id": "s1"})
        request = await model.next_request("/api/chat")
        chunk = await chat.kind("answer_chunk")
        await chat.kind("answer_chunk")
        await chat.send({"type": "stop", "query_id": chunk["query_id"]})
        async with asyncio.timeout(1):
            await request.closed.wait()
        end = await chat.kind("response")
        assert (end["finish_reason"], end["answer"]) == ("cancelled", "one two ")
        assert (await chat.ask("and now?"))["type"] == "response"
    sent = [r for r in model.requests if r.path == "/api/chat"][-1].messages
    assert any("one two" in m["content"] for m in sent if m["role"] == "assistant")


async def test_client_gone_in_mid_answer_finds_the_whole_answer_later(stack: Stack, model: ScriptedOllama) -> None:
    model.reply(Say("Hello "), Wait("go"), Say("world."))
    async with stack.chat() as chat:
        await chat.send({"query": "hi", "session_id": "s1"})
        seen = await chat.kind("answer_chunk")
    async with stack.chat() as again:
        after = {"query_id": seen["query_id"], "attempt": seen["attempt"], "n": seen["n"]}
        await again.send({"type": "resume", "session_id": "s1", "after": after})
        snapshot = await again.kind("snapshot")
        assert snapshot["answer"] == "Hello "
        model.release("go")
        end = await again.kind("response")
        assert end["answer"] == "Hello world."
        assert snapshot["answer"] + again.text(end["query_id"]) == "Hello world."


async def test_same_query_id_is_one_turn(stack: Stack, model: ScriptedOllama) -> None:
    async with stack.chat() as chat:
        first = await chat.ask("hi", query_id="mine")
        await chat.send({"query": "hi", "session_id": "s1", "query_id": "mine"})
        await chat.kind("accepted")
    assert first["query_id"] == "mine"
    assert len((await stack.get("/api/sessions/s1"))["turns"]) == 1


HOSTILE = [
    "{",
    "[]",
    "5",
    '"x"',
    "{}",
    '{"query": ""}',
    '{"query": 5}',
    '{"type": "nope"}',
    '{"query": "x", "session_id": []}',
]


async def test_bad_frames_get_words_and_the_socket_lives(stack: Stack, model: ScriptedOllama) -> None:
    async with stack.chat() as chat:
        for frame in [*HOSTILE, b"\x00\xff", json.dumps({"query": "x" * 10_000_000})]:
            await chat.send(frame)
            error = await chat.kind("error")
            assert error["message"]
        assert (await chat.ask("still there?"))["type"] == "response"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 200),
    ],
)
async def test_foreign_pages_are_refused(stack: Stack, headers: dict[str, str], status: int) -> None:
    async with httpx.AsyncClient(trust_env=False, base_url=stack.url) as client:
        assert (await client.get("/api/sessions", headers=headers)).status_code == status


async def test_tool_dropped_in_while_it_runs(stack: Stack, model: ScriptedOllama) -> None:
    """A yaml, a module and a program file: the next question can use the tool, and nothing else was restarted."""
    before = await stack.pids()
    (stack.home / "config").mkdir(exist_ok=True)
    (stack.home / "config" / "dice.yaml").write_text(
        "id: dice_tool\ntool: roll_dice\ndescription: Roll a die.\n"
        "parameters: {type: object, properties: {sides: {type: integer}}}\n"
    )
    (stack.home / "participants" / "dice.py").write_text(
        "import sys\n"
        "from participants.participant import main\n"
        "from participants.tools.base import BaseTool\n"
        "class Dice(BaseTool):\n"
        "    CONFIG_NAME = 'dice'\n"
        "    async def run_call(self, args):\n"
        '        return f\'a {args["sides"]} of {args["sides"]}\'\n'
        "sys.exit(main(Dice))\n"
    )
    (stack.home / "participants" / "dice.conf").write_text(
        '[program:dice]\ncommand=python "%(here)s/dice.py"\nautostart=true\n'
    )
    await stack.command("restart", "dice")
    await stack.replaced("dice", 0)
    model.reply(Call("roll_dice", {"sides": 6}))
    model.reply(Default())
    async with stack.chat() as chat:
        end = await chat.ask("roll a die")
    assert [(c["outcome"], c["result"]) for c in end["tool_calls"]] == [("ok", "a 6 of 6")]
    after = await stack.pids()
    assert {name: after[name] for name in before} == before


async def test_logs_hold_no_text_of_the_user_and_are_private(stack: Stack, model: ScriptedOllama) -> None:
    async with stack.chat() as chat:
        await chat.ask("my secret is blue whale")
    logs = list((stack.home / "logs").glob("*.log"))
    assert logs
    assert not [log.name for log in logs if "blue whale" in log.read_text()]
    assert open_to_others([stack.home, *stack.home.rglob("*")]) == []


async def test_settings_are_changed_at_once_and_bad_ones_are_refused(stack: Stack, model: ScriptedOllama) -> None:
    async with httpx.AsyncClient(trust_env=False, base_url=stack.url) as client:
        bad = await client.patch("/api/settings/generator", json={"num_ctx": "many"})
        assert bad.status_code == 422
        assert "num_ctx" in bad.json()["error"]["message"]
        good = await client.patch("/api/settings/generator", json={"num_ctx": 4096})
        assert good.status_code == 200
    async with stack.chat() as chat:
        end = await chat.ask("hi")
    assert end["num_ctx"] == 4096
    saved = stack.home / "config" / "generator.yaml"
    assert "4096" in saved.read_text()
    assert open_to_others([saved]) == []


async def test_nothing_is_left_behind(model: ScriptedOllama, tmp_path: Path) -> None:
    async with Stack.started(tmp_path, model.url) as stack:
        pids = await stack.pids()
    assert alive(pids.values()) == []
