"""The table of a turn's states."""

from __future__ import annotations

import pytest

from participants.services.conversation.states import OPEN, Action, State
from participants.services.conversation.transitions import ENDS, TRANSITIONS, after
from participants.state_machine import InvalidTransition


@pytest.mark.parametrize("state", sorted(set(State) - OPEN))
@pytest.mark.parametrize("action", list(Action))
def test_nothing_follows_an_end(state: State, action: Action) -> None:
    with pytest.raises(InvalidTransition, match=state):
        after(state, action)


@pytest.mark.parametrize("status", list(ENDS))
def test_every_end_can_be_reached_from_a_claim(status: State) -> None:
    assert after(State.CLAIMED, ENDS[status]) is status


def test_only_a_holder_answers() -> None:
    with pytest.raises(InvalidTransition):
        after(State.RECEIVED, Action.ANSWER)


def test_every_action_has_a_row() -> None:
    assert {action for _, action in TRANSITIONS} == set(Action)
