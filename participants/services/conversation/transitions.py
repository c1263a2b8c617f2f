"""How does a turn move?"""

from __future__ import annotations

from participants.services.conversation.states import Action, State
from participants.state_machine import InvalidTransition

TRANSITIONS = {
    (State.RECEIVED, Action.CLAIM): State.CLAIMED,
    (State.RECEIVED, Action.RESUME): State.CLAIMED,
    (State.CLAIMED, Action.WAIT): State.WAITING,
    (State.WAITING, Action.PROCEED): State.CLAIMED,
    (State.CLAIMED, Action.LAPSE): State.RECEIVED,
    (State.WAITING, Action.LAPSE): State.RECEIVED,
    (State.CLAIMED, Action.RELEASE): State.RECEIVED,
    (State.WAITING, Action.RELEASE): State.RECEIVED,
    (State.CLAIMED, Action.ANSWER): State.ANSWERED,
    (State.WAITING, Action.ANSWER): State.ANSWERED,
    (State.CLAIMED, Action.FAIL): State.FAILED,
    (State.WAITING, Action.FAIL): State.FAILED,
    (State.RECEIVED, Action.FAIL): State.FAILED,
    (State.CLAIMED, Action.CANCEL): State.CANCELLED,
    (State.WAITING, Action.CANCEL): State.CANCELLED,
    (State.RECEIVED, Action.CANCEL): State.CANCELLED,
}

ENDS = {
    State.ANSWERED: Action.ANSWER,
    State.FAILED: Action.FAIL,
    State.CANCELLED: Action.CANCEL,
}
"""The status that a holder reports, and the action that it is."""


def after(state: State, action: Action) -> State:
    """The state that follows.

    Raises:
        InvalidTransition: The table has no such row.
    """
    if (state, action) not in TRANSITIONS:
        raise InvalidTransition(state, action)
    return TRANSITIONS[(state, action)]
