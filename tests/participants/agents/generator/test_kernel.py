"""Printed calls, loops and odd names in a whole turn."""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.generation import GeneratorStatus, GetStatus
from tests.participants.agents.generator.conftest import World
from tests.support.scripted_ollama import Call, Done, ErrorLine, RawCall, Say, Think

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SEARCH = '{"name": "web_search", "parameters": {"query": "rain boots"}}'


async def search(world: World) -> None:
    await world.tool("web_search", lambda call: ("ok", f"found {call.args['query']}"), schema=QUERY)


def chats(world: World) -> list[dict[str, Any]]:
    return [request.body for request in world.model.requests if request.path == "/api/chat"]


@pytest.mark.parametrize(
    "chunks",
    [
        [f"```json\n{SEARCH}\n```"],
        list(SEARCH),
        ["<tool_call>\n", SEARCH, "\n</tool_call>"],
        ["<think>hm</think>\n", SEARCH],
        ["[TOOL_CALLS] [", SEARCH, "]"],
        ["<function=web_search>\n<parameter=query>\nrain boots\n</parameter>\n</function>\n</tool_call>"],
    ],
)
async def test_printed_call_runs_and_is_never_shown(world: World, chunks: list[str]) -> None:
    await search(world)
    world.model.reply(Say(chunks))
    world.model.reply(Say("Here they are."))
    end = await world.answer("find rain boots")
    assert [(c.tool, c.args, c.outcome) for c in end.tool_calls] == [("web_search", {"query": "rain boots"}, "ok")]
    assert end.answer.strip() == "Here they are."
    assert world.text == end.answer
    assert [m["role"] for m in chats(world)[-1]["messages"]] == ["system", "user", "assistant", "tool"]
    assert "{" not in chats(world)[-1]["messages"][2]["content"]


async def test_prose_before_a_printed_call_is_kept(world: World) -> None:
    await search(world)
    world.model.reply(Say(f"Let me look.\n\n<tool_call>{SEARCH}</tool_call>"))
    world.model.reply(Say("Done."))
    end = await world.answer("find rain boots")
    assert end.answer == "Let me look.\n\nDone."


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (f"```json\n{SEARCH}\n```", "show me the JSON of a web_search call"),
        ('{"name": "search_memory", "arguments": {"query": "x"}}', "find x"),
        ('{"name": "Alice", "age": 5}', "make up a person in JSON"),
        (f"Like this:\n```json\n{SEARCH}\n```\nThe name comes first.", "how does it search?"),
        ("Write `<tool_call>` and `<think>`.", "how?"),
    ],
)
async def test_ordinary_text_arrives_as_it_is(world: World, text: str, question: str) -> None:
    await search(world)
    world.model.reply(Say(list(text)))
    end = await world.answer(question)
    assert (end.answer, end.tool_calls, world.text) == (text, [], text)


async def test_call_made_and_printed_runs_once(world: World) -> None:
    await search(world)
    world.model.reply(Say(f"<tool_call>{SEARCH}</tool_call>"), Call("web_search", {"query": "rain boots"}))
    world.model.reply(Say("Done."))
    end = await world.answer("find rain boots")
    assert [c.args for c in end.tool_calls] == [{"query": "rain boots"}]


async def test_different_calls_made_and_printed_both_run(world: World) -> None:
    await search(world)
    world.model.reply(Say(f"<tool_call>{SEARCH}</tool_call>"), Call("web_search", {"query": "hats"}))
    world.model.reply(Say("Done."))
    end = await world.answer("find rain boots")
    assert [c.args["query"] for c in end.tool_calls] == ["hats", "rain boots"]


async def test_stream_that_breaks_within_a_printed_call_is_asked_again(world: World) -> None:
    await search(world)
    world.model.reply(Say(SEARCH[:30]), ErrorLine("out of memory"))
    world.model.reply(Say("Here."))
    end = await world.answer("find rain boots")
    assert (end.status, end.answer, world.text) == ("answered", "Here.", "Here.")


@pytest.mark.parametrize("name", ["functions.web_search<|channel|>commentary", "Web-Search", "web_search:0"])
async def test_odd_spelling_of_a_name_is_the_tool(world: World, name: str) -> None:
    await search(world)
    world.model.reply(RawCall(name, '{"query": 12345678901234567890}'))
    world.model.reply(Say("Done."))
    end = await world.answer("find it")
    assert [(c.tool, c.args, c.outcome) for c in end.tool_calls] == [
        ("web_search", {"query": "12345678901234567890"}, "ok")
    ]


async def test_namespaced_tool_is_offered_without_its_dot(world: World) -> None:
    await world.tool("notes.add", lambda _call: ("ok", "added"))
    world.model.reply(Call("notes__add", {}))
    world.model.reply(Say("Done."))
    end = await world.answer("note it")
    assert [c.tool for c in end.tool_calls] == ["notes.add"]
    assert [t["function"]["name"] for t in chats(world)[0]["tools"]] == ["notes__add"]
    assert chats(world)[1]["messages"][2]["tool_calls"][0]["function"]["name"] == "notes__add"


async def test_disabled_tool_is_told_with_what_turns_it_on(world: World) -> None:
    await world.tool("web_search", lambda _call: ("ok", "never"), schema=QUERY, enabled=False, web=True)
    world.model.reply(Call("web_search", {"query": "x"}))
    world.model.reply(Say("It is off."))
    end = await world.answer("find x")
    assert end.tool_calls[0].outcome == "disabled"
    assert "local2 setup --web on" in end.tool_calls[0].result
    assert not chats(world)[0].get("tools")


@pytest.mark.parametrize(
    "replies",
    [
        [[Call("clock", {})]] * 50,
        [[Call("clock", {}), Call("web_search", {"query": "x"})]] * 50,
        [[Call("clock", {})], [Call("web_search", {"query": "x"})]] * 25,
        [[Call(f"search_web{n}", {"q": "x"})] for n in range(50)],
        [[Call("web_search", {"q": n})] for n in range(50)],
        [[Say(f"<tool_call>{SEARCH}</tool_call>")]] * 50,
    ],
    ids=["same", "pair", "by turns", "unknown", "invalid", "printed"],
)
async def test_model_that_never_stops_calling_ends_with_a_sentence(world: World, replies: list[list[Any]]) -> None:
    await search(world)
    await world.tool("clock", lambda _call: ("ok", "12:00"))
    for reply in replies:
        world.model.reply(*reply)
    end = await world.answer("find rain boots")
    assert (end.status, end.code, end.retryable, end.answer) == ("failed", "empty_answer", True, "")
    assert "kept calling tools" in end.reason
    assert len(chats(world)) <= 8
    assert [bool(body.get("tools")) for body in chats(world)][-2:] == [False, False]
    assert "No tool can be called any more" in chats(world)[-1]["messages"][-1]["content"]
    status = await world.bus.request(GetStatus(), GeneratorStatus)
    assert status.counts["loops_cut"] == 1


async def test_parser_error_of_the_server_is_tried_a_bounded_number_of_times(world: World) -> None:
    await search(world)
    world.model.reply(ErrorLine("XML syntax error on line 7: expected element name after <"), times=None)
    end = await world.answer("find rain boots")
    assert (end.status, end.answer, end.retryable) == ("failed", "", True)
    assert "XML syntax error" in end.reason
    assert [bool(body.get("tools")) for body in chats(world)] == [True, False]


async def test_silence_is_asked_again(world: World) -> None:
    world.model.reply(Say(""), Done())
    world.model.reply(Say("Four."))
    assert (await world.answer("2+2")).answer == "Four."


async def test_budget_spent_on_thinking_is_incomplete(world: World) -> None:
    world.model.reply(Think("..."), Done(reason="length"), times=None)
    end = await world.answer("2+2")
    assert (end.status, end.finish_reason, end.answer) == ("failed", "incomplete", "")
    assert [body.get("think") for body in chats(world)] == [True, None]


async def test_refused_tools_are_shown_with_their_reason(world: World) -> None:
    for name in ("one", "two", "three"):
        await world.tool(name, lambda _call: ("ok", ""))
    await world.tool("broken", lambda _call: ("ok", ""), schema={"type": "object", "properties": {"a": {"type": 5}}})
    await world.tool("lonely", lambda _call: ("ok", ""), needs=["memory_store"])
    await world.answer("hi")
    status = await world.bus.request(GetStatus(), GeneratorStatus)
    assert status.tools == ["one", "three", "two"]
    assert [(one.tool, bool(one.reason)) for one in status.refused] == [("broken", True), ("lonely", True)]
    assert [t["function"]["name"] for t in chats(world)[0]["tools"]] == ["one", "three", "two"]
