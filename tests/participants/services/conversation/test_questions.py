"""Asking, queueing and stopping, over the bus."""

from __future__ import annotations

import pytest

from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.generation import AnswerDialog, CancelGeneration, ResponseGeneration
from bus.messages.ledger import (
    CreateSession,
    GetSession,
    GetTurn,
    JournalStep,
    JournalTurn,
    Session,
    SessionChanged,
    Step,
    ToolRecord,
    Turn,
    TurnHeld,
)
from bus.messages.query import CancelTurn, QueryReceived, SubmitTurn, TurnQueued
from tests.participants.services.conversation.desk import Desk, turn


async def test_a_question_is_accepted_and_offered(desk: Desk) -> None:
    accepted = await desk.submit(turn(1), "Why is it so?\nReally?")
    assert (accepted.query_id, accepted.session_id, accepted.position, accepted.status) == ("q1", "s1", 0, "received")
    assert [(m.query, m.redelivered) for m in desk.said(QueryReceived)] == [("Why is it so?\nReally?", False)]
    assert [m.change for m in desk.said(SessionChanged)] == ["created"]
    session = await desk.ask(GetSession(), Session, turn(1))
    assert (session.session.title, session.session.turns, session.session.running) == ("Why is it so?", 1, True)


async def test_ids_are_made_where_none_are_given(desk: Desk) -> None:
    accepted = await desk.submit(TurnRef("", "ann", ""))
    assert accepted.query_id
    assert accepted.session_id
    assert desk.said_of(QueryReceived) == [accepted.query_id]


async def test_the_same_id_twice_is_one_turn(desk: Desk) -> None:
    first = await desk.submit(turn(1))
    await desk.claim(turn(1))
    again = await desk.submit(TurnRef("", "ann", "q1"), "Something else?")
    assert (again.session_id, again.created_at, again.status) == ("s1", first.created_at, "claimed")
    assert (first.query, again.query) == ("", "Why?")
    await desk.finish(turn(1))
    assert (await desk.submit(turn(1))).status == "answered"
    assert len(desk.said(QueryReceived)) == 1


@pytest.mark.parametrize("other", [turn(1, user="bob"), turn(1, session=2)])
async def test_a_taken_id_is_a_conflict(desk: Desk, other: TurnRef) -> None:
    await desk.submit(turn(1))
    assert await desk.refused(SubmitTurn(query="Mine?"), other) == "conflict"


async def test_another_users_session_is_not_there(desk: Desk) -> None:
    await desk.submit(turn(1))
    assert await desk.refused(SubmitTurn(query="Mine?"), turn(2, user="bob")) == "not_found"


@pytest.mark.parametrize(
    ("message", "ref", "code"),
    [
        (SubmitTurn(query=""), turn(1), "bad_query"),
        (SubmitTurn(query=" \n\t "), turn(1), "bad_query"),
        (SubmitTurn(query="x" * 200_001), turn(1), "query_too_long"),
        (SubmitTurn(query="x", model="m" * 201), turn(1), "bad_request"),
        (SubmitTurn(query="x", attachments=[{"data": "x" * 100_000}]), turn(1), "bad_request"),
        (SubmitTurn(query="x"), TurnRef("s" * 201, "ann", "q1"), "bad_request"),
        (SubmitTurn(query="x"), TurnRef("s1", "ann", "q\0"), "bad_request"),
        (SubmitTurn(query="x"), TurnRef("s1", "a\nb", "q1"), "bad_request"),
    ],
)
async def test_what_cannot_be_answered_is_refused(desk: Desk, message: SubmitTurn, ref: TurnRef, code: str) -> None:
    assert await desk.refused(message, ref) == code
    assert desk.said(QueryReceived) == []


async def test_questions_of_a_session_wait_for_one_another(desk: Desk) -> None:
    positions = [(await desk.submit(turn(n))).position for n in range(4)]
    assert positions == [0, 1, 2, 3]
    assert await desk.refused(SubmitTurn(query="One more?"), turn(5)) == "too_many"
    desk.forget()
    await desk.claim(turn(0))
    await desk.finish(turn(0))
    assert desk.said_of(QueryReceived) == ["q1"]
    assert [(m.position, q) for m, q in zip(desk.said(TurnQueued), desk.said_of(TurnQueued), strict=True)] == [
        (1, "q2"),
        (2, "q3"),
    ]


async def test_only_so_many_sessions_are_served_at_once(desk: Desk) -> None:
    positions = [(await desk.submit(turn(n, session=n))).position for n in range(5)]
    assert positions == [0, 0, 0, 1, 2]
    await desk.claim(turn(1, session=1))
    await desk.finish(turn(1, session=1))
    assert desk.said_of(QueryReceived) == ["q0", "q1", "q2", "q3"]
    assert desk.said_of(TurnQueued) == ["q4"]


async def test_the_first_question_names_a_session_that_was_made_empty(desk: Desk) -> None:
    made = await desk.ask(CreateSession(), Session, TurnRef("s1", "ann"))
    assert made.session.title == "New conversation"
    await desk.submit(turn(1), "A name?")
    assert [m.change for m in desk.said(SessionChanged)] == ["created", "renamed"]
    assert (await desk.ask(GetSession(), Session, turn(1))).session.title == "A name?"


async def test_a_persona_stays_until_another_one_comes(desk: Desk) -> None:
    await desk.submit(turn(1), persona="pirate", model="quality")
    claim = await desk.claim(turn(1))
    await desk.finish(turn(1))
    await desk.submit(turn(2))
    assert (claim.persona, claim.model) == ("pirate", "quality")
    assert ((await desk.claim(turn(2))).persona, desk.service.config.max_active) == ("pirate", 3)


# ---------------------------------------------------------------------- stopping


async def test_a_turn_that_nobody_answers_is_stopped_at_once(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.submit(turn(2))
    desk.forget()
    await desk.ask(CancelTurn(), Done, turn(2))
    await desk.ask(CancelTurn(), Done, turn(1))
    assert desk.said_of(ResponseGeneration) == ["q2", "q1"]
    assert {m.end.status for m in desk.said(ResponseGeneration)} == {"cancelled"}
    assert desk.said(AnswerDialog) == []
    await desk.ask(CancelTurn(), Done, turn(1))
    assert len(desk.said(ResponseGeneration)) == 2


async def test_a_holder_is_told_to_stop_until_it_does(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(CancelTurn(), Done, turn(1))
    assert desk.said_of(CancelGeneration) == ["q1"]
    held = await desk.ask(JournalTurn(fence=1, n=0, answer="Half"), TurnHeld, turn(1))
    assert held.cancelled
    await desk.clock.forward(31)
    assert len(desk.said(CancelGeneration)) == 2
    await desk.finish(turn(1), answer="Half", status="cancelled")
    await desk.clock.forward(31)
    assert len(desk.said(CancelGeneration)) == 2
    assert desk.said(ResponseGeneration) == []
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.status == "cancelled"


async def test_a_holder_that_does_not_stop_loses_the_turn(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    call = ToolRecord(call_id="c", tool="search")
    await desk.ask(JournalStep(fence=1, step=Step(n=0, kind="round", calls=[call])), TurnHeld, turn(1))
    await desk.ask(JournalTurn(fence=1, n=4, answer="Half", thinking="hm"), TurnHeld, turn(1))
    await desk.ask(CancelTurn(), Done, turn(1))
    await desk.clock.forward(91)
    (ended,) = desk.said(ResponseGeneration)
    assert (ended.end.status, ended.end.answer, ended.end.thinking) == ("cancelled", "Half", "hm")
    assert [c.outcome for c in ended.end.tool_calls] == ["cancelled"]
    assert [m.answer for m in desk.said(AnswerDialog)] == ["Half"]
    assert await desk.refused(JournalTurn(fence=1, n=9, answer="Late"), turn(1)) == "conflict"
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.end.answer == "Half"


async def test_a_stop_is_remembered_over_a_restart(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(CancelTurn(), Done, turn(1))
    await desk.restart()
    held = await desk.ask(JournalTurn(fence=1, n=0), TurnHeld, turn(1))
    assert held.cancelled
    assert desk.said_of(CancelGeneration) == ["q1"]


async def test_nobody_stops_another_users_turn(desk: Desk) -> None:
    await desk.submit(turn(1))
    assert await desk.refused(CancelTurn(), turn(1, user="bob")) == "not_found"
    assert await desk.refused(CancelTurn(), turn(9)) == "not_found"
