"""Which action leads from which state to which?"""

from __future__ import annotations

from participants.agents.memory.states import Action, State

TRANSITIONS: dict[tuple[State, Action], State] = {
    (State.IDLE, Action.RECALL): State.RECALLING,
    (State.RECALLING, Action.TELL): State.RECALLED,
    (State.IDLE, Action.INGEST): State.INGESTING,
    (State.INGESTING, Action.KEEP): State.KEPT,
    (State.INGESTING, Action.SKIP): State.SKIPPED,
    (State.KEPT, Action.REFINE): State.KEPT,
}
