"""kill -9 at each single step of a turn: the question is answered once, and a tool has no second effect."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bus.fault_points import VARIABLE, FaultPoint
from tests.support.chaos_asker import Asked, Asker
from tests.support.dropped import drop, runs
from tests.support.scripted_ollama import Default, ScriptedOllama
from tests.support.stack import Stack

pytestmark = pytest.mark.stack
_WORD_S = 0.03
_PADDING = "one two three four five six seven eight nine ten eleven twelve"


class End(NamedTuple):
    """How a turn ended."""

    ends: list[str]
    saved: list[str]
    answer_whole: bool
    outcomes: list[str]
    runs: int


WELL = End(["response"], ["answered"], answer_whole=True, outcomes=["ok"], runs=1)
TOLD_UNKNOWN = WELL._replace(outcomes=["crashed"])
AFTER_DEATH_AT: list[tuple[tuple[FaultPoint, ...], End]] = [
    ((FaultPoint.QUESTION_HEARD,), WELL),
    ((FaultPoint.TURN_TAKEN,), WELL),
    ((FaultPoint.CALL_HEARD,), TOLD_UNKNOWN._replace(runs=0)),
    ((FaultPoint.ACCEPTANCE_HEARD,), WELL),
    ((FaultPoint.QUESTION_SAVED,), WELL),
    ((FaultPoint.CALLS_SAVED,), WELL),
    ((FaultPoint.CALL_DONE,), TOLD_UNKNOWN),
    ((FaultPoint.ANSWER_HEARD,), WELL),
    ((FaultPoint.QUESTION_ANNOUNCED,), WELL),
    ((FaultPoint.RESULT_HEARD,), WELL),
    ((FaultPoint.TURN_TAKEN, FaultPoint.TURN_CLAIMED), WELL),
    ((FaultPoint.STEP_HEARD,), WELL),
    ((FaultPoint.RESULTS_SAVED,), WELL),
    ((FaultPoint.STEP_SAVED,), WELL),
    ((FaultPoint.TEXT_BEGUN,), WELL),
    ((FaultPoint.TEXT_SAVED,), WELL),
    ((FaultPoint.ANSWER_WHOLE,), WELL),
    ((FaultPoint.END_HEARD,), WELL),
    ((FaultPoint.END_COMMITTED,), WELL),
    ((FaultPoint.END_SAVED,), WELL),
    ((FaultPoint.CALLS_SAVED, FaultPoint.STEP_SAVED, FaultPoint.TEXT_SAVED, FaultPoint.END_SAVED), WELL),
]
"""Which points are reached in one turn, and its end. No process dies twice in a row where that can be helped."""


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    """The folder in which a point is armed."""
    folder = tmp_path / "fault points"
    folder.mkdir()
    return folder


@pytest.fixture
async def stack(model: ScriptedOllama, orders: Path, tmp_path: Path) -> AsyncIterator[Stack]:
    """A stack whose processes can be made to die, with a tool whose calls must not run twice."""
    async with Stack.started(tmp_path / "home", model.url, environment={VARIABLE: str(orders)}) as started:
        await drop(started, send={})
        yield started


async def asked_and_killed(stack: Stack, orders: Path, points: tuple[FaultPoint, ...], number: int) -> End:
    """Ask while these points are armed, as a stubborn client does."""
    for point in points:
        (orders / point).touch()
    session_id = f"s{number}"
    asker = Asker(stack.port, session_id, seed=number, padding="")
    query = f'use send {{"do": ["ok"], "n": {number}}} {_PADDING}'
    asked = Asked(f"q{number}", session_id, query, tool=True, sent_at=time.monotonic())
    await asker.follow(asked)
    await stack.healthy()
    turns = (await stack.get(f"/api/sessions/{session_id}"))["turns"]
    return End(
        ends=[frame["type"] for frame in asked.ends],
        saved=[turn["status"] for turn in turns],
        answer_whole=asked.ends[0]["answer"] == turns[0]["answer"] == query,
        outcomes=[call["outcome"] for call in turns[0]["tool_calls"]],
        runs=sum(run["n"] == number for run in runs(stack, "send")),
    )


def armed(orders: Path) -> list[str]:
    """The points at which a process is still to die."""
    return sorted(order.name for order in orders.iterdir())


def test_the_table_has_every_point() -> None:
    assert {point for points, _ in AFTER_DEATH_AT for point in points} == set(FaultPoint)


async def test_killed_at_each_step(stack: Stack, model: ScriptedOllama, orders: Path) -> None:
    model.reply(Default(every_s=_WORD_S, echo=True), times=None)
    found = [
        (points, await asked_and_killed(stack, orders, points, number))
        for number, (points, _) in enumerate(AFTER_DEATH_AT)
    ]
    assert found == AFTER_DEATH_AT
    assert armed(orders) == [], "a point that was not reached"
