"""Titles, ends and history."""

from __future__ import annotations

import pytest

from bus.messages.ledger import PastTurn, Step, ToolRecord
from participants.services.conversation import texts
from participants.services.conversation.texts import Draft

ROUND = Step(n=0, kind="round", calls=[ToolRecord(call_id="1", tool="a"), ToolRecord(call_id="2", tool="b")])
RESULT = Step(n=1, kind="result", calls=[ToolRecord(call_id="2", tool="b", outcome="ok", result="two")])


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Why is the sky blue?", "Why is the sky blue?"),
        ("  \n\n first\tline \nsecond", "first line"),
        ("a\x00b\x1b[31mc", "ab[31mc"),
        ("\x00\x01", "New conversation"),
        ("word " * 40, "word word word word word word word word word word word word…"),
        ("x" * 100, "x" * 60 + "…"),
        ("日本語" * 40, "日本語" * 20 + "…"),
        ("🙂" * 70, "🙂" * 60 + "…"),
        ("x" * 60, "x" * 60),
    ],
)
def test_titles(query: str, title: str) -> None:
    assert texts.title_of(query) == title


def test_calls_come_in_request_order_with_their_results() -> None:
    calls = texts.tool_calls([ROUND, RESULT])
    assert [(call.call_id, call.outcome, call.result) for call in calls] == [("1", "running", ""), ("2", "ok", "two")]


def test_a_stopped_turn_keeps_what_there_is() -> None:
    end = texts.stopped(Draft(1, 5, "Half", "hm"), [ROUND, RESULT])
    assert (end.status, end.finish_reason, end.answer, end.thinking) == ("cancelled", "cancelled", "Half", "hm")
    assert [call.outcome for call in end.tool_calls] == ["cancelled", "ok"]


@pytest.mark.parametrize(
    ("draft", "exhausted", "reason", "code"),
    [
        (Draft(), False, "error", "no_generator"),
        (Draft(1, 5, "Half"), True, "incomplete", "holder_died"),
    ],
)
def test_a_turn_that_is_given_up_can_be_retried(draft: Draft, exhausted: bool, reason: str, code: str) -> None:
    end = texts.given_up(draft, [], exhausted=exhausted)
    assert (end.status, end.finish_reason, end.code, end.retryable, end.answer) == (
        "failed",
        reason,
        code,
        True,
        draft.answer,
    )
    assert "Retry" in end.reason


def past(query: str, answer: str, status: str = "answered") -> PastTurn:
    return PastTurn(query=query, answer=answer, status=status)


@pytest.mark.parametrize(
    ("turns", "chars", "kept", "read"),
    [
        ([], 100, [], None),
        ([past("c", "c"), past("b", "b")], 100, ["b", "c"], None),
        ([past("c", "c"), past("b", "b"), past("a", "a")], 5, ["b", "c"], 2),
        ([past("c", "", "failed"), past("b", "b", "failed"), past("a", "a", "cancelled")], 100, ["a", "b"], None),
        ([past("c", " \n", "cancelled"), past("b", "")], 100, ["b"], None),
        ([past("c" * 100, "c")], 100, [], 0),
    ],
)
def test_history_is_the_newest_that_fits(turns: list[PastTurn], chars: int, kept: list[str], read: int | None) -> None:
    history, seen = texts.fitting(turns, chars)
    assert ([turn.query for turn in history], seen) == (kept, read)
