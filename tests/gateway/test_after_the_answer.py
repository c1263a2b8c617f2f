"""What is said of an answer after its end: the critic's grade, a thumb, a summary, and what the memory did."""

from __future__ import annotations

import pytest

from bus.envelope import TurnRef
from bus.messages.compaction import CompactionResult, CompactSession
from bus.messages.control import AgentTransition
from bus.messages.critique import CritiqueResult, Grade, UserFeedback
from bus.messages.generation import ResponseGeneration
from bus.messages.ledger import TurnEnd, VoteTurn
from bus.messages.memory import MemoryRef, UserContextUpdated

ABOUT = {"query_id": "q1", "session_id": "s1"}


async def test_the_end_names_the_memories_that_the_prompt_held(stage):
    client = await stage.watching()
    end = TurnEnd(
        status="answered",
        finish_reason="stop",
        facts=[MemoryRef(memory_id="f1", kind="fact")],
        recalled=[MemoryRef(memory_id="e1", kind="engram", score=0.7)],
        not_recalled="It took too long.",
        groundedness="grounded",
    )
    stage.generator.say(ResponseGeneration(query="why?", end=end))
    (*_, frame) = await client.until("response")
    assert frame["facts"] == [{"memory_id": "f1", "kind": "fact", "score": 0.0}]
    assert frame["recalled"] == [{"memory_id": "e1", "kind": "engram", "score": 0.7}]
    assert (frame["not_recalled"], frame["groundedness"]) == ("It took too long.", "grounded")


async def test_a_grade_comes_after_the_end(stage):
    client = await stage.watching()
    stage.generator.answered()
    await client.until("response")
    stage.generator.say(CritiqueResult(grade=Grade(score=4, rubric_name="style", feedback="Fine.", model="m")))
    expected = {"type": "critique", "score": 4, "rubric_name": "style", "feedback": "Fine.", "model": "m"}
    assert await client.next() == {**expected, "reason": "", **ABOUT}


async def test_a_vote_goes_to_the_ledger_and_is_seen_in_every_tab(stage):
    client, other = await stage.watching(), await stage.watching()
    await client.send({"type": "feedback", "query_id": "q1", "sentiment": -1})
    message, turn = await stage.ledger.was_asked(VoteTurn)
    assert (message, turn) == (VoteTurn(sentiment=-1), TurnRef("", "default", "q1"))
    stage.generator.say(UserFeedback(sentiment=-1))
    for tab in (client, other):
        assert (await tab.until("vote"))[-1] == {"type": "vote", "sentiment": -1, **ABOUT}


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "feedback", "query_id": "missing", "sentiment": 1},
        {"type": "compact", "session_id": "missing"},
    ],
)
async def test_what_the_ledger_refuses_is_said_to_who_asked(stage, frame):
    client = await stage.connect()
    await client.send(frame)
    error = await client.next()
    assert (error["type"], error["code"], error["retryable"]) == ("error", "not_found", False)


async def test_another_user_sees_none_of_it(stage):
    client = await stage.watching()
    stranger = await stage.connect("/ws/chat?user_id=bob")
    await stranger.send({"type": "resume", "session_id": "s1"})
    await stranger.until("error")
    stage.generator.say(UserFeedback(sentiment=1))
    stage.generator.say(CritiqueResult(grade=Grade(score=1)))
    stage.generator.say(CompactionResult(state="done", upto="q1"))
    await client.until("compaction")
    assert await stranger.pong() == []


async def test_a_summary_is_asked_for_and_followed(stage):
    stage.ledger.put("q1", status="answered")
    client = await stage.connect()
    await client.send({"type": "compact", "session_id": "s1"})
    message, turn = await stage.ledger.was_asked(CompactSession)
    assert (message, turn) == (CompactSession(), TurnRef("s1", "default", ""))
    stage.generator.say(CompactionResult(state="started"), query_id="")
    stage.generator.say(CompactionResult(state="done", message="Done.", upto="q1", turns=3), query_id="")
    started, done = await client.take(2)
    assert started == {"type": "compaction", "session_id": "s1", "state": "started", "message": "", "upto": ""}
    assert done == {"type": "compaction", "session_id": "s1", "state": "done", "message": "Done.", "upto": "q1"}


async def test_new_facts_are_told_to_their_user_alone(stage):
    ann, stranger = await stage.connect("/ws/chat?user_id=ann"), await stage.connect()
    await stranger.pong()
    await ann.pong()
    stage.ledger.bus.publish(UserContextUpdated(), turn=TurnRef(user_id="ann"))
    assert await ann.next() == {"type": "context_updated", "user_id": "ann"}
    assert await stranger.pong() == []


async def test_what_works_on_after_the_end_does_not_open_the_turn_again(stage):
    client = await stage.watching()
    stage.generator.say(AgentTransition(agent="memory", before="IDLE", action="RECALL", after="RECALLING"))
    assert (await client.next())["agent"] == "memory"
    stage.generator.answered()
    await client.until("response")
    stage.generator.say(AgentTransition(agent="memory", before="IDLE", action="INGEST", after="INGESTING"))
    assert await client.pong() == []
