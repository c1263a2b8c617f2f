"""Looking at, naming and deleting sessions, over the bus."""

from __future__ import annotations

import pytest

from bus.envelope import TurnRef
from bus.messages.base import Message
from bus.messages.control import Done
from bus.messages.generation import CancelGeneration, ResponseGeneration
from bus.messages.ledger import (
    CreateSession,
    DeleteSession,
    FinishTurn,
    GetSession,
    GetTurn,
    JournalTurn,
    ListSessions,
    RenameSession,
    Session,
    SessionChanged,
    Sessions,
    TurnEnd,
    TurnHeld,
)
from bus.messages.query import QueryReceived
from participants.services.conversation.config import ConversationConfig
from tests.participants.services.conversation.desk import Desk, turn


async def test_a_session_shows_its_turns_oldest_first(desk: Desk) -> None:
    await desk.answered(turn(1), "one", "1")
    await desk.submit(turn(2), "two")
    await desk.submit(turn(3), "three")
    got = await desk.ask(GetSession(), Session, turn(1))
    assert [(t.query, t.status, t.position) for t in got.turns] == [
        ("one", "answered", 0),
        ("two", "received", 0),
        ("three", "received", 1),
    ]
    still_open = await desk.ask(GetSession(open_only=True), Session, turn(1))
    assert [t.query for t in still_open.turns] == ["two", "three"]
    assert still_open.session == got.session


async def test_a_user_lists_his_own_sessions_newest_first(desk: Desk) -> None:
    await desk.answered(turn(1, session=1), "first")
    await desk.answered(turn(2, session=2), "second")
    await desk.answered(turn(3, session=3, user="bob"), "bob's")
    await desk.submit(turn(4, session=1))
    listed = (await desk.ask(ListSessions(), Sessions, turn(0))).sessions
    assert [(s.session_id, s.title, s.turns, s.running) for s in listed] == [
        ("s1", "first", 2, True),
        ("s2", "second", 1, False),
    ]
    older = (await desk.ask(ListSessions(before=listed[0].updated_at), Sessions, turn(0))).sessions
    assert [s.session_id for s in older] == ["s2"]
    assert len((await desk.ask(ListSessions(limit=1), Sessions, turn(0))).sessions) == 1


async def test_making_a_session_twice_is_one(desk: Desk) -> None:
    first = await desk.ask(CreateSession(title=" My\n talk "), Session, TurnRef("s1", "ann"))
    again = await desk.ask(CreateSession(title="Other"), Session, TurnRef("s1", "ann"))
    assert first == again
    assert (first.session.title, first.turns) == ("My talk", [])
    assert [m.change for m in desk.said(SessionChanged)] == ["created"]
    assert (await desk.ask(CreateSession(), Session, TurnRef("", "ann"))).session.session_id


async def test_a_session_is_renamed_once(desk: Desk) -> None:
    await desk.answered(turn(1))
    desk.forget()
    await desk.ask(RenameSession(title="A better\tname"), Done, turn(1))
    await desk.ask(RenameSession(title="A better name"), Done, turn(1))
    assert [m.change for m in desk.said(SessionChanged)] == ["renamed"]
    assert (await desk.ask(GetSession(), Session, turn(1))).session.title == "A better name"
    assert await desk.refused(RenameSession(title="\0 "), turn(1)) == "bad_title"


@pytest.mark.parametrize(
    "message", [GetSession(), RenameSession(title="mine"), DeleteSession(), GetTurn(), CreateSession()]
)
async def test_what_is_another_users_is_not_there(desk: Desk, message: Message) -> None:
    await desk.answered(turn(1))
    assert await desk.refused(message, turn(1, user="bob")) == "not_found"
    assert len((await desk.ask(GetSession(), Session, turn(1))).turns) == 1


@pytest.mark.parametrize("message", [GetSession(), RenameSession(title="mine"), DeleteSession(), GetTurn()])
async def test_what_is_not_there_is_said_to_be_so(desk: Desk, message: Message) -> None:
    assert await desk.refused(message, turn(1)) == "not_found"


async def test_a_deleted_session_stays_deleted(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.submit(turn(2), "Secret question?")
    await desk.submit(turn(3))
    await desk.claim(turn(2))
    await desk.ask(JournalTurn(fence=1, n=0, answer="Secret answer"), TurnHeld, turn(2))
    desk.forget()
    await desk.ask(DeleteSession(), Done, turn(1))
    assert desk.said_of(CancelGeneration) == ["q2", "q3"]
    assert desk.said_of(ResponseGeneration) == ["q2", "q3"]
    assert {(m.query, m.end.answer) for m in desk.said(ResponseGeneration)} == {("", "")}
    assert [m.change for m in desk.said(SessionChanged)] == ["deleted"]
    late = TurnEnd(status="answered", finish_reason="stop", answer="Late")
    assert await desk.refused(JournalTurn(fence=1, n=1, answer="Late"), turn(2)) == "not_found"
    assert await desk.refused(FinishTurn(fence=1, end=late), turn(2)) == "not_found"
    assert (await desk.ask(ListSessions(), Sessions, turn(1))).sessions == []
    files = b"".join(file.read_bytes() for file in desk.service.store.path.parent.glob("conversations.db*"))
    assert b"Secret" not in files


async def test_a_deleted_session_makes_room_for_others(desk: Desk) -> None:
    for number in range(4):
        await desk.submit(turn(number, session=number))
    desk.forget()
    await desk.ask(DeleteSession(), Done, turn(0, session=0))
    assert desk.said_of(QueryReceived) == ["q3"]


async def test_a_session_that_fills_a_message_loses_what_is_old_first(desk: Desk) -> None:
    room = desk.bus.config.max_message_bytes
    await desk.restart(ConversationConfig(id="ledger"))
    end = TurnEnd(status="answered", finish_reason="stop", answer="short", thinking="x" * (room // 2))
    for number in range(3):
        await desk.submit(turn(number))
        await desk.claim(turn(number))
        await desk.ask(FinishTurn(fence=1, end=end), Done, turn(number))
    got = await desk.ask(GetSession(), Session, turn(0))
    assert [(t.end.answer, bool(t.end.thinking)) for t in got.turns] == [
        ("short", False),
        ("short", False),
        ("short", True),
    ]
