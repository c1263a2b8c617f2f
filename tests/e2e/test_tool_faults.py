"""Whatever happens to a tool in mid-call: the turn ends well, and the generator is the same process."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.dropped import drop, runs
from tests.support.scripted_ollama import Call, Say, ScriptedOllama
from tests.support.stack import Chat, Stack

pytestmark = pytest.mark.stack


async def called(chat: Chat, model: ScriptedOllama, tool: str, *do: str, n: int = 0) -> tuple[str, float]:
    """The outcome of a call, and how long it took; the turn has answered."""
    model.reply(Call(tool, {"do": list(do), "n": n}))
    model.reply(Say("Well."))
    end = await chat.ask("do it")
    assert end["answer"] == "Well."
    return end["tool_calls"][0]["outcome"], end["tool_calls"][0]["seconds"]


async def test_faults_of_a_tool_in_mid_call(stack: Stack, model: ScriptedOllama) -> None:
    await drop(stack, send={"timeout_s": 1.5}, read={"idempotent": True, "timeout_s": 15.0})
    generator = (await stack.pids())["generator"]
    async with stack.chat() as chat:
        for n, word in enumerate(("kill", "exit")):
            pid = (await stack.pids())["send"]
            outcome, seconds = await called(chat, model, "send", word, n=n)
            assert outcome == "crashed"
            assert seconds < 1.5  # long before the deadline: its death was seen
            await stack.replaced("send", pid)
            assert (await called(chat, model, "send", "ok", n=n))[0] == "ok"
            assert (await called(chat, model, "read", word, "ok", n=n))[0] == "ok"
        assert len([run for run in runs(stack, "send") if run["do"] != ["ok"]]) == 2
        assert len(runs(stack, "read")) == 4

        assert (await called(chat, model, "send", "hang"))[0] == "timeout"
        pid = (await stack.pids())["send"]
        assert (await called(chat, model, "send", "stop"))[0] == "timeout"
        os.kill(pid, signal.SIGCONT)  # now it gives its late answer
        assert (await called(chat, model, "send", "ok", n=7))[0] == "ok"
        assert (await called(chat, model, "send", "block"))[0] == "timeout"
        await stack.kill("send")
        await stack.replaced("send", pid)
        assert (await called(chat, model, "send", "ok", n=8))[0] == "ok"
    assert (await stack.pids())["generator"] == generator
