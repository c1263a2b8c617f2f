"""Claiming, journalling and ending, over the bus."""

from __future__ import annotations

import pytest

from bus.envelope import TurnRef
from bus.messages.base import Message
from bus.messages.control import Done
from bus.messages.generation import BackendInfo, GeneratorStatus, ResponseGeneration
from bus.messages.ledger import (
    ClaimTurn,
    FinishTurn,
    GetTurn,
    JournalStep,
    JournalTurn,
    ReleaseTurn,
    SessionChanged,
    Step,
    ToolRecord,
    Turn,
    TurnEnd,
    TurnHeld,
)
from bus.messages.query import CancelTurn, QueryReceived
from participants.services.conversation.config import ConversationConfig
from tests.participants.services.conversation.desk import RULES, Desk, turn

END = TurnEnd(
    status="answered",
    finish_reason="length",
    reason="It was long.",
    answer="Bec\0ause 🙂",
    thinking="hm\nhm",
    tool_calls=[ToolRecord(call_id="c", tool="t", args={"a": [1, None, {"b": "ü"}]}, outcome="ok", result="r")],
    model="m",
    demo=True,
    prompt_tokens=5,
    answer_tokens=6,
    num_ctx=7,
    left_out=2,
    first_token_s=0.5,
    seconds=1.5,
)


async def test_a_claim_of_another_process_is_a_conflict(desk: Desk) -> None:
    await desk.submit(turn(1))
    first = await desk.claim(turn(1))
    assert (first.fence, first.attempt, first.lease_s, first.query) == (1, 1, 100, "Why?")
    assert await desk.refused(ClaimTurn(holder="boot2"), turn(1)) == "conflict"
    assert await desk.claim(turn(1)) == first


@pytest.mark.parametrize(
    ("ref", "holder", "code"),
    [
        (turn(9), "b", "not_found"),
        (turn(2), "b", "waiting"),
        (turn(0), "b", "ended"),
        (turn(1, user="bob"), "b", "not_found"),
        (turn(0, user="bob"), "b", "not_found"),
        (turn(1), "", "bad_request"),
        (turn(1), "b" * 201, "bad_request"),
    ],
)
async def test_a_claim_is_refused(desk: Desk, ref: TurnRef, holder: str, code: str) -> None:
    await desk.answered(turn(0))
    await desk.submit(turn(1))
    await desk.submit(turn(2))
    assert await desk.refused(ClaimTurn(holder=holder), ref) == code


async def test_who_answers_need_not_name_the_user(desk: Desk) -> None:
    await desk.submit(turn(1))
    assert (await desk.claim(TurnRef("", "", "q1"))).query == "Why?"
    await desk.finish(TurnRef("", "", "q1"))
    await desk.finish(TurnRef("", "", "q1"))


async def test_an_end_is_stored_whole(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(JournalTurn(fence=1, n=7, answer="Bec"), TurnHeld, turn(1))
    desk.forget()
    await desk.ask(FinishTurn(fence=1, end=END), Done, turn(1))
    info = (await desk.ask(GetTurn(), Turn, turn(1))).turn
    assert (info.end, info.status, info.attempt, info.n) == (END, "answered", 1, 7)
    assert [m.change for m in desk.said(SessionChanged)] == ["updated"]
    assert desk.said_of(SessionChanged) == ["q1"]
    assert desk.said(ResponseGeneration) == []


async def test_an_end_is_stored_once(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.finish(turn(1), answer="first")
    await desk.finish(turn(1), answer="second")
    assert await desk.refused(FinishTurn(fence=2, end=END), turn(1)) == "ended"
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.end.answer == "first"
    assert desk.said_of(SessionChanged) == ["", "q1"]


async def test_an_end_by_the_ledger_is_not_that_of_the_holder(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(CancelTurn(), Done, turn(1))
    await desk.clock.forward(91)
    assert await desk.refused(FinishTurn(fence=1, end=END), turn(1)) == "ended"


async def test_an_end_must_be_one(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    assert await desk.refused(FinishTurn(fence=1, end=TurnEnd(status="claimed", finish_reason="")), turn(1)) == (
        "bad_request"
    )


async def test_the_text_so_far_can_be_read(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(JournalTurn(fence=1, n=3, thinking="hm"), TurnHeld, turn(1))
    await desk.ask(JournalTurn(fence=1, n=5, answer="Bec"), TurnHeld, turn(1))
    await desk.ask(JournalTurn(fence=1, n=4, answer="late"), TurnHeld, turn(1))
    await desk.ask(JournalTurn(fence=1, n=5), TurnHeld, turn(1))
    info = (await desk.ask(GetTurn(), Turn, turn(1))).turn
    assert (info.status, info.attempt, info.n, info.end.answer, info.end.thinking) == ("claimed", 1, 5, "Bec", "hm")


async def test_a_new_attempt_starts_the_text_anew(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(JournalTurn(fence=1, n=9, answer="old", thinking="old"), TurnHeld, turn(1))
    await desk.clock.forward(101)
    second = await desk.claim(turn(1), "boot2")
    assert (second.fence, second.attempt) == (2, 2)
    before = (await desk.ask(GetTurn(), Turn, turn(1))).turn
    assert (before.attempt, before.n, before.end.answer) == (1, 9, "old")
    await desk.ask(JournalTurn(fence=2, n=0, answer="new"), TurnHeld, turn(1))
    after = (await desk.ask(GetTurn(), Turn, turn(1))).turn
    assert (after.attempt, after.n, after.end.answer, after.end.thinking) == (2, 0, "new", "")


async def test_steps_are_resumed(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    call = ToolRecord(call_id="c", tool="t", args={"q": "x"})
    asked = Step(n=0, kind="round", text="Let me see.", calls=[call])
    got = Step(n=1, kind="result", calls=[ToolRecord(call_id="c", tool="t", outcome="ok", result="42")])
    for step in (asked, Step(n=1, kind="result"), got):
        await desk.ask(JournalStep(fence=1, step=step), TurnHeld, turn(1))
    await desk.clock.forward(101)
    assert (await desk.claim(turn(1), "boot2")).steps == [asked, got]
    info = (await desk.ask(GetTurn(), Turn, turn(1))).turn
    assert [(c.outcome, c.result) for c in info.end.tool_calls] == [("ok", "42")]


@pytest.mark.parametrize(
    "message",
    [
        JournalTurn(fence=1, n=0, answer="late"),
        JournalStep(fence=1, step=Step(n=0, kind="round")),
        ReleaseTurn(fence=1),
        FinishTurn(fence=1, end=END),
    ],
)
async def test_who_came_back_from_the_dead_is_refused(desk: Desk, message: Message) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.clock.forward(101)
    await desk.claim(turn(1), "boot2")
    assert await desk.refused(message, turn(1)) == "conflict"
    await desk.finish(turn(1), fence=2)
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.end.answer == "Because."


@pytest.mark.parametrize(
    "message",
    [
        JournalTurn(fence=1, n=0, answer="late"),
        JournalStep(fence=1, step=Step(n=0, kind="round")),
        ReleaseTurn(fence=1),
    ],
)
async def test_nothing_is_written_to_a_turn_that_is_over(desk: Desk, message: Message) -> None:
    await desk.answered(turn(1))
    assert await desk.refused(message, turn(1)) == "conflict"
    assert await desk.refused(message, turn(9)) == "not_found"


async def test_a_turn_that_is_handed_back_is_offered_at_once(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(JournalTurn(fence=1, n=0, answer="Half"), TurnHeld, turn(1))
    desk.forget()
    await desk.ask(ReleaseTurn(fence=1), Done, turn(1))
    await desk.ask(ReleaseTurn(fence=1), Done, turn(1))
    assert [m.redelivered for m in desk.said(QueryReceived)] == [True]
    assert await desk.refused(JournalTurn(fence=1, n=1), turn(1)) == "conflict"
    assert (await desk.claim(turn(1), "boot2")).fence == 2


async def test_a_stopped_turn_that_is_handed_back_ends(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(CancelTurn(), Done, turn(1))
    await desk.ask(ReleaseTurn(fence=1), Done, turn(1))
    assert [m.end.status for m in desk.said(ResponseGeneration)] == ["cancelled"]


async def test_history_is_that_of_the_session(desk: Desk) -> None:
    await desk.answered(turn(1), "one", "1")
    await desk.answered(turn(2, session=2), "other", "x")
    await desk.submit(turn(3), "failed")
    await desk.claim(turn(3))
    await desk.finish(turn(3), answer="", status="failed")
    await desk.submit(turn(4), "stopped")
    await desk.submit(turn(5), "never")
    await desk.ask(CancelTurn(), Done, turn(5))
    await desk.claim(turn(4))
    await desk.finish(turn(4), answer="part", status="cancelled")
    await desk.submit(turn(6), "last")
    claim = await desk.claim(turn(6))
    assert [(p.query, p.answer, p.status) for p in claim.history] == [
        ("one", "1", "answered"),
        ("stopped", "part", "cancelled"),
    ]
    assert claim.left_out == 0


async def test_history_holds_the_steps_and_no_thinking(desk: Desk) -> None:
    step = Step(n=0, kind="round", calls=[ToolRecord(call_id="c", tool="t")])
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.ask(JournalStep(fence=1, step=step), TurnHeld, turn(1))
    await desk.ask(FinishTurn(fence=1, end=END), Done, turn(1))
    await desk.submit(turn(2))
    (past,) = (await desk.claim(turn(2))).history
    assert (past.steps, past.answer) == ([step], END.answer)


async def test_a_long_history_says_how_much_is_left_out(desk: Desk) -> None:
    await desk.restart(ConversationConfig(id="ledger", history_chars=25))
    for number in range(4):
        await desk.answered(turn(number), "x" * 5, "y" * 5)
    await desk.submit(turn(5))
    claim = await desk.claim(turn(5))
    assert (len(claim.history), claim.left_out) == (2, 2)


async def test_no_more_history_is_handed_over_than_the_generator_can_use(desk: Desk) -> None:
    backend = BackendInfo(kind="embedded")
    told = GeneratorStatus(backend=backend, roles=[], models=[], tools=[], turns={}, max_turns=8, history_chars=25)
    desk.asker.publish(told)
    for number in range(4):
        await desk.answered(turn(number), "x" * 5, "y" * 5)
    await desk.submit(turn(5))
    claim = await desk.claim(turn(5))
    assert (len(claim.history), claim.left_out) == (2, 2)


async def test_a_silent_holder_goes_on_where_nobody_took_over(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.clock.forward(101)
    assert [m.redelivered for m in desk.said(QueryReceived)] == [False, True]
    await desk.ask(JournalTurn(fence=1, n=0, answer="Still here"), TurnHeld, turn(1))
    await desk.clock.forward(RULES.offer_s[0] + 1)
    assert len(desk.said(QueryReceived)) == 2
    await desk.finish(turn(1))
