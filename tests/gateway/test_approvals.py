"""A tool asks before it acts: what do its user's tabs see, and whose answer is passed on?"""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.approval import ApprovalRequest, ApprovalResult
from bus.messages.control import AgentTransition

CARD = {
    "approval_id": "a1",
    "call_id": "c1",
    "tool": "rm",
    "args": {"path": "/a"},
    "reason": "It deletes.",
    "expires": "2026-11-30T12:00:00+00:00",
}
REQUEST = {"type": "approval_request", "query_id": "q1", "session_id": "s1", **CARD}


def result(state: str) -> dict[str, Any]:
    return {"type": "approval_result", "query_id": "q1", "session_id": "s1", "approval_id": "a1", "state": state}


async def asked(stage):
    """A client that sees what a tool asks."""
    client = await stage.watching()
    stage.generator.say(ApprovalRequest(approval=stage.ledger.ask_user()))
    assert await client.next() == REQUEST
    return client


async def test_the_user_sees_exactly_what_would_be_done_and_answers(stage):
    client = await asked(stage)
    await client.send({"type": "approve", "approval_id": "a1", "approved": True})
    assert await client.next() == result("approved")


async def test_an_answer_is_seen_in_every_tab(stage):
    client = await asked(stage)
    stage.generator.say(ApprovalResult(approval_id="a1", call_id="c1", tool="rm", state="denied"))
    assert await client.next() == result("denied")


async def test_who_comes_second_learns_what_stands(stage):
    client, other = await asked(stage), await stage.connect()
    await client.send({"type": "approve", "approval_id": "a1", "approved": False})
    await client.next()
    await other.send({"type": "approve", "approval_id": "a1", "approved": True})
    assert await other.next() == result("denied")


async def test_another_user_cannot_answer(stage):
    await asked(stage)
    foreign = await stage.connect("/ws/chat?user_id=mallory")
    await foreign.send({"type": "approve", "approval_id": "a1", "approved": True})
    frame = await foreign.next()
    assert (frame["type"], frame["code"]) == ("error", "not_found")
    assert stage.ledger.turns["q1"].approvals[0].state == "open"


async def test_without_the_ledger_nothing_is_decided(stage):
    client = await asked(stage)
    await stage.ledger.bus.close()
    await client.send({"type": "approve", "approval_id": "a1", "approved": True})
    assert (await client.until("error"))[-1]["code"] == "conversation_unavailable"


@pytest.mark.parametrize("live", [True, False], ids=["the generator has it", "nobody has it"])
async def test_a_tab_that_comes_later_gets_the_card(stage, live):
    stage.ledger.put("q1")
    stage.ledger.ask_user()
    if live:
        stage.generator.hold("q1", "Let me", 3)
    client = await stage.connect()
    await client.send({"type": "resume", "session_id": "s1"})
    snapshot = await client.next()
    assert snapshot["approvals"] == [{**CARD, "state": "open"}]
    assert snapshot["state"] == ("GENERATING" if live else "AWAITING_APPROVAL")


async def test_a_new_gateway_shows_it_again_and_passes_the_answer_on(stage):
    stage.ledger.put("q1")
    stage.ledger.ask_user()
    await stage.stop_gateway()
    await stage.start_gateway()
    client = await stage.connect()
    await client.send({"type": "resume", "session_id": "s1"})
    assert (await client.next())["approvals"] == [{**CARD, "state": "open"}]
    await client.send({"type": "approve", "approval_id": "a1", "approved": True})
    assert await client.next() == result("approved")


async def test_what_was_held_back_while_a_tab_came_is_shown(stage):
    client = await asked(stage)
    await client.send({"type": "resume", "session_id": "s1"})
    stage.generator.say(AgentTransition(agent="generator", before="A", action="B", after="AWAITING_RESULT"))
    stage.generator.say(ApprovalResult(approval_id="a1", call_id="c1", tool="rm", state="approved"))
    assert (await client.until("approval_result"))[-1] == result("approved")


async def test_a_session_read_over_rest_holds_it(stage):
    stage.ledger.put("q1")
    stage.ledger.ask_user()
    [turn] = (await stage.http("GET", "/api/sessions/s1")).json()["turns"]
    assert (turn["status"], turn["approvals"]) == ("waiting", [{**CARD, "state": "open"}])
