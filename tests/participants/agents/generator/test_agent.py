"""Does a turn end right, whatever the model server and the tools do?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bus.messages.control import OpsProcess, Presence
from bus.messages.generation import CancelGeneration, GeneratorStatus, GetSnapshot, GetStatus, TurnSnapshot
from bus.messages.ledger import PastTurn, Step, ToolRecord
from tests.participants.agents.generator.conftest import World
from tests.support.scripted_ollama import (
    BadJson,
    Call,
    Done,
    Drop,
    ErrorLine,
    Hang,
    NoDone,
    RawCall,
    Say,
    SplitBytes,
    Status,
    Think,
    Wait,
)


async def test_answer_streams_and_is_committed_before_it_is_told(world: World) -> None:
    world.model.reply(Say(["Hel", "lo", "!"]), Done(prompt_eval_count=12, eval_count=3))
    end = await world.answer("hi")
    assert (end.status, end.finish_reason, end.answer, end.model) == ("answered", "stop", "Hello!", "scripted:latest")
    assert (end.prompt_tokens, end.answer_tokens, end.num_ctx) == (12, 3, 8192)
    assert world.text == "Hello!"
    assert [token.n for token in world.tokens] == [0, 1, 2]
    assert world.ledger.ends["q1"] == end
    await world.done.wait()
    assert world.moves == ["RECEIVING", "GENERATING", "PUBLISHING", "DONE"]


async def test_model_gets_raw_question_whole_history_and_num_ctx(world: World) -> None:
    world.ledger.history = [
        PastTurn(query="my name is Ann", answer="Hello Ann.", status="answered"),
        PastTurn(query="tell a story", answer="Once upon", status="cancelled"),
    ]
    await world.answer("  who am I?\n")
    body = (await world.model.next_request("/api/chat")).body
    assert [m["content"] for m in body["messages"][1:]] == [
        "my name is Ann",
        "Hello Ann.",
        "tell a story",
        "Once upon\n[stopped here]",
        "  who am I?\n",
    ]
    assert body["messages"][0]["role"] == "system"
    assert body["options"]["num_ctx"] == 8192


async def test_thinking_is_told_apart_and_stripped_from_history(world: World) -> None:
    world.model.reply(Think(["let me", " see"]), Say(["<thi", "nk>more</think>It is 4."]))
    end = await world.answer("2+2")
    assert (end.thinking, end.answer) == ("let me seemore", "It is 4.")
    assert world.text == "It is 4."


async def test_unopened_thinking_is_taken_back_out_of_the_answer(world: World) -> None:
    world.model.reply(Say(["the user wants", "  a sum</thi", "nk>It is 4."]))
    end = await world.answer("2+2")
    assert (end.thinking, end.answer) == ("the user wants  a sum", "It is 4.")
    assert [thought.text for thought in world.thoughts if thought.retract] == ["the user wants  a sum"]


async def test_only_thinking_is_asked_again_without(world: World) -> None:
    world.model.reply(Think("hm"), Done(reason="length"))
    world.model.reply(Say("Four."))
    end = await world.answer("2+2")
    assert (end.status, end.answer) == ("answered", "Four.")


async def test_only_thinking_for_ever_is_no_empty_success(world: World) -> None:
    world.model.reply(Think("hm"), Done(reason="length"), times=None)
    end = await world.answer("2+2")
    assert (end.status, end.code, end.retryable) == ("failed", "empty_answer", True)
    assert "thinking" in end.reason


async def test_length_limit_is_said(world: World) -> None:
    world.model.reply(Say("a b c"), Done(reason="length"))
    end = await world.answer("count")
    assert (end.status, end.finish_reason) == ("answered", "length")
    assert "length" in end.reason


async def test_characters_cut_at_every_byte_arrive_whole(world: World) -> None:
    world.model.reply(SplitBytes(every=1), Say("день 日本 🙂"))
    assert (await world.answer("hi")).answer == "день 日本 🙂"


@pytest.mark.parametrize(
    ("model", "ability"), [("scripted-nothink", "think"), ("scripted-notools", "tools")], ids=["think", "tools"]
)
async def test_model_that_lacks_an_ability_is_used_without(world: World, model: str, ability: str) -> None:
    world.ledger.model = model
    await world.tool("clock", lambda _call: ("ok", "noon"))
    assert (await world.answer("hi")).status == "answered"
    world.ask("again", "q2")
    assert (await world.end()).status == "answered"
    bodies = [request.body for request in world.model.requests if request.path == "/api/chat"]
    assert not bodies[-1].get(ability)


async def test_refusal_is_remembered_per_model(world: World) -> None:
    world.model.reply(Status(400, '"scripted" does not support thinking'))
    assert (await world.answer("hi")).status == "answered"
    world.ask("again", "q2")
    await world.end()
    bodies = [request.body for request in world.model.requests if request.path == "/api/chat"]
    assert [body.get("think") for body in bodies] == [True, None, None]


FAULTS = [
    pytest.param([Status(404, "model 'x' not found")], "model_missing", "ollama pull", id="404"),
    pytest.param([Status(500, "boom")], "model_error", "boom", id="500"),
    pytest.param([ErrorLine("out of memory")], "model_error", "out of memory", id="error line at once"),
    pytest.param(
        [Say("Half"), ErrorLine("out of memory")], "model_error", "out of memory", id="error line in the middle"
    ),
    pytest.param([Say("Half"), Drop()], "model_unreachable", "broke", id="cut"),
    pytest.param([Say("Half"), BadJson()], "model_error", "unreadable", id="no JSON"),
    pytest.param([Say("Half"), NoDone()], "model_incomplete", "ended the stream", id="no end"),
]


@pytest.mark.parametrize(("steps", "code", "words"), FAULTS)
async def test_fault_ends_the_turn_with_words_and_the_partial_text(
    world: World, steps: list[Any], code: str, words: str
) -> None:
    world.model.reply(*steps, times=None)
    end = await world.answer("hi")
    assert (end.status, end.code) == ("failed", code)
    assert words in end.reason
    assert end.answer == world.text
    assert end.finish_reason == ("incomplete" if world.text else "error")
    world.model.reset()
    world.ask("and now?", "q2")
    assert (await world.end()).status == "answered"


async def test_failing_request_is_tried_a_bounded_number_of_times(world: World) -> None:
    world.model.reply(Status(500, "boom"), times=None)
    await world.tool("clock", lambda _call: ("ok", "noon"))
    await world.answer("hi")
    bodies = [request.body for request in world.model.requests if request.path == "/api/chat"]
    assert [bool(body.get("tools")) for body in bodies] == [True, False]


class TestStalls:
    """A server that says nothing."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"first_chunk_s": 0.2, "stall_s": 0.2, "journal_s": 0.01, "retries": 0}

    @pytest.mark.parametrize("steps", [[Hang()], [Say("Half"), Hang()]], ids=["from the start", "in the middle"])
    async def test_silence_ends_within_its_bound(self, world: World, steps: list[Any]) -> None:
        world.model.reply(*steps)
        end = await world.answer("hi")
        assert (end.status, end.code) == ("failed", "model_stalled")


class TestEndless:
    """A server that never stops."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"first_chunk_s": 5.0, "stall_s": 5.0, "journal_s": 0.01, "max_answer_chars": 1000}

    async def test_answer_without_end_is_ended(self, world: World) -> None:
        world.model.reply(Say(["0123456789"] * 10_000))
        end = await world.answer("hi")
        assert (end.status, end.finish_reason) == ("answered", "length")
        assert len(end.answer) == 1000

    async def test_one_piece_beyond_the_limit_is_cut(self, world: World) -> None:
        world.model.reply(Say("0123456789" * 10_000))
        assert len((await world.answer("hi")).answer) == 1000

    async def test_thinking_without_end_is_ended_and_asked_again_without(self, world: World) -> None:
        world.model.reply(Think(["0123456789"] * 10_000), Say("late"))
        world.model.reply(Say("Four."))
        end = await world.answer("2+2")
        assert (end.status, end.answer, len(end.thinking)) == ("answered", "Four.", 1000)


async def test_stop_closes_the_connection_and_keeps_the_text(world: World) -> None:
    world.model.reply(Say(["one ", "two "]), Hang())
    turn = world.ask("count")
    request = await world.model.next_request("/api/chat")
    await world.token.wait()
    world.bus.publish(CancelGeneration(), turn=turn)
    end = await world.end()
    async with asyncio.timeout(1):
        await request.closed.wait()
    assert (end.status, end.finish_reason, end.answer) == ("cancelled", "cancelled", world.text)
    assert world.moves[-1] == "CANCELLED"


async def test_stop_is_also_heard_from_the_ledger(world: World) -> None:
    world.model.reply(Hang())
    world.ask("count")
    await world.ledger.journalled.wait()
    world.ledger.cancelled = True
    assert (await world.end()).status == "cancelled"


async def test_turn_that_is_somebody_elses_is_dropped_without_a_word(world: World) -> None:
    world.model.reply(Say("one "), Hang())
    world.ask("count")
    request = await world.model.next_request("/api/chat")
    await world.token.wait()
    world.ledger.stale = True
    async with asyncio.timeout(5):
        await request.closed.wait()
    assert world.ledger.ends == {}


async def test_tool_is_called_and_its_result_given_back(world: World) -> None:
    world.model.reply(Say("Let me look."), Call("clock", {}))
    world.model.reply(Say("It is noon."))
    await world.tool("clock", lambda _call: ("ok", "12:00"))
    end = await world.answer("what time is it?")
    assert end.answer == "Let me look.\n\nIt is noon."
    assert [(c.tool, c.outcome, c.result) for c in end.tool_calls] == [("clock", "ok", "12:00")]
    messages = [r.body for r in world.model.requests if r.path == "/api/chat"][-1]["messages"]
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool"]
    assert messages[-1]["content"] == "12:00"
    assert [step.kind for step in world.ledger.steps] == ["round", "result"]


async def test_results_of_one_message_stand_in_request_order(world: World) -> None:
    world.model.reply(Call("first", {}), Call("second", {}))
    slow = asyncio.Event()
    order: list[str] = []
    first = await world.tool("first", lambda call: order.append(call.call_id))
    await world.tool("second", lambda call: (slow.set(), ("ok", "2"))[1])
    world.ask("both")
    await slow.wait()
    from bus.messages.tool import ToolResult

    first.publish(ToolResult(tool="first", call_id=order[0], outcome="ok", result="1"))
    end = await world.end()
    assert [c.result for c in end.tool_calls] == ["1", "2"]


async def test_unknown_tool_is_told_with_the_nearest_names(world: World) -> None:
    world.model.reply(Call("search_web", {"q": "x"}))
    world.model.reply(Say("Sorry."))
    await world.tool("web_search", lambda _call: ("ok", "never"))
    end = await world.answer("search")
    assert end.tool_calls[0].outcome == "unknown"
    assert "web_search" in end.tool_calls[0].result
    assert end.answer == "Sorry."


async def test_wrong_arguments_name_the_field(world: World) -> None:
    world.model.reply(Call("clock", {"zone": [5]}))
    world.model.reply(Say("Sorry."))
    schema = {"type": "object", "properties": {"zone": {"type": "string"}}}
    await world.tool("clock", lambda _call: ("ok", "never"), schema=schema)
    end = await world.answer("time?")
    assert end.tool_calls[0].outcome == "invalid_arguments"
    assert "zone" in end.tool_calls[0].result


async def test_silent_tool_times_out_and_the_turn_goes_on(world: World) -> None:
    world.model.reply(Call("clock", {}))
    world.model.reply(Say("Without it."))
    await world.tool("clock", lambda _call: None, timeout_s=0.05)
    end = await world.answer("time?")
    assert (end.tool_calls[0].outcome, end.answer) == ("timeout", "Without it.")


async def test_dead_tool_is_known_at_once(world: World) -> None:
    world.model.reply(Call("clock", {}))
    world.model.reply(Say("Without it."))
    called = asyncio.Event()
    await world.tool("clock", lambda _call: called.set())
    world.ask("time?")
    await called.wait()
    world.bus.publish(OpsProcess(name="clock", event="died", pid=4242))
    end = await world.end()
    assert (end.tool_calls[0].outcome, end.answer) == ("crashed", "Without it.")
    status = await world.bus.request(GetStatus(), GeneratorStatus)
    assert status.tools == []


async def test_model_that_calls_for_ever_is_made_to_answer(world: World) -> None:
    world.model.reply(Call("clock", {}), times=3)
    world.model.reply(Say("Noon, then."))
    await world.tool("clock", lambda _call: ("ok", "12:00"))
    end = await world.answer("time?")
    assert (len(end.tool_calls), end.answer) == (3, "Noon, then.")
    assert not [r.body for r in world.model.requests if r.path == "/api/chat"][-1].get("tools")


async def test_resumed_turn_does_not_run_again_what_is_journalled(world: World) -> None:
    call = ToolRecord(call_id="q1-0-0", tool="clock")
    world.ledger.steps = [
        Step(n=0, kind="round", calls=[call]),
        Step(n=1, kind="result", calls=[ToolRecord(call_id="q1-0-0", tool="clock", outcome="ok", result="12:00")]),
    ]
    world.model.reply(Say("Noon."))
    calls: list[Any] = []
    await world.tool("clock", calls.append)
    end = await world.answer("time?")
    assert (end.answer, end.tool_calls[0].result, calls) == ("Noon.", "12:00", [])


@pytest.mark.parametrize(("idempotent", "outcome"), [(True, "ok"), (False, "crashed")], ids=["harmless", "not"])
async def test_resumed_turn_runs_again_only_what_is_harmless(world: World, idempotent: bool, outcome: str) -> None:
    world.ledger.steps = [Step(n=0, kind="round", calls=[ToolRecord(call_id="q1-0-0", tool="clock")])]
    world.model.reply(Say("Noon."))
    await world.tool("clock", lambda _call: ("ok", "12:00"), idempotent=idempotent)
    end = await world.answer("time?")
    assert end.tool_calls[0].outcome == outcome


async def test_snapshot_holds_what_was_streamed(world: World) -> None:
    world.model.reply(Say(["one ", "two "]), Wait("more"), Say("three"))
    turn = world.ask("count")
    await world.model.reached("more")
    snapshot = await world.bus.request(GetSnapshot(), TurnSnapshot, turn=turn)
    assert (snapshot.answer, snapshot.n, snapshot.state) == (world.text, world.tokens[-1].n, "GENERATING")
    world.model.release("more")
    assert (await world.end()).answer == "one two three"


async def test_several_turns_run_at_once(world: World) -> None:
    world.model.reply(Wait("both"), Say("x"), times=2)
    world.ask("a", "q1", "s1")
    world.ask("b", "q2", "s2")
    await world.model.next_request("/api/chat")
    await world.model.next_request("/api/chat")
    world.model.release("both")
    assert {(await world.responses.get())[0], (await world.responses.get())[0]} == {"q1", "q2"}


async def test_same_turn_offered_twice_is_answered_once(world: World) -> None:
    world.ask("a")
    world.ask("a")
    await world.end()
    await world.bus.request(GetStatus(), GeneratorStatus)
    assert len([r for r in world.model.requests if r.path == "/api/chat"]) == 1


async def test_turn_that_was_granted_is_not_claimed(world: World) -> None:
    world.ledger.history = [PastTurn(query="my name is Ann", answer="Hello Ann.", status="answered")]
    world.grant("who am I?", holder=world.agent.bus.boot)
    assert (await world.end()).status == "answered"
    body = (await world.model.next_request("/api/chat")).body
    assert [message["content"] for message in body["messages"][1:]] == ["my name is Ann", "Hello Ann.", "who am I?"]
    assert world.ledger.claims == []
    await world.done.wait()
    assert world.moves == ["RECEIVING", "GENERATING", "PUBLISHING", "DONE"]


async def test_turn_that_was_granted_to_another_is_claimed_as_ever(world: World) -> None:
    world.grant("hi", holder="another")
    assert (await world.end()).status == "answered"
    assert world.ledger.claims == ["q1"]


async def test_missing_model_says_the_command_that_brings_it(world: World) -> None:
    world.ledger.model = "gemma9:1t"
    end = await world.answer("hi")
    assert (end.status, end.code) == ("failed", "model_missing")
    assert "ollama pull gemma9:1t" in end.reason


async def test_question_over_the_context_is_refused_with_figures(world: World) -> None:
    end = await world.answer("word " * 20_000)
    assert (end.status, end.code, end.retryable) == ("failed", "prompt_too_long", False)
    assert "num_ctx" in end.reason


async def test_server_that_goes_and_comes_back(world: World) -> None:
    await world.answer("hi")
    await world.model.stop()
    world.ask("gone?", "q2")
    end = await world.end()
    assert (end.status, end.code) == ("failed", "model_unreachable")
    await world.model.__aenter__()
    world.ask("back?", "q3")
    assert (await world.end()).status == "answered"


async def test_end_is_saved_once_the_disk_has_room_again(world: World) -> None:
    world.ledger.full = 2
    end = await world.answer("hi")
    assert world.ledger.ends == {"q1": end}


@pytest.mark.parametrize("arguments", ['{"zone": "UTC"}', {"zone": "UTC"}])
async def test_arguments_as_a_string_are_decoded(world: World, arguments: Any) -> None:
    world.model.reply(RawCall("clock", arguments))
    world.model.reply(Say("Noon."))
    await world.tool("clock", lambda call: ("ok", call.args["zone"]))
    assert (await world.answer("time?")).tool_calls[0].result == "UTC"


@pytest.mark.parametrize("arguments", ["{", "[1]", [1], 5])
async def test_arguments_that_mean_nothing_are_an_error_for_the_model(world: World, arguments: Any) -> None:
    world.model.reply(RawCall("clock", arguments))
    world.model.reply(Say("Sorry."))
    await world.tool("clock", lambda _call: ("ok", "never"))
    end = await world.answer("time?")
    assert (end.tool_calls[0].outcome, end.answer) == ("invalid_arguments", "Sorry.")


async def test_refusal_of_what_was_not_asked_for_ends_the_turn(world: World) -> None:
    world.model.reply(Status(400, '"scripted" does not support tools'), times=None)
    assert (await world.answer("hi")).code == "model_error"


async def test_turn_whose_model_server_stops_while_we_drain_is_handed_back(world: World) -> None:
    world.model.reply(Say("one "), Wait("stop"), Drop(), times=None)
    world.ask("count")
    await world.model.reached("stop")
    world.agent.stop()
    draining = asyncio.Event()
    world.bus.on(Presence, lambda said, _envelope: draining.set() if said.state == "draining" else None)
    await draining.wait()
    world.model.release("stop")
    await world.ledger.let_go.wait()
    assert (world.ledger.released, world.ledger.ends) == (["q1"], {})
