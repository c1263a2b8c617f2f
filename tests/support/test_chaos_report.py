"""The judge of a chaos run finds each kind of fault: a run without findings means something."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.chaos_asker import Asked, Asker
from tests.support.chaos_report import Kill, judge, unsettled
from tests.support.scripted_ollama_default import signed


def asked(number: int, **more: Any) -> Asked:
    """An answered question."""
    query, answer = f"say <{number}>", signed(f"say <{number}>")
    known = {"accepted_at": 1.0, "ended_at": 3.0, "ends": [{"type": "response", "answer": answer}]} | more
    return Asked(query_id=f"q{number}", session_id="s", query=query, tool=False, sent_at=0.5, **known)


def turn(number: int, **more: Any) -> dict[str, Any]:
    """Its turn in the ledger."""
    known = {"status": "answered", "answer": signed(f"say <{number}>"), "tool_calls": [], "grade": {"score": 4}}
    return {"query_id": f"q{number}"} | known | more


def engram(number: int, **more: Any) -> dict[str, Any]:
    """What is remembered of it."""
    return {"query_id": f"q{number}", "critic_score": 4} | more


def asker(*questions: Asked) -> Asker:
    """A client that asked them."""
    out = Asker(1, "s", seed=1, padding="")
    out.asked.extend(questions)
    return out


def test_all_is_well() -> None:
    verdict = judge([asker(asked(0), asked(1))], [], {"s": [turn(0), turn(1)]}, [engram(1), engram(0)])
    assert (verdict.clean, verdict.accepted, verdict.answered) == (True, 2, 2)
    assert (verdict.remembered, verdict.graded) == (2, 2)


@pytest.mark.parametrize(
    ("question", "turns", "field", "found"),
    [
        (asked(0), [], "lost", ["q0"]),
        (asked(0, ends=[]), [turn(0)], "lost", ["q0"]),
        (asked(0), [turn(0, status="claimed")], "lost", ["q0"]),
        (asked(0), [turn(0), turn(0)], "double", ["q0"]),
        (asked(0, ends=[{"answer": signed("say <0>")}, {"answer": "other"}]), [turn(0)], "double", ["q0"]),
        (asked(0), [turn(0), turn(5)], "misplaced", ["q5"]),
        (asked(0), [turn(0, answer="say <9>")], "misplaced", ["q0"]),
        (asked(0, ends=[{"answer": "say <0> say"}]), [turn(0)], "misplaced", ["q0"]),
        (asked(0), [turn(0, status="failed")], "failed", ["q0"]),
    ],
)
def test_each_fault_is_found(question: Asked, turns: list[dict[str, Any]], field: str, found: list[str]) -> None:
    verdict = judge([asker(question)], [], {"s": turns}, [engram(0)])
    assert getattr(verdict, field) == found


@pytest.mark.parametrize(
    ("grade", "engrams", "field", "found"),
    [
        ({"score": 4}, [], "forgotten", ["q0"]),
        ({"score": 4}, [engram(0), engram(0)], "doubly_remembered", ["q0"]),
        ({"score": 4}, [engram(0), engram(5)], "misplaced", ["q5"]),
        ({"score": 4}, [engram(0, critic_score=None)], "ungraded", ["q0"]),
        ({"score": 3}, [engram(0, critic_score=3)], "ungraded", ["q0"]),
        ({"score": None}, [engram(0)], "ungraded", ["q0"]),
        (None, [engram(0)], "ungraded", ["q0"]),
    ],
)
def test_what_memory_and_critic_missed_is_found(
    grade: dict[str, Any] | None, engrams: list[dict[str, Any]], field: str, found: list[str]
) -> None:
    verdict = judge([asker(asked(0))], [], {"s": [turn(0, grade=grade)]}, engrams)
    assert getattr(verdict, field) == found
    assert not verdict.clean


@pytest.mark.parametrize(
    ("grade", "engrams", "left"),
    [
        ({"score": 4}, [engram(0)], 0),
        (None, [engram(0)], 1),
        ({"score": 4}, [], 1),
        ({"score": 4}, [{"query_id": "q0"}], 1),
    ],
)
def test_what_is_not_yet_graded_and_kept_is_waited_for(
    grade: dict[str, Any] | None, engrams: list[dict[str, Any]], left: int
) -> None:
    assert unsettled({"s": [turn(0, grade=grade), turn(1, status="failed", grade=None)]}, engrams) == left


def test_turns_out_of_order_and_strays_are_found() -> None:
    client = asker(asked(0), asked(1))
    client.strays.append({"query_id": "q7", "session_id": "other"})
    verdict = judge([client], [], {"s": [turn(1), turn(0)]}, [])
    assert verdict.misplaced == ["q7", "s: order"]


def test_the_silence_after_a_kill_is_that_of_the_slowest() -> None:
    waiting = [asked(0, heard_at=[1.0, 2.5]), asked(1, heard_at=[2.1])]
    kill = Kill("generator", 2.0, waiting)
    assert (kill.interruption_s(), kill.slowest()) == (0.5, "q0")
    table = judge([asker(*waiting)], [kill], {"s": [turn(0), turn(1)]}, []).table()
    assert "0.50 generator q0" in table
