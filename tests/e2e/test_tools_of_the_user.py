"""Can a user write a tool, and the next question use it, while everything else runs on?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.scripted_ollama import Call, Default, ScriptedOllama
from tests.support.stack import Chat, Stack

pytestmark = pytest.mark.stack


async def _called(chat: Chat, model: ScriptedOllama, tool: str) -> tuple[str, str]:
    """The outcome and the result of a call of `tool`."""
    model.reply(Call(tool, {"text": "hello"}))
    model.reply(Default())
    end = await chat.ask("shout hello")
    return end["tool_calls"][0]["outcome"], end["tool_calls"][0]["result"]


def _supervisorctl_update(stack: Stack) -> str:
    conf = stack.home / "run" / "supervisord.conf"
    words = [sys.executable, "-m", "supervisor.supervisorctl", "-c", str(conf), "update"]
    return subprocess.run(words, env=stack.environment, capture_output=True, text=True, check=True).stdout


async def test_new_tool_is_used_by_the_next_question(stack: Stack, model: ScriptedOllama) -> None:
    before = await stack.pids()
    await stack.command("new", "tool", "shout_word")
    said = await stack.command("reload")
    assert said.split()[:2] == ["shout_word", "ready"]
    async with stack.chat() as chat:
        assert await _called(chat, model, "shout_word") == ("ok", "HELLO")

        await stack.command("new", "tool", "yell")
        assert "yell: added process group" in _supervisorctl_update(stack)
        await stack.replaced("yell", 0)
        assert await _called(chat, model, "yell") == ("ok", "HELLO")

        (stack.home / "participants" / "yell.conf").unlink()
        (stack.home / "config").mkdir(exist_ok=True)
        (stack.home / "config" / "generator.yaml").write_text("num_ctx: 4096\n")
        assert "removed" in await stack.command("reload")
        outcome, _ = await _called(chat, model, "yell")
        assert outcome == "unavailable"
        assert (await chat.ask("hi"))["num_ctx"] == 4096
    after = await stack.pids()
    assert {name: after[name] for name in before} == before


async def test_web_tools_are_shown_to_the_model_once_the_user_turns_the_web_on(
    stack: Stack, model: ScriptedOllama
) -> None:
    await stack.command("new", "tool", "shout_word")
    yaml = stack.home / "participants" / "shout_word.yaml"
    yaml.write_text(yaml.read_text() + "  web: true\n  enabled: false\n")
    await stack.command("reload")
    async with stack.chat() as chat:
        outcome, _ = await _called(chat, model, "shout_word")
        assert outcome != "ok"
        said = await stack.command("setup", "--web", "on")
        assert "It holds from the next question on." in said
        assert await _called(chat, model, "shout_word") == ("ok", "HELLO")
        await stack.command("setup", "--web", "off")
        outcome, _ = await _called(chat, model, "shout_word")
        assert outcome != "ok"
    shown = ["shout_word" in request.tools for request in model.requests if request.path == "/api/chat"]
    assert shown[::2] == [False, True, False]
