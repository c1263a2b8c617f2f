"""State machines: the table is all there is."""

from __future__ import annotations

from enum import StrEnum

import pytest

from participants.state_machine import InvalidTransition, StateMachine


class State(StrEnum):
    IDLE = "IDLE"
    BUSY = "BUSY"


class Action(StrEnum):
    START = "START"
    STOP = "STOP"


TABLE = {(State.IDLE, Action.START): State.BUSY, (State.BUSY, Action.STOP): State.IDLE}


def test_a_move_is_made_and_told() -> None:
    told: list[tuple[str, str, str, str]] = []
    machine = StateMachine(TABLE, State.IDLE, lambda *move: told.append(move))
    assert machine.do(Action.START, "a question came") is State.BUSY
    assert machine.state is State.BUSY
    assert machine.do(Action.STOP) is State.IDLE
    assert told == [("IDLE", "START", "BUSY", "a question came"), ("BUSY", "STOP", "IDLE", "")]


def test_a_missing_row_is_loud_and_moves_nothing() -> None:
    told: list[object] = []
    machine = StateMachine(TABLE, State.IDLE, lambda *move: told.append(move))
    with pytest.raises(InvalidTransition, match="no transition from IDLE by STOP") as caught:
        machine.do(Action.STOP)
    assert (caught.value.state, caught.value.action) == ("IDLE", "STOP")
    assert machine.state is State.IDLE
    assert told == []


@pytest.mark.parametrize(
    ("state", "action", "possible"),
    [(State.IDLE, Action.START, True), (State.IDLE, Action.STOP, False), (State.BUSY, Action.STOP, True)],
)
def test_what_is_possible_can_be_asked(state: State, action: Action, possible: bool) -> None:
    assert StateMachine(TABLE, state).can(action) is possible
