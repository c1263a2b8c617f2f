"""Requests for approval: durable, once, for exactly one call, of exactly one user."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.messages.approval import (
    Approval,
    ApprovalInfo,
    ApprovalRequest,
    ApprovalResult,
    DecideApproval,
    GetApproval,
    OpenApproval,
    TakeApproval,
)
from bus.messages.control import Done, OpsProcess
from bus.messages.ledger import (
    DeleteSession,
    GetSession,
    GetTurn,
    JournalTurn,
    ReleaseTurn,
    Session,
    Turn,
    TurnHeld,
    TurnInfo,
)
from bus.messages.query import CancelTurn, QueryReceived
from participants.services.conversation.schema import CONVERSATIONS, MIGRATIONS
from participants.services.conversation.store import Store
from tests.participants.services.conversation.desk import RULES, Clock, Desk, turn

Q1 = turn(1)
DELETE = {"path": "/a", "sure": True}


class Table:
    """A ledger with a claimed turn, and what it says of approvals."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def ask(self, approval_id: str = "a1", fence: int = 1, of: TurnRef = Q1, **more: Any) -> ApprovalInfo:
        call = {"call_id": "c1", "tool": "delete", "args": DELETE, "reason": "It deletes."} | more
        message = OpenApproval(fence=fence, approval_id=approval_id, **call)
        return (await self.desk.ask(message, Approval, of)).approval

    async def decide(self, approved: bool, approval_id: str = "a1", user: str = "ann") -> ApprovalInfo:
        message = DecideApproval(approval_id=approval_id, approved=approved)
        return (await self.desk.ask(message, Approval, TurnRef("", user))).approval

    async def take(self, approval_id: str = "a1", fence: int = 1) -> Done:
        return await self.desk.ask(TakeApproval(fence=fence, approval_id=approval_id), Done, Q1)

    async def state(self, approval_id: str = "a1") -> str:
        return (await self.desk.ask(GetApproval(approval_id=approval_id), Approval, Q1)).approval.state

    async def turn(self) -> TurnInfo:
        return (await self.desk.ask(GetTurn(), Turn, Q1)).turn


@pytest.fixture
async def table(desk: Desk) -> Table:
    await desk.submit(Q1)
    await desk.claim(Q1)
    desk.forget()
    return Table(desk)


async def test_the_turn_waits_and_its_user_is_asked_for_exactly_this(table: Table) -> None:
    asked = await table.ask()
    found = await table.turn()
    assert (found.status, found.approvals) == ("waiting", [asked])
    assert (asked.tool, asked.args, asked.reason, asked.state) == ("delete", DELETE, "It deletes.", "open")
    assert table.desk.said(ApprovalRequest) == [ApprovalRequest(approval=asked)]
    assert table.desk.said_of(ApprovalRequest) == ["q1"]
    listed = await table.desk.ask(GetSession(open_only=True), Session, Q1)
    assert listed.turns[0].approvals == [asked]


@pytest.mark.parametrize(("approved", "state"), [(True, "approved"), (False, "denied")])
async def test_an_answer_lets_the_turn_go_on(table: Table, approved: bool, state: str) -> None:
    await table.ask()
    assert (await table.decide(approved)).state == state
    assert [(m.approval_id, m.call_id, m.tool, m.state) for m in table.desk.said(ApprovalResult)] == [
        ("a1", "c1", "delete", state)
    ]
    assert (await table.turn()).status == "claimed"
    assert (await table.ask()).state == state


@pytest.mark.parametrize("first", [True, False])
async def test_the_first_answer_counts(table: Table, first: bool) -> None:
    await table.ask()
    before = await table.decide(first)
    assert await table.decide(not first) == before
    assert len(table.desk.said(ApprovalResult)) == 1


async def test_two_answers_at_once_are_one(table: Table) -> None:
    await table.ask()
    both = await asyncio.gather(table.decide(True), table.decide(False))
    assert len({answer.state for answer in both}) == 1


async def test_nobody_elses_answer_counts(table: Table) -> None:
    await table.ask()
    bob = TurnRef("s1", "bob", "q1")
    assert await table.desk.refused(DecideApproval(approval_id="a1", approved=True), bob) == "not_found"
    assert await table.desk.refused(GetApproval(approval_id="a1"), bob) == "not_found"
    assert await table.desk.refused(DecideApproval(approval_id="nope", approved=True), Q1) == "not_found"
    assert await table.state() == "open"


async def test_what_was_approved_is_taken_once(table: Table) -> None:
    await table.ask()
    await table.decide(True)
    await table.take()
    await table.take()
    assert await table.state() == "taken"
    table.desk.asker.publish(OpsProcess(name="generator", event="died", pid=11))
    again = await table.desk.claim(Q1, "boot2", 12)
    later = TakeApproval(fence=again.fence, approval_id="a1")
    assert await table.desk.refused(later, Q1) == "not_approved"
    assert (await table.ask(fence=again.fence)).state == "taken"


@pytest.mark.parametrize("answers", [[], [False]])
async def test_what_was_not_approved_cannot_be_taken(table: Table, answers: list[bool]) -> None:
    await table.ask()
    for answer in answers:
        await table.decide(answer)
    assert await table.desk.refused(TakeApproval(fence=1, approval_id="a1"), Q1) == "not_approved"


async def test_only_the_holder_asks_and_takes(table: Table) -> None:
    await table.ask()
    await table.decide(True)
    await table.desk.submit(turn(2, 2))
    await table.desk.claim(turn(2, 2))
    assert await table.desk.refused(TakeApproval(fence=1, approval_id="a1"), turn(2, 2)) == "not_found"
    assert await table.desk.refused(TakeApproval(fence=7, approval_id="a1"), Q1) == "conflict"
    ask = OpenApproval(fence=7, approval_id="a2", call_id="c1", tool="delete", args={})
    assert await table.desk.refused(ask, Q1) == "conflict"
    assert await table.desk.refused(replace(ask, fence=1), turn(3, 3)) == "not_found"


@pytest.mark.parametrize(
    "other", [{"args": {"path": "/b"}}, {"args": {"path": "/a", "sure": 1}}, {"tool": "wipe"}, {"call_id": "c2"}]
)
async def test_an_approval_is_never_one_of_another_call(table: Table, other: dict[str, Any]) -> None:
    await table.ask()
    call = {"call_id": "c1", "tool": "delete", "args": DELETE} | other
    assert await table.desk.refused(OpenApproval(fence=1, approval_id="a1", **call), Q1) == "conflict"


async def test_the_same_call_with_other_arguments_is_asked_anew(table: Table) -> None:
    await table.ask()
    await table.ask("a2", args={"path": "/b"})
    assert (await table.decide(True)).state == "void"
    assert (await table.turn()).status == "waiting"
    assert (await table.decide(True, "a2")).state == "approved"
    assert await table.desk.refused(TakeApproval(fence=1, approval_id="a1"), Q1) == "not_approved"


async def test_a_turn_that_asks_twice_waits_for_both(table: Table) -> None:
    await table.ask()
    await table.ask("a2", call_id="c2")
    await table.decide(True, "a2")
    assert (await table.turn()).status == "waiting"
    await table.decide(False)
    found = await table.turn()
    assert (found.status, [a.state for a in found.approvals]) == ("claimed", ["denied", "approved"])


@pytest.mark.parametrize(
    "hostile",
    [
        OpenApproval(fence=1, approval_id="", call_id="c", tool="t", args={}),
        OpenApproval(fence=1, approval_id="x" * 501, call_id="c", tool="t", args={}),
        OpenApproval(fence=1, approval_id="a", call_id="c", tool="t", args={"x": "y" * 200_001}),
    ],
    ids=["no id", "long id", "long arguments"],
)
async def test_what_no_user_could_be_asked_is_refused(table: Table, hostile: OpenApproval) -> None:
    assert await table.desk.refused(hostile, Q1) == "bad_request"
    assert (await table.turn()).status == "claimed"


# ---------------------------------------------------------------------- time


async def test_no_answer_in_time_is_a_no(table: Table) -> None:
    await table.ask()
    for _ in range(6):
        await table.desk.clock.forward(RULES.lease_s / 2)
        await table.desk.ask(JournalTurn(fence=1, n=-1), TurnHeld, Q1)
    assert [m.state for m in table.desk.said(ApprovalResult)] == ["expired"]
    assert (await table.decide(True)).state == "expired"
    assert (await table.turn()).status == "claimed"


async def test_time_runs_on_while_nothing_of_ours_does(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    await table.ask()
    later = time.time() + RULES.approval_s + 1
    monkeypatch.setattr("time.time", lambda: later)
    await table.desk.restart()
    assert table.desk.said_of(ApprovalResult) == ["q1"]
    assert await table.state() == "expired"


async def test_an_answer_that_comes_before_our_own_clock_notices_is_too_late(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    await table.ask()
    later = time.time() + RULES.approval_s + 1
    monkeypatch.setattr("time.time", lambda: later)
    assert (await table.decide(True)).state == "expired"


async def test_who_waits_takes_no_room(table: Table) -> None:
    for number in (2, 3, 4):
        await table.desk.submit(turn(number, number))
    assert table.desk.said_of(QueryReceived) == ["q2", "q3"]
    await table.ask()
    assert table.desk.said_of(QueryReceived) == ["q2", "q3", "q4"]


# ---------------------------------------------------------------------- crashes


async def test_it_outlives_a_restart_of_the_ledger(table: Table) -> None:
    asked = await table.ask()
    await table.desk.restart()
    found = await table.turn()
    assert (found.status, found.approvals) == ("waiting", [asked])
    assert (await table.decide(True)).state == "approved"
    assert (await table.turn()).status == "claimed"
    await table.desk.restart()
    await table.take()


async def test_it_outlives_its_holder(table: Table) -> None:
    asked = await table.ask()
    table.desk.asker.publish(OpsProcess(name="generator", event="died", pid=11))
    await table.desk.clock.forward(0)
    found = await table.turn()
    assert (found.status, found.approvals) == ("received", [asked])
    again = await table.desk.claim(Q1, "boot2", 12)
    assert await table.ask(fence=again.fence) == asked
    assert (await table.turn()).status == "waiting"


async def test_it_may_be_answered_while_nobody_holds_the_turn(table: Table) -> None:
    await table.ask()
    await table.desk.ask(ReleaseTurn(fence=1), Done, Q1)
    assert (await table.decide(True)).state == "approved"
    again = await table.desk.claim(Q1, "boot2", 12)
    assert (await table.turn()).status == "claimed"
    await table.take(fence=again.fence)


async def test_a_holder_that_was_silent_and_comes_back_waits_on(table: Table) -> None:
    await table.ask()
    await table.desk.clock.forward(RULES.lease_s + 1)
    assert (await table.turn()).status == "received"
    await table.desk.ask(JournalTurn(fence=1, n=-1), TurnHeld, Q1)
    assert (await table.turn()).status == "waiting"


# ---------------------------------------------------------------------- the end


async def test_a_waiting_turn_can_be_stopped(table: Table) -> None:
    await table.ask()
    await table.desk.ask(CancelTurn(), Done, Q1)
    assert (await table.desk.ask(JournalTurn(fence=1, n=-1), TurnHeld, Q1)).cancelled
    await table.desk.finish(Q1, status="cancelled")
    assert (await table.decide(True)).state == "void"


async def test_a_holder_that_does_not_stop_is_overruled(table: Table) -> None:
    await table.ask()
    await table.desk.ask(CancelTurn(), Done, Q1)
    await table.desk.clock.forward(RULES.cancel_grace_s + 1)
    assert (await table.turn()).status == "cancelled"
    assert await table.state() == "void"


@pytest.mark.parametrize("status", ["answered", "failed"])
async def test_with_the_turn_all_that_is_open_ends(table: Table, status: str) -> None:
    await table.ask()
    await table.desk.finish(Q1, status=status)
    found = await table.turn()
    assert (found.status, found.approvals) == (status, [])
    assert await table.state() == "void"


async def test_with_the_conversation_it_is_deleted(table: Table) -> None:
    await table.ask()
    await table.desk.ask(DeleteSession(), Done, Q1)
    assert await table.desk.refused(GetApproval(approval_id="a1"), Q1) == "not_found"


# ---------------------------------------------------------------------- the store


def test_an_older_store_is_copied_then_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    before = 2  # the third one made them
    old = Store(path, replace(CONVERSATIONS, migrations=MIGRATIONS[:before]))
    old.open()
    old.close()
    new = Store(path)
    new.open()
    assert new.approvals.open() == []
    new.close()
    copy = min((tmp_path / "backups").iterdir())
    with sqlite3.connect(copy) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (before,)
    db.close()


async def test_an_expiry_that_cannot_be_saved_is_tried_again(
    table: Table, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await table.ask()
    store = table.desk.service.store
    failing = iter([True])
    answer = store.approvals.answer

    def once(*args: Any) -> None:
        if next(failing, False):
            raise sqlite3.OperationalError("disk")
        answer(*args)

    monkeypatch.setattr(store.approvals, "answer", once)
    await clock.forward(RULES.approval_s + 5)
    assert await table.state() == "expired"
