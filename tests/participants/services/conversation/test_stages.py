"""Grades, votes, what the memory has, and what it has to forget."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.critique import Grade, UserFeedback
from bus.messages.ledger import (
    CreateSession,
    DeleteSession,
    DeleteTurn,
    Deletion,
    Deletions,
    EndedTurn,
    FinishTurn,
    FollowedDeletion,
    GetTurn,
    GradeTurn,
    IngestedTurn,
    Overdue,
    OverdueDeletions,
    OverdueTurns,
    Session,
    ToolRecord,
    Turn,
    TurnEnd,
    VoteTurn,
)
from bus.messages.query import QueryReceived, SubmitTurn, TurnAccepted
from participants.services.conversation.schema import CONVERSATIONS, MIGRATIONS
from participants.services.conversation.store import Store
from tests.participants.services.conversation.desk import Desk, turn

NOBODY = TurnRef("", "")


async def overdue(desk: Desk, stage: str) -> list[EndedTurn]:
    """What waits."""
    return (await desk.ask(OverdueTurns(stage=stage), Overdue, NOBODY)).turns


async def waiting(desk: Desk, stage: str) -> list[str]:
    """Its ids."""
    return [ended.query_id for ended in await overdue(desk, stage)]


async def test_an_answered_turn_waits_for_critic_and_memory(desk: Desk) -> None:
    await desk.answered(turn(1), "one", "1")
    await desk.answered(turn(2), "two", "2")
    first, second = await overdue(desk, "graded")
    assert (first.query, first.previous, first.end.answer, first.user_id) == ("one", "", "1", "ann")
    assert (second.query, second.previous, second.revision, second.grade) == ("two", "one", 0, None)
    assert await waiting(desk, "ingested") == ["q1", "q2"]
    assert len((await desk.ask(OverdueTurns(stage="graded", limit=1), Overdue, NOBODY)).turns) == 1


async def test_what_failed_or_was_stopped_waits_for_nobody(desk: Desk) -> None:
    for number, status in enumerate(("failed", "cancelled"), 1):
        await desk.submit(turn(number))
        await desk.claim(turn(number))
        await desk.finish(turn(number), status=status)
    await desk.submit(turn(3))
    assert (await waiting(desk, "graded"), await waiting(desk, "ingested")) == ([], [])


async def test_the_first_grade_stays(desk: Desk) -> None:
    await desk.answered(turn(1))
    good = Grade(score=4, rubric_name="realistic", feedback="Fine.")
    await desk.ask(GradeTurn(grade=good), Done, turn(1))
    await desk.ask(GradeTurn(grade=Grade(score=1)), Done, turn(1))
    await desk.restart()
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.grade == good
    assert await waiting(desk, "graded") == []


async def test_a_grade_or_a_vote_makes_a_turn_overdue_again_for_the_memory(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.ask(IngestedTurn(revision=0), Done, turn(1))
    assert await waiting(desk, "ingested") == []
    await desk.ask(GradeTurn(grade=Grade(reason="It is an echo.")), Done, turn(1))
    await desk.ask(VoteTurn(sentiment=1), Done, turn(1))
    (again,) = await overdue(desk, "ingested")
    assert (again.revision, again.sentiment) == (2, 1)
    await desk.ask(IngestedTurn(revision=1), Done, turn(1))  # it was got before the vote
    assert await waiting(desk, "ingested") == ["q1"]
    await desk.ask(IngestedTurn(revision=99), Done, turn(1))  # no such revision yet
    assert await waiting(desk, "ingested") == ["q1"]
    await desk.ask(IngestedTurn(revision=2), Done, turn(1))
    await desk.ask(IngestedTurn(revision=0), Done, turn(1))  # late
    assert await waiting(desk, "ingested") == []


async def test_a_vote_is_told_once_and_can_be_changed_and_taken_back(desk: Desk) -> None:
    votes: list[tuple[int, str, str]] = []
    desk.asker.on(UserFeedback, lambda m, e: votes.append((m.sentiment, e.query_id, e.user_id)))
    await desk.answered(turn(1))
    for sentiment in (1, 1, -1, 0):
        await desk.ask(VoteTurn(sentiment=sentiment), Done, turn(1))
    assert votes == [(1, "q1", "ann"), (-1, "q1", "ann"), (0, "q1", "ann")]
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.sentiment == 0


@pytest.mark.parametrize(("by", "code"), [(turn(1, user="bob"), "not_found"), (turn(9), "not_found")])
async def test_nobody_votes_on_a_turn_of_another_user_or_on_none(desk: Desk, by: TurnRef, code: str) -> None:
    await desk.answered(turn(1))
    assert await desk.refused(VoteTurn(sentiment=1), by) == code
    assert await desk.refused(VoteTurn(sentiment=1), TurnRef("", "", "q1")) == "not_found"


async def test_what_has_no_answer_is_neither_graded_nor_voted_on(desk: Desk) -> None:
    await desk.submit(turn(1))
    assert await desk.refused(VoteTurn(sentiment=1), turn(1)) == "not_answered"
    assert await desk.refused(GradeTurn(grade=Grade(score=5)), turn(1)) == "not_answered"


async def test_an_unknown_stage_is_refused(desk: Desk) -> None:
    assert await desk.refused(OverdueTurns(stage="eaten"), NOBODY) == "bad_request"


async def test_turns_too_long_for_one_message_come_in_several(desk: Desk) -> None:
    room = desk.asker.config.max_message_bytes
    for number in (1, 2):
        await desk.submit(turn(number))
        await desk.claim(turn(number))
        end = TurnEnd(
            status="answered",
            finish_reason="stop",
            answer="x" * int(room * 0.6),
            thinking="x" * int(room * 0.35),
            tool_calls=[ToolRecord(call_id="c", tool="t", result="long")],
        )
        await desk.ask(FinishTurn(fence=1, end=end), Done, turn(number))
    (first,) = await overdue(desk, "ingested")
    assert (first.query_id, first.end.thinking, len(first.end.answer)) == ("q1", "", int(room * 0.6))


# ---------------------------------------------------------------------- deletions


async def test_the_memory_is_told_what_was_deleted_until_it_has_followed(desk: Desk) -> None:
    for number in (1, 2, 3):
        await desk.answered(turn(number))
    await desk.answered(turn(4, session=2, user="bob"))
    await desk.ask(DeleteTurn(), Done, turn(2))
    await desk.ask(DeleteSession(), Done, turn(0, session=2, user="bob"))
    await desk.restart()
    told = (await desk.ask(OverdueDeletions(), Deletions, NOBODY)).deletions
    assert told == [
        Deletion(deletion_id=1, user_id="ann", session_id="s1", query_ids=["q2", "q3"]),
        Deletion(deletion_id=2, user_id="bob", session_id="s2", query_ids=None),
    ]
    await desk.ask(FollowedDeletion(deletion_id=1), Done, NOBODY)
    await desk.ask(FollowedDeletion(deletion_id=1), Done, NOBODY)
    left = (await desk.ask(OverdueDeletions(), Deletions, NOBODY)).deletions
    assert [deletion.deletion_id for deletion in left] == [2]


async def test_what_was_deleted_is_overdue_no_longer(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.ask(DeleteSession(), Done, turn(0))
    assert await waiting(desk, "ingested") == []
    await desk.ask(IngestedTurn(revision=0), Done, turn(1))  # it came too late, and harms nothing
    assert await desk.refused(GradeTurn(grade=Grade(score=3)), turn(1)) == "not_found"


# ---------------------------------------------------------------------- incognito


async def test_nothing_of_an_incognito_session_is_graded_remembered_or_told(desk: Desk) -> None:
    await desk.ask(SubmitTurn(query="Secret", incognito=True), TurnAccepted, turn(1))
    (heard,) = desk.said(QueryReceived)
    claim = await desk.claim(turn(1))
    assert (heard.incognito, claim.incognito) == (True, True)
    await desk.finish(turn(1))
    await desk.answered(turn(2))  # goes on without saying so again
    assert (await waiting(desk, "graded"), await waiting(desk, "ingested")) == ([], [])
    await desk.restart()
    await desk.submit(turn(3))
    assert (await desk.claim(turn(3))).incognito
    await desk.ask(DeleteSession(), Done, turn(0))
    assert (await desk.ask(OverdueDeletions(), Deletions, NOBODY)).deletions == []


async def test_an_ordinary_session_can_not_become_incognito(desk: Desk) -> None:
    await desk.answered(turn(1))
    assert await desk.refused(SubmitTurn(query="Secret", incognito=True), turn(2)) == "bad_request"
    assert await desk.refused(CreateSession(incognito=True), turn(0)) == "bad_request"


async def test_an_empty_session_is_made_incognito(desk: Desk) -> None:
    made = await desk.ask(CreateSession(incognito=True), Session, turn(0))
    assert made.session.incognito
    await desk.answered(turn(1))
    assert await waiting(desk, "ingested") == []


# ---------------------------------------------------------------------- older stores


def test_what_was_answered_before_there_was_a_memory_waits_for_nobody(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    old = Store(path, replace(CONVERSATIONS, migrations=MIGRATIONS[:4]))
    old.open()
    with old.write() as db:
        _old_turn(db)
    old.close()
    store = Store(path)
    store.open()
    stages = store.stages
    assert (stages.ungraded(9), stages.not_ingested(9)) == ([], [])
    grade = stages.of("q1").grade
    assert grade is not None
    assert (grade.score, grade.reason) == (None, "It was answered before there was a critic.")
    store.close()


def test_what_read_content_from_outside_before_that_was_noted_is_found(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    old = Store(path, replace(CONVERSATIONS, migrations=MIGRATIONS[:5]))
    old.open()
    with old.write() as db:
        _old_turn(db)
        _old_turn(db, "q2", "q1", [{"call_id": "c", "tool": "web_fetch", "outcome": "ok", "untrusted": True}])
        _old_turn(db, "q3", "q2", [{"call_id": "c", "tool": "get_datetime", "outcome": "ok"}])
        db.execute("INSERT INTO summaries VALUES ('s1', 'q1', 1, '1', 'They greeted.')")
    old.close()
    store = Store(path)
    store.open()
    assert [past.untrusted for past in store.branch("q3")] == [False, True, False]
    assert store.summaries.of_session("s1")["q1"].untrusted
    store.close()


def _old_turn(
    db: sqlite3.Connection, query_id: str = "q1", parent_id: str = "", calls: list[dict[str, object]] | None = None
) -> None:
    figures = json.dumps({"status": "answered", "finish_reason": "stop", "tool_calls": calls or []})
    db.execute(
        "INSERT OR IGNORE INTO sessions (session_id, user_id, title, persona, head, created_at, updated_at) "
        "VALUES ('s1', 'ann', 't', '', 'q1', '1', '1')"
    )
    db.execute(
        "INSERT INTO turns (query_id, session_id, user_id, parent_id, state, created_at, model, persona, attachments, "
        "query, figures) VALUES (?, 's1', 'ann', ?, 'answered', '1', '', '', '', 'Why?', ?)",
        (query_id, parent_id, figures),
    )
