"""Which action leads from which state to which?"""

from __future__ import annotations

from participants.agents.critic.states import Action, State

TRANSITIONS: dict[tuple[State, Action], State] = {
    (State.IDLE, Action.GRADE): State.GRADING,
    (State.IDLE, Action.SKIP): State.SKIPPED,
    (State.GRADING, Action.RETRY): State.GRADING,
    (State.GRADING, Action.FINISH): State.GRADED,
    (State.GRADING, Action.SKIP): State.SKIPPED,
}
