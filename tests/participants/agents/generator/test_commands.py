"""Does a slash command run its tool, with and without a model?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from bus.messages.generation import GeneratorStatus, GetStatus
from bus.messages.ledger import Step, ToolRecord
from bus.messages.tool import Command, Policies, ToolCall, ToolSchema
from tests.participants.agents.generator.conftest import World
from tests.support.scripted_ollama import Say, Status

TEXT = {"type": "string"}
CALLS: list[ToolCall] = []


async def tool(world: World, name: str, command: Command, properties: dict[str, Any], **policies: Any) -> None:
    """A tool whose parameters are all required."""
    CALLS.clear()

    def run(call: ToolCall) -> tuple[str, str]:
        CALLS.append(call)
        return "ok", f"ran with {json.dumps(call.args)}"

    client = await world.tool(name, run, **policies)
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    client.publish(
        ToolSchema(
            tool=name,
            name=name,
            description=name,
            parameters=parameters,
            policies=Policies(**policies),
            commands=[command],
            pid=4242,
        )
    )


SEARCH = Command(name="search", help="Search", argument="query")


def chats(world: World) -> list[dict[str, Any]]:
    return [request.body for request in world.model.requests if request.path == "/api/chat"]


async def test_command_runs_its_tool_and_the_model_words_the_result(world: World) -> None:
    await tool(world, "web_search", SEARCH, {"query": TEXT})
    world.model.reply(Say("Two pairs."))
    end = await world.answer("/search rain boots")
    assert [(c.tool, c.args, c.outcome) for c in end.tool_calls] == [("web_search", {"query": "rain boots"}, "ok")]
    assert (end.answer, [step.kind for step in world.ledger.steps]) == ("Two pairs.", ["round", "result"])
    (body,) = chats(world)
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][1]["content"] == "/search rain boots"
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == {"query": "rain boots"}


async def test_terminal_result_is_the_answer(world: World) -> None:
    await tool(world, "clock", Command(name="time", help="Time"), {}, continuation="terminal")
    end = await world.answer("/time")
    assert (end.status, end.answer, world.text) == ("answered", "ran with {}", "ran with {}")
    assert chats(world) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [("/help", "/search <query>"), ("/search", "Usage: `/search <query>`"), ("/search x n=1", "ran with")],
)
async def test_without_any_model_server(world: World, line: str, words: str) -> None:
    await tool(world, "web_search", SEARCH, {"query": TEXT})
    await world.model.stop()
    end = await world.answer(line)
    assert end.status == "answered"
    assert words in end.answer


async def test_path_is_a_question_for_the_model(world: World) -> None:
    world.model.reply(Say("A file."))
    end = await world.answer("/etc/hosts")
    assert end.answer == "A file."
    assert chats(world)[0]["messages"][-1]["content"] == "/etc/hosts"


async def test_command_of_a_disabled_tool_says_what_turns_it_on(world: World) -> None:
    await tool(world, "web_search", SEARCH, {"query": TEXT}, enabled=False, web=True)
    end = await world.answer("/search rain boots")
    assert "local2 setup --web on" in end.answer
    assert (end.status, end.tool_calls, chats(world)) == ("answered", [], [])


REMEMBER = Command(name="remember", help="Keep", argument="fact", fill=True)


async def test_open_arguments_are_filled_in_by_the_model_once(world: World) -> None:
    await tool(world, "remember", REMEMBER, {"fact": TEXT, "reason": TEXT})
    world.model.reply(Say('{"fact": "other", "reason": "asked"}'))
    world.model.reply(Say("Kept."))
    end = await world.answer("/remember my sister is Nora")
    assert [c.args for c in end.tool_calls] == [{"fact": "my sister is Nora", "reason": "asked"}]
    assert (end.answer, world.text) == ("Kept.", "Kept.")
    assert chats(world)[0]["format"]["required"] == ["fact", "reason"]
    assert not chats(world)[0].get("tools")


@pytest.mark.parametrize("reply", [Say("I cannot."), Say('{"reason": 5}{'), Status(500, "boom")])
async def test_what_cannot_be_filled_in_is_asked_of_the_user(world: World, reply: Any) -> None:
    await tool(world, "remember", REMEMBER, {"fact": TEXT, "reason": TEXT})
    world.model.reply(reply)
    end = await world.answer("/remember my sister is Nora")
    assert end.answer.endswith("Usage: `/remember <fact>`: Keep.")
    assert (end.status, CALLS, len(chats(world))) == ("answered", [], 1)


async def test_restart_does_not_run_a_command_twice(world: World) -> None:
    call = ToolRecord(call_id="q1-0-0", tool="web_search", args={"query": "x"}, outcome="ok", result="found")
    world.ledger.steps = [Step(n=0, kind="round", calls=[call]), Step(n=1, kind="result", calls=[call])]
    await tool(world, "web_search", SEARCH, {"query": TEXT}, continuation="terminal")
    end = await world.answer("/search x")
    assert (end.answer, CALLS) == ("found", [])


async def test_commands_are_told_with_the_status(world: World) -> None:
    await tool(world, "web_search", SEARCH, {"query": TEXT})
    await world.answer("/help")
    status = await world.bus.request(GetStatus(), GeneratorStatus)
    assert [(info.name, info.usage, info.tool) for info in status.commands] == [
        ("help", "/help", ""),
        ("search", "/search <query>", "web_search"),
    ]
    assert status.counts["commands"] == 1
