"""How does a state move, and who is told?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Generic, TypeVar

from bus.errors import Local2Error

S = TypeVar("S", bound=StrEnum)
A = TypeVar("A", bound=StrEnum)


class InvalidTransition(Local2Error):
    """The table has no row for this action in this state: a fault of ours."""

    def __init__(self, state: str, action: str) -> None:
        super().__init__(f"no transition from {state} by {action}")
        self.state, self.action = state, action


class StateMachine(Generic[S, A]):
    """One running thing's state, moved by a table.

    Args:
        table: (state, action) to the next state.
        state: Where it starts.
        told: Called after each move with (before, action, after, note).
    """

    def __init__(
        self, table: Mapping[tuple[S, A], S], state: S, told: Callable[[S, A, S, str], None] | None = None
    ) -> None:
        self._table, self.state, self._told = table, state, told

    def do(self, action: A, note: str = "") -> S:
        """Move, tell, and return the new state.

        Raises:
            InvalidTransition: The table has no such row.
        """
        before = self.state
        after = self._table.get((before, action))
        if after is None:
            raise InvalidTransition(before, action)
        self.state = after
        if self._told is not None:
            self._told(before, action, after, note)
        return after

    def can(self, action: A) -> bool:
        """Whether the table has a row for `action` now."""
        return (self.state, action) in self._table
