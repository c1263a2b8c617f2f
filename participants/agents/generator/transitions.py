"""Which action leads from which state to which?"""

from __future__ import annotations

from participants.agents.generator.states import Action, State

_WORKING = (
    State.RECEIVING,
    State.GENERATING,
    State.DISPATCHING_TOOL,
    State.AWAITING_RESULT,
    State.AWAITING_APPROVAL,
)

TRANSITIONS: dict[tuple[State, Action], State] = {
    (State.IDLE, Action.RECEIVE): State.RECEIVING,
    (State.RECEIVING, Action.GENERATE): State.GENERATING,
    (State.RECEIVING, Action.DISPATCH_TOOL): State.DISPATCHING_TOOL,
    (State.RECEIVING, Action.PUBLISH): State.PUBLISHING,
    (State.GENERATING, Action.RETRY): State.GENERATING,
    (State.GENERATING, Action.DISPATCH_TOOL): State.DISPATCHING_TOOL,
    (State.DISPATCHING_TOOL, Action.AWAIT_RESULT): State.AWAITING_RESULT,
    (State.AWAITING_RESULT, Action.ASK_APPROVAL): State.AWAITING_APPROVAL,
    (State.AWAITING_APPROVAL, Action.APPROVAL_RESULT): State.AWAITING_RESULT,
    (State.AWAITING_RESULT, Action.TOOL_RESULT): State.GENERATING,
    (State.AWAITING_RESULT, Action.TOOL_TIMEOUT): State.GENERATING,
    (State.GENERATING, Action.PUBLISH): State.PUBLISHING,
    (State.PUBLISHING, Action.FINISH): State.DONE,
    **{(state, Action.CANCEL): State.CANCELLED for state in _WORKING},
    **{(state, Action.FAIL): State.FAILED for state in _WORKING},
}
