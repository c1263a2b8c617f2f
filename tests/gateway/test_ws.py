"""A chat client and the gateway, with a ledger and a generator beside."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
import websockets

from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.control import AgentTransition
from bus.messages.generation import ResponseGeneration
from bus.messages.ledger import GetTurn, SessionChanged, TurnEnd
from bus.messages.persona import PersonaInfo, Personas
from bus.messages.query import CancelTurn, SubmitTurn, TurnQueued
from bus.messages.tool import ToolActivity


def kinds(frames: list[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]


def text(frames: list[dict[str, Any]]) -> str:
    return "".join(frame["chunk"] for frame in frames if frame["type"] == "answer_chunk")


async def test_a_turn_from_question_to_answer(stage):
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    accepted = await client.next()
    stage.generator.say(AgentTransition(agent="generator", before="IDLE", action="RECEIVE", after="RECEIVING"))
    stage.generator.thought(0, "hm")
    stage.generator.say(ToolActivity(tool="get_datetime", call_id="c1", event="dispatched", args={"timezone": "UTC"}))
    stage.generator.say(ToolActivity(tool="get_datetime", call_id="c1", event="running", pid=1))
    stage.generator.say(ToolActivity(tool="get_datetime", call_id="c1", event="ended", outcome="ok", result="noon"))
    stage.generator.token(1, "be")
    stage.generator.token(2, "cause")
    stage.generator.answered("because")
    frames = await client.until("response")
    assert accepted == {
        "type": "accepted",
        "query_id": "q1",
        "session_id": "s1",
        "query": "why?",
        "created_at": "2026-11-30T12:00:00+00:00",
    }
    assert kinds(frames) == [
        "agent_state",
        "thinking_chunk",
        "tool_start",
        "tool_result",
        "answer_chunk",
        "answer_chunk",
        "response",
    ]
    assert text(frames) == frames[-1]["answer"] == "because"
    assert {frame["query_id"] for frame in frames} == {"q1"}


async def test_ids_are_made_where_the_client_gives_none(stage):
    client = await stage.connect()
    await client.send({"query": "why?"})
    accepted = await client.next()
    assert accepted["query_id"]
    assert accepted["session_id"]


async def test_the_session_in_the_url_is_used(stage):
    client = await stage.connect("/ws/chat/from-url")
    await client.send({"query": "why?"})
    assert (await client.next())["session_id"] == "from-url"


async def test_accepted_comes_only_after_the_ledger_and_before_all_else(stage):
    stage.ledger.answers.clear()
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    await stage.ledger.was_asked(SubmitTurn)
    stage.generator.token(0)
    assert await client.pong() == []
    stage.ledger.answers.set()
    assert kinds(await client.take(2)) == ["accepted", "answer_chunk"]


async def test_a_waiting_turn_is_told_its_position(stage):
    stage.ledger.position = 2
    client = await stage.watching()
    stage.generator.say(TurnQueued(position=1))
    stage.generator.say(TurnQueued(position=0))
    assert [frame["position"] for frame in await client.pong()] == [2, 1]


async def test_two_questions_on_one_socket_are_asked_in_order(stage):
    client = await stage.connect()
    await client.send({"query": "one", "session_id": "s1", "query_id": "q1"})
    await client.send({"query": "two", "session_id": "s1", "query_id": "q2"})
    assert [frame["query_id"] for frame in await client.take(2)] == ["q1", "q2"]


async def test_the_same_question_again_is_one_turn_and_gets_what_was_missed(stage):
    stage.ledger.put("q1")
    stage.generator.hold("q1", "so far", 4)
    client = await stage.connect()
    await client.send({"query": "and why?", "session_id": "s1", "query_id": "q1"})
    frames = await client.take(2)
    stage.generator.token(5)
    assert kinds([*frames, await client.next()]) == ["accepted", "snapshot", "answer_chunk"]
    assert (frames[0]["query"], frames[1]["answer"]) == ("why?", "so far")


async def test_an_answered_question_asked_again_gets_its_answer(stage):
    stage.ledger.put("q1")
    stage.ledger.end("q1", answer="because")
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    frames = await client.take(2)
    assert kinds(frames) == ["accepted", "response"]
    assert frames[1]["answer"] == "because"


async def test_a_refused_question_names_its_turn(stage):
    stage.ledger.refuses = RequestFailed("not_found", "There is no such session.")
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    assert await client.next() == {
        "type": "error",
        "code": "not_found",
        "message": "There is no such session.",
        "retryable": False,
        "query_id": "q1",
        "session_id": "s1",
    }


async def test_a_silent_ledger_is_said_and_can_be_asked_again(stage):
    stage.set(submit_timeout_s=0.05)
    stage.ledger.answers.clear()
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    error = await client.next()
    stage.ledger.answers.set()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    assert (error["code"], error["retryable"], error["query_id"]) == ("conversation_unavailable", True, "q1")
    assert (await client.next())["type"] == "accepted"


async def test_stop_reaches_the_ledger(stage):
    client = await stage.watching()
    await client.send({"type": "stop", "query_id": "q1"})
    _message, turn = await stage.ledger.was_asked(CancelTurn)
    assert turn == TurnRef("", "default", "q1")


async def test_a_stop_for_an_unknown_turn_is_a_notice(stage):
    client = await stage.connect()
    await client.send({"type": "stop", "query_id": "missing"})
    error = await client.next()
    assert (error["code"], error["query_id"]) == ("not_found", None)


async def test_stop_works_while_a_question_waits(stage):
    stage.ledger.answers.clear()
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    await client.send({"type": "stop", "query_id": "q1"})
    await stage.ledger.was_asked(CancelTurn)
    stage.ledger.answers.set()


@pytest.mark.parametrize(
    ("end", "kind", "words"),
    [
        (TurnEnd(status="answered", finish_reason="stop", answer="a"), "response", "a"),
        (TurnEnd(status="answered", finish_reason="length", answer="a"), "response", "a"),
        (TurnEnd(status="cancelled", finish_reason="cancelled", answer=""), "response", ""),
        (TurnEnd(status="failed", finish_reason="incomplete", answer="half"), "response", "half"),
        (TurnEnd(status="failed", finish_reason="error", reason="No model.", code="no_model"), "error", "No model."),
        (TurnEnd(status="failed", finish_reason="error", answer="half", reason="It broke."), "error", "It broke."),
    ],
)
async def test_each_end_is_one_last_frame(stage, end, kind, words):
    client = await stage.watching()
    stage.generator.say(ResponseGeneration(query="why?", end=end))
    stage.generator.say(ResponseGeneration(query="why?", end=end))
    stage.generator.token(0)
    (last,) = await client.pong()
    assert last["type"] == kind
    assert words in (last.get("answer"), last.get("message"))
    assert last["query_id"] == "q1"


async def test_a_second_tab_sees_the_question_and_the_answer(stage):
    stage.ledger.put("q0", status="answered")
    other = await stage.connect()
    await other.send({"type": "resume", "session_id": "s1"})
    assert await other.pong() == []
    await stage.watching()
    stage.generator.token(0)
    stage.generator.answered()
    assert kinds(await other.until("response")) == ["accepted", "answer_chunk", "response"]


async def test_what_comes_early_reaches_a_second_tab_after_the_question(stage):
    stage.ledger.put("q0", status="answered")
    other = await stage.connect()
    await other.send({"type": "resume", "session_id": "s1"})
    await other.pong()
    stage.ledger.answers.clear()
    client = await stage.connect()
    await client.send({"query": "why?", "session_id": "s1", "query_id": "q1"})
    await stage.ledger.was_asked(SubmitTurn)
    stage.generator.token(0)
    await client.pong()
    stage.ledger.answers.set()
    assert kinds(await other.take(2)) == ["accepted", "answer_chunk"]


async def test_nobody_sees_another_user(stage):
    mine = await stage.connect()
    await mine.send({"query": "why?", "session_id": "s1", "query_id": "q1", "user_id": "ann"})
    await mine.until("accepted")
    theirs = await stage.connect("/ws/chat?user_id=bob")
    await theirs.send({"type": "resume", "session_id": "s1"})
    refused = await theirs.next()
    stage.generator.token(0, user="ann")
    stage.generator.answered(user="ann")
    stage.generator.bus.publish(SessionChanged(change="updated"), turn=TurnRef("s1", "ann", ""))
    assert kinds(await mine.take(3)) == ["answer_chunk", "response", "session_changed"]
    assert refused["code"] == "not_found"
    assert await theirs.pong() == []


async def test_a_forged_user_cannot_take_part(stage):
    client = await stage.watching()
    stage.generator.token(0, user="mallory")
    assert await client.pong() == []


async def test_the_list_of_sessions_is_told_to_all_of_a_users_pages(stage):
    client = await stage.connect()
    await client.pong()
    stage.generator.bus.publish(SessionChanged(change="renamed"), turn=TurnRef("elsewhere", "default", ""))
    assert await client.next() == {"type": "session_changed", "session_id": "elsewhere", "change": "renamed"}


async def test_a_client_that_leaves_cancels_nothing(stage):
    client = await stage.watching()
    await client.close()
    stage.generator.token(0)
    stage.generator.answered()
    assert not [message for message, _ in stage.ledger.asked if isinstance(message, CancelTurn)]


# ------------------------------------------------------------------ resume


async def test_resume_sends_a_snapshot_and_then_each_chunk_once(stage):
    stage.ledger.put("q1")
    stage.generator.hold("q1", "t0 t1 t2 ", 2)
    client = await stage.connect()
    await client.send({"type": "resume", "session_id": "s1"})
    snapshot = await client.next()
    for n in (1, 2, 3, 3, 4):
        stage.generator.token(n)
    frames = await client.take(2)
    assert (snapshot["type"], snapshot["answer"], snapshot["attempt"], snapshot["n"]) == ("snapshot", "t0 t1 t2 ", 1, 2)
    assert [frame["n"] for frame in frames] == [3, 4]
    assert await client.pong() == []


async def test_without_the_generator_the_journal_is_shown(stage):
    end = TurnEnd(status="", finish_reason="", answer="journalled", thinking="hm")
    stage.ledger.put("q1", attempt=2, n=7, end=end)
    client = await stage.connect()
    await client.send({"type": "resume", "session_id": "s1"})
    snapshot = await client.next()
    assert [snapshot[key] for key in ("answer", "thinking", "attempt", "n")] == ["journalled", "hm", 2, 7]


async def test_a_waiting_turn_is_resumed_with_its_position(stage):
    stage.ledger.put("q1", status="received", position=3)
    client = await stage.connect()
    await client.send({"type": "resume", "session_id": "s1"})
    snapshot, queued = await client.take(2)
    assert (snapshot["state"], queued["type"], queued["position"]) == ("QUEUED", "queued", 3)


async def test_a_turn_that_ended_meanwhile_is_resumed_with_its_end(stage):
    stage.ledger.put("q1")
    stage.ledger.end("q1", answer="because")
    client = await stage.connect()
    after = {"query_id": "q1", "attempt": 1, "n": 5}
    await client.send({"type": "resume", "session_id": "s1", "after": after})
    assert (await client.next())["answer"] == "because"


async def test_a_missing_chunk_is_mended_by_a_snapshot(stage):
    client = await stage.watching()
    stage.ledger.put("q1")
    stage.generator.token(0)
    stage.generator.hold("q1", "t0 t1 t2 ", 2)
    stage.generator.token(2)
    stage.generator.token(3)
    frames = await client.take(3)
    assert kinds(frames) == ["answer_chunk", "snapshot", "answer_chunk"]
    assert (frames[1]["answer"], frames[2]["n"]) == ("t0 t1 t2 ", 3)


async def test_a_new_attempt_starts_the_text_anew(stage):
    client = await stage.watching()
    stage.generator.token(0)
    stage.generator.token(0, attempt=2)
    stage.generator.token(1, attempt=1)
    stage.generator.token(1, attempt=2)
    assert [(f["attempt"], f["n"]) for f in await client.pong()] == [(1, 0), (2, 0), (2, 1)]


async def test_a_lost_message_on_the_bus_is_mended(stage):
    client = await stage.watching()
    stage.ledger.put("q1")
    stage.generator.token(0)
    stage.generator.hold("q1", "t0 ", 0)
    await client.next()
    stage.generator.bus._stamp.seq("agent.transition")
    move = AgentTransition(agent="generator", before="A", action="B", after="C")
    stage.generator.say(move)
    stage.generator.bus._stamp.seq("agent.transition")
    stage.generator.say(move)
    assert "snapshot" in kinds(await client.take(2))


async def test_after_the_bus_was_away_each_open_turn_gets_a_snapshot(stage):
    client = await stage.watching()
    stage.ledger.put("q1")
    stage.generator.hold("q1", "t0 t1 ", 1)
    stage.memory.break_link()
    stage.generator.token(0)
    stage.memory.mend_link()
    assert (await client.next())["answer"] == "t0 t1 "


async def test_a_lost_end_does_not_leave_a_spinner(stage):
    stage.set(silence_s=0.05)
    client = await stage.watching()
    stage.ledger.end("q1", answer="because")
    assert (await client.next())["answer"] == "because"


async def test_a_lost_last_chunk_is_mended(stage):
    stage.set(silence_s=0.05)
    client = await stage.watching()
    stage.ledger.put("q1", attempt=1, n=0)
    stage.generator.hold("q1", "t0 ", 0)
    assert (await client.next())["answer"] == "t0 "


async def test_a_turn_that_is_gone_ends_with_words(stage):
    stage.set(silence_s=0.05)
    client = await stage.watching()
    del stage.ledger.turns["q1"]
    error = await client.next()
    assert (error["type"], error["code"], error["query_id"]) == ("error", "not_found", "q1")


async def test_no_timer_runs_without_open_turns(stage):
    client = await stage.watching()
    stage.generator.answered()
    await client.until("response")
    assert len(stage.hub.catchup.silence) == 0


async def test_a_state_that_comes_after_the_answer_does_not_open_the_turn_again(stage):
    client = await stage.watching()
    stage.generator.answered()
    await client.until("response")
    stage.generator.say(AgentTransition(agent="generator", before="PUBLISHING", action="DONE", after="IDLE"))
    assert await client.pong() == []
    assert len(stage.hub.catchup.silence) == 0


async def test_a_restarted_gateway_goes_on(stage):
    client = await stage.watching()
    stage.ledger.put("q1")
    stage.generator.token(0)
    await client.next()
    await stage.stop_gateway()
    code, words = await client.closed()
    await stage.start_gateway()
    stage.generator.hold("q1", "t0 t1 ", 1)
    again = await stage.connect()
    await again.send({"type": "resume", "session_id": "s1", "after": {"query_id": "q1", "attempt": 1, "n": 0}})
    snapshot = await again.next()
    stage.generator.token(2)
    stage.generator.answered()
    assert code == 1012
    assert "LoCAL2 restarts" in words
    assert snapshot["answer"] == "t0 t1 "
    assert kinds(await again.take(2)) == ["answer_chunk", "response"]


# ------------------------------------------------------------------ slow clients


async def test_a_slow_client_gets_a_snapshot_and_blocks_nobody(stage):
    stage.set(queue_frames=16)
    slow = await stage.watching()
    stage.set(queue_frames=10_000, queue_bytes=1_000_000_000)
    quick = await stage.watching()
    stage.ledger.put("q1")
    stage.generator.hold("q1", "all of it", 99)
    for n in range(100):
        stage.generator.token(n, "x" * 200_000)
    quick_frames = await quick.take(100)
    slow_frames = await slow.until("snapshot")
    stage.generator.token(100)
    stage.generator.answered()
    assert [frame["n"] for frame in quick_frames] == list(range(100))
    assert len(slow_frames) < 100
    assert slow_frames[-1]["answer"] == "all of it"
    assert kinds(await slow.until("response")) == ["answer_chunk", "response"]


async def test_an_end_that_a_slow_client_missed_is_sent_later(stage):
    stage.set(queue_frames=16)
    client = await stage.watching()
    for n in range(15):
        stage.generator.token(n)
    stage.generator.answered("because")
    for number in range(20):
        stage.generator.token(0, query_id=f"other{number}")
    stage.ledger.end("q1", answer="because")
    frames = await client.until("response")
    assert frames[-1]["answer"] == "because"


# ------------------------------------------------------------------ hostile frames

DEEP = '{"query":"x","attachments":' + '[{"a":' * 5000 + "1" + "}]" * 5000 + "}"
BAD_FRAMES = [
    ('{"query": ""}', "empty_query"),
    ('{"query": " \\n "}', "empty_query"),
    ("", "bad_frame"),
    ("nonsense", "bad_frame"),
    ("[]", "bad_frame"),
    ("null", "bad_frame"),
    ('"query"', "bad_frame"),
    ("{}", "bad_frame"),
    ('{"query": 5}', "bad_frame"),
    ('{"query": "x", "session_id": 5}', "bad_frame"),
    ('{"query": "x", "session_id": ""}', "bad_frame"),
    ('{"query": "x", "session_id": "a\\u0000b"}', "bad_frame"),
    ('{"query": "x", "query_id": "' + "y" * 200 + '"}', "bad_frame"),
    ('{"query": "x", "user_id": "a\\nb"}', "bad_user"),
    ('{"query": "\\ud800"}', "bad_frame"),
    ('{"type": "unheard of"}', "bad_frame"),
    ('{"type": 5}', "bad_frame"),
    ('{"type": "stop"}', "bad_frame"),
    ('{"type": "resume", "session_id": "s1", "after": 5}', "bad_frame"),
    ('{"type": "feedback", "query_id": "q1", "sentiment": 7}', "bad_frame"),
    ('{"query": "x", "attachments": [{"name": "a.png"}]}', "attachments_not_supported"),
    ('{"query": "x", "attachments": "a.png"}', "bad_frame"),
    ('{"type": "approve", "approval_id": "a", "approved": "yes"}', "bad_frame"),
    ('{"type": "approve", "approval_id": "a"}', "bad_frame"),
    ('{"type": "approve", "approval_id": "", "approved": true}', "bad_frame"),
    (f'{{"type": "approve", "approval_id": "{"x" * 301}", "approved": true}}', "bad_frame"),
    ('{"type": "feedback", "query_id": "q1"}', "bad_frame"),
    ('{"type": "compact"}', "bad_frame"),
    ('{"query": "x"} trailing', "bad_frame"),
    (DEEP, "bad_frame"),
    ('{"query": "' + "x" * 10_000_000 + '"}', "frame_too_large"),
    (b"\x00\x01", "bad_frame"),
]


@pytest.mark.parametrize(("frame", "code"), BAD_FRAMES, ids=lambda value: str(value)[:40])
async def test_a_bad_frame_gets_words_and_the_socket_lives(stage, frame, code):
    client = await stage.connect()
    await client.send(frame)
    error = await client.next()
    assert (error["type"], error["code"]) == ("error", code)
    assert error["message"].endswith(".")
    assert await client.pong() == []
    assert stage.ledger.asked == []


async def test_a_refused_frame_names_the_turn_that_it_meant(stage):
    client = await stage.connect()
    await client.send(json.dumps({"query": "x" * 2_000_000, "session_id": "s1", "query_id": "q1"}))
    await client.send({"query": "x", "query_id": "q2", "attachments": [{}]})
    assert [frame["query_id"] for frame in await client.take(2)] == ["q1", "q2"]


async def test_a_frame_over_the_hard_limit_closes_its_socket_alone(stage):
    other = await stage.connect()
    client = await stage.connect()
    with contextlib.suppress(websockets.ConnectionClosed):
        await client.send("x" * 17_000_000)
    assert (await client.closed())[0] == 1009
    assert await other.pong() == []


async def test_too_many_requests_are_refused_with_words(stage):
    stage.set(max_pending=2)
    stage.ledger.answers.clear()
    client = await stage.connect()
    for number in range(3):
        await client.send({"query": "x", "session_id": "s1", "query_id": f"q{number}"})
    error = await client.next()
    stage.ledger.answers.set()
    assert (error["code"], error["query_id"]) == ("too_many_requests", "q2")
    assert kinds(await client.take(2)) == ["accepted", "accepted"]


@pytest.mark.parametrize("name", ["butler", "pirat", "pirate\nx", "x" * 300])
async def test_an_unknown_persona_is_refused_with_the_real_ones(stage, name):
    client = await knowing_pirates(stage)
    await client.send({"query": "x", "query_id": "q1", "persona": name})
    error = await client.next()
    assert (error["type"], error["code"], error["query_id"]) == ("error", "unknown_persona", "q1")
    assert error["message"].endswith("There are: pirate, or default for none.")


@pytest.mark.parametrize("name", ["pirate", "Pirate", "default", "none", "", None])
async def test_a_known_persona_reaches_the_ledger(stage, name):
    client = await knowing_pirates(stage)
    await client.send({"query": "x", "persona": name})
    message, _turn = await stage.ledger.was_asked(SubmitTurn)
    assert message.persona == (name or "")


async def test_a_persona_passes_while_nobody_knows_which_there_are(stage):
    await (await stage.connect()).send({"query": "x", "persona": "butler"})
    assert (await stage.ledger.was_asked(SubmitTurn))[0].persona == "butler"


async def knowing_pirates(stage):
    personas = await stage.other("personas")
    personas.publish(Personas(personas=[PersonaInfo(name="pirate", description="At sea", seed="Arr.")]))
    client = await stage.connect()
    await client.pong()
    return client


async def test_the_number_of_sockets_is_bounded(stage):
    stage.set(max_sockets=1)
    client = await stage.connect()
    await client.pong()
    with pytest.raises(websockets.InvalidStatus, match="503"):
        await stage.connect()
    await client.close()


async def test_the_number_of_followed_sessions_is_bounded(stage):
    stage.set(max_watched=2)
    client = await stage.connect()
    for number in range(4):
        stage.ledger.put(f"q{number}", status="answered", session_id=f"s{number}")
        await client.send({"type": "resume", "session_id": f"s{number}"})
        await client.pong()
    (socket,) = stage.hub.rooms.sockets
    assert len(socket.views) <= 3
    assert ("default", "s3") in socket.views


async def test_a_bad_user_in_the_address_is_refused(stage):
    with pytest.raises(websockets.InvalidStatus, match="400"):
        await stage.connect("/ws/chat?user_id=" + "x" * 65)


async def test_a_dead_ledger_delays_a_resume_and_is_said(stage):
    await stage.ledger.bus.close()
    client = await stage.connect()
    await client.send({"type": "resume", "session_id": "s1"})
    error = await client.next()
    assert (error["code"], error["session_id"], error["query_id"]) == ("conversation_unavailable", "s1", None)
    assert not [message for message, _ in stage.ledger.asked if isinstance(message, GetTurn)]
