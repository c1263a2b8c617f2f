"""Where can a turn be, and what can happen to it?"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where a turn is. The values stand in the store and on the bus."""

    RECEIVED = "received"
    CLAIMED = "claimed"
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
    ANSWER = "answer"
    FAIL = "fail"
    CANCEL = "cancel"


OPEN = frozenset({State.RECEIVED, State.CLAIMED})
