"""Asking again and in other words: nothing is lost, and one branch is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.generation import CancelGeneration, ResponseGeneration
from bus.messages.ledger import (
    DeleteTurn,
    GetSession,
    GetTurn,
    JournalTurn,
    Session,
    SessionChanged,
    ShowBranch,
    Turn,
)
from bus.messages.query import SubmitTurn
from participants.services.conversation.branches import Link, line, newest_end, versions, with_all_after
from participants.services.conversation.schema import CONVERSATIONS, MIGRATIONS
from participants.services.conversation.store import Store
from tests.participants.services.conversation.desk import Desk, turn

TREE = [Link("a", ""), Link("b", "a"), Link("c", "b"), Link("b2", "a"), Link("d", "c"), Link("a2", "")]


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        ("d", ["a", "b", "c", "d"]),
        ("b2", ["a", "b2"]),
        ("a2", ["a2"]),
        ("", ["a2"]),
        ("deleted", ["a2"]),
    ],
)
def test_the_line_up_to_a_head(head: str, shown: list[str]) -> None:
    assert line(TREE, head) == shown


def test_links_that_go_round_or_nowhere_end() -> None:
    assert line([], "a") == []
    assert line([Link("a", "b"), Link("b", "a")], "b") == ["a", "b"]
    assert line([Link("b", "gone")], "b") == ["b"]


def test_versions_stand_in_one_place() -> None:
    assert versions(TREE) == {"": ["a", "a2"], "a": ["b", "b2"], "b": ["c"], "c": ["d"]}


@pytest.mark.parametrize(
    ("query_id", "gone", "end"),
    [("a", ["a", "b", "c", "b2", "d"], "d"), ("b", ["b", "c", "d"], "d"), ("b2", ["b2"], "b2"), ("a2", ["a2"], "a2")],
)
def test_what_follows_a_turn(query_id: str, gone: list[str], end: str) -> None:
    assert with_all_after(TREE, query_id) == gone
    assert newest_end(TREE, query_id) == end


async def shown(desk: Desk) -> list[tuple[str, list[str]]]:
    """The turns of the shown branch, each with its versions."""
    session = await desk.ask(GetSession(), Session, turn(0))
    return [(t.query_id, t.versions) for t in session.turns]


async def three_and_a_branch(desk: Desk) -> None:
    """q1, q2, q3, and q4 in the place of q2."""
    for number in (1, 2, 3):
        await desk.answered(turn(number), f"{number}?", f"{number}.")
    await desk.submit(turn(4), "2, in other words?", after="q1")


async def test_a_turn_in_anothers_place_loses_nothing(desk: Desk) -> None:
    await three_and_a_branch(desk)
    claim = await desk.claim(turn(4))
    assert [past.query for past in claim.history] == ["1?"]
    await desk.finish(turn(4))
    assert await shown(desk) == [("q1", ["q1"]), ("q4", ["q2", "q4"])]
    session = await desk.ask(ShowBranch(), Session, turn(2))
    assert [t.query_id for t in session.turns] == ["q1", "q2", "q3"]
    assert await shown(desk) == [("q1", ["q1"]), ("q2", ["q2", "q4"]), ("q3", ["q3"])]
    assert (await desk.ask(GetTurn(), Turn, turn(4))).turn.after == "q1"
    await desk.answered(turn(5), "5?")
    assert [query_id for query_id, _ in await shown(desk)] == ["q1", "q2", "q3", "q5"]


async def test_a_first_question_can_be_asked_again(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.submit(turn(2), after="")
    assert (await desk.claim(turn(2))).history == []
    assert await shown(desk) == [("q2", ["q1", "q2"])]


async def test_a_branch_begins_at_a_turn_of_the_session(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.answered(turn(2, session=2))
    assert await desk.refused(SubmitTurn(query="?", after="q2"), turn(3)) == "not_found"
    assert await desk.refused(SubmitTurn(query="?", after="none"), turn(3)) == "not_found"
    assert await desk.refused(SubmitTurn(query="?", after="q1"), turn(3, session=9)) == "not_found"


async def test_a_deleted_turn_goes_with_all_that_follows(desk: Desk) -> None:
    await three_and_a_branch(desk)
    await desk.claim(turn(4))
    await desk.finish(turn(4))
    desk.forget()
    await desk.ask(ShowBranch(), Session, turn(3))
    await desk.ask(DeleteTurn(), Done, turn(2))
    assert [changed.change for changed in desk.said(SessionChanged)] == ["turns", "turns"]
    assert await shown(desk) == [("q1", ["q1"])]
    assert await desk.refused(GetTurn(), turn(3)) == "not_found"
    await desk.ask(ShowBranch(), Session, turn(4))
    assert await shown(desk) == [("q1", ["q1"]), ("q4", ["q4"])]
    await desk.ask(DeleteTurn(), Done, turn(1))
    assert await shown(desk) == []
    await desk.answered(turn(5))
    assert await shown(desk) == [("q5", ["q5"])]


async def test_deleting_what_runs_stops_it_and_what_comes_late_makes_nothing(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.submit(turn(2))
    await desk.submit(turn(3))
    claim = await desk.claim(turn(2))
    await desk.ask(DeleteTurn(), Done, turn(2))
    assert len(desk.said(CancelGeneration)) == 2
    assert [m.end.reason for m in desk.said(ResponseGeneration)] == ["The question was deleted."] * 2
    assert await desk.refused(JournalTurn(fence=claim.fence, n=1, answer="late"), turn(2)) == "not_found"
    assert await shown(desk) == [("q1", ["q1"])]
    await desk.restart()
    assert await shown(desk) == [("q1", ["q1"])]


@pytest.mark.parametrize("kind", [ShowBranch, DeleteTurn])
async def test_another_users_turn_is_not_there(desk: Desk, kind: type[ShowBranch | DeleteTurn]) -> None:
    await desk.answered(turn(1))
    for ref in (turn(1, user="bob"), turn(7), turn(1, session=2), TurnRef("", "bob", "q1")):
        assert await desk.refused(kind(), ref) == "not_found"
    assert await shown(desk) == [("q1", ["q1"])]


async def test_each_turn_is_saved_with_its_depth(desk: Desk) -> None:
    await three_and_a_branch(desk)
    store = desk.service.store
    assert [store.depth("s1", f"q{number}") for number in (1, 2, 3, 4, 5)] == [0, 1, 2, 1, None]
    assert store.depth("another", "q1") is None


def test_an_older_store_gets_the_depths(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old = Store(path, replace(CONVERSATIONS, migrations=MIGRATIONS[:3]))
    old.open()
    row = "INSERT INTO turns (query_id, session_id, user_id, parent_id, state, created_at, model, persona, "
    row += "attachments, query) VALUES (?, ?, '', ?, 'answered', '', '', '', '', '')"
    with old.write() as db:
        db.executemany(row, [(link.query_id, "s", link.parent_id) for link in TREE])
        db.executemany(row, [("other", "t", ""), ("stray", "t", "gone")])
    old.close()
    store = Store(path)
    store.open()
    depths = {link.query_id: store.depth("s", link.query_id) for link in TREE}
    assert depths == {"a": 0, "b": 1, "c": 2, "b2": 1, "d": 3, "a2": 0}
    assert (store.depth("t", "other"), store.depth("t", "stray")) == (0, 0)
    store.close()
