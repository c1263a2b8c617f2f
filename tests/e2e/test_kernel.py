"""Do slash commands, printed calls and tools that come and go work through every layer?"""

from __future__ import annotations

import asyncio

import pytest

from tests.support.scripted_ollama import Say, ScriptedOllama
from tests.support.stack import Stack

pytestmark = pytest.mark.stack


async def test_one_turn_of_each_kind(stack: Stack, model: ScriptedOllama) -> None:
    async with stack.chat() as chat:
        listed = await chat.ask("/help")
        assert "`/time [timezone]`" in listed["answer"]
        assert "`/search` is off: Turn the web on" in listed["answer"]
        assert "--web on" in (await chat.ask("/search rain boots"))["answer"]
        assert [r for r in model.requests if r.path == "/api/chat"] == []
        model.reply(Say("It is late."))
        timed = await chat.ask("/time Europe/Paris")
        assert [(call["tool"], call["outcome"]) for call in timed["tool_calls"]] == [("get_datetime", "ok")]
        assert timed["answer"] == "It is late."
        model.reply(Say(list('{"name": "datetime", "arguments": {"timezone": "UTC"}}')))
        model.reply(Say("Noon."))
        printed = await chat.ask("what time is it in UTC?")
        assert (printed["answer"], [call["tool"] for call in printed["tool_calls"]]) == ("Noon.", ["get_datetime"])
        model.reply(Say("A file."))
        assert (await chat.ask("/etc/hosts"))["answer"] == "A file."
    status = await stack.get("/api/models")
    assert {"help", "time", "where"} <= {info["name"] for info in status["commands"]}


async def test_broken_schema_is_shown_with_its_reason_and_hides_no_other_tool(stack: Stack) -> None:
    folder = stack.home / "config"
    folder.mkdir(exist_ok=True)
    (folder / "datetime.yaml").write_text("policies: {needs: [location]}\n")
    (folder / "location.yaml").write_text("parameters: {type: object, properties: {a: {type: nope}}}\n")
    await stack.command("reload")
    async with asyncio.timeout(10):
        while "get_location" in (status := await stack.get("/api/models"))["tools"]:
            pass
    assert "get_datetime" in status["tools"]
    assert [one["tool"] for one in status["refused"] if "nope" in one["reason"]] == ["get_location"]
