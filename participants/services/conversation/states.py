"""Where can a turn be, and what can happen to it?"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where a turn is. The values stand in the store and on the bus."""

    RECEIVED = "received"
    CLAIMED = "claimed"
    WAITING = "waiting"
    """Claimed, and its user is asked whether a tool may act."""
    ANSWERED = "answered"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Action(StrEnum):
    """What happens to a turn."""

    CLAIM = "claim"
    """Somebody takes it, as a new attempt."""
    RESUME = "resume"
    """Its last holder, thought dead, speaks again before another has claimed it."""
    LAPSE = "lapse"
    """Its holder is silent or dead."""
    RELEASE = "release"
    """Its holder hands it back."""
    WAIT = "wait"
    """Its holder asks the user for an approval."""
    PROCEED = "proceed"
    """Nothing that the user was asked is open any more."""
    ANSWER = "answer"
    FAIL = "fail"
    CANCEL = "cancel"


HELD = frozenset({State.CLAIMED, State.WAITING})
"""Somebody has it."""
OPEN = frozenset({State.RECEIVED, *HELD})
