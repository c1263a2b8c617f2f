"""A gateway that is asked to stop, or stands still, while an answer streams: nothing of the answer is missing."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack

import pytest
import websockets

from tests.support.scripted_ollama import Say, ScriptedOllama, Wait
from tests.support.stack import Frame, Stack

pytestmark = pytest.mark.stack
_SOCKETS = 10
_FLOOD = [f"{number} " for number in range(10_000)]


async def test_sigterm_with_open_sockets_and_a_turn_that_streams(stack: Stack, model: ScriptedOllama) -> None:
    """It leaves by itself, says so to each client, and the turn goes on."""
    model.reply(Say("Hello "), Wait("go"), Say("world."))
    async with AsyncExitStack() as opened:
        chats = [await opened.enter_async_context(stack.chat()) for _ in range(_SOCKETS)]
        await chats[0].send({"query": "hi", "session_id": "s1"})
        seen = await chats[0].kind("answer_chunk")
        pid = await stack.kill("gateway", signal.SIGTERM)
        ends = await asyncio.gather(*(chat.kind("never") for chat in chats), return_exceptions=True)
    assert [type(end) for end in ends] == [websockets.ConnectionClosedError] * _SOCKETS
    assert {chat.socket.close_code for chat in chats} == {1012}
    await stack.replaced("gateway", pid)
    assert "exited: gateway (exit status 0;" in (stack.home / "logs" / "supervisord.log").read_text()
    async with stack.chat() as again:
        after = {"query_id": seen["query_id"], "attempt": seen["attempt"], "n": seen["n"]}
        await again.send({"type": "resume", "session_id": "s1", "after": after})
        model.release("go")
        end = await again.kind("response")
    assert (end["answer"], end["query_id"]) == ("Hello world.", seen["query_id"])


async def test_a_flood_while_the_gateway_stands_still(stack: Stack, model: ScriptedOllama) -> None:
    """What the bus dropped for it is noticed and got from the generator; others lose nothing."""
    model.reply(Say("first "), Wait("go"), Say(_FLOOD), Wait("flooded"), Say("last"))
    async with stack.chat() as chat:
        await chat.send({"query": "count", "session_id": "s1"})
        await chat.kind("answer_chunk")
        pid = await stack.kill("gateway", signal.SIGSTOP)
        model.release("go")
        await model.reached("flooded")
        os.kill(pid, signal.SIGCONT)
        model.release("flooded")
        end = await chat.kind("response")
        shown = shown_text(chat.frames)
    assert end["answer"] == shown == "first " + "".join(_FLOOD) + "last"
    assert (await stack.pids())["gateway"] == pid


def shown_text(frames: list[Frame]) -> str:
    """What a page shows: a snapshot stands for all before it, and each further number comes once."""
    text, n = "", -1
    for frame in frames:
        whole = frame["type"] == "snapshot"
        chunk = frame["type"] == "answer_chunk" and frame["n"] > n
        text = frame["answer"] if whole else text + frame["chunk"] if chunk else text
        n = frame["n"] if whole or chunk else n
    return text
