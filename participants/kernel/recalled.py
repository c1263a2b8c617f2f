"""Whose words are in a memory? Only what its user said, or what was answered from nothing else, is taken for that."""

from __future__ import annotations

from bus.messages.memory import Memory

_OUTSIDE = " (may be from a page or a document; not something that the user said)"
_ANOTHERS = " (shared by another user; not something that this user said)"


def is_from_outside(memory: Memory, user_id: str) -> bool:
    """Whether it holds content that nobody may take for this user's: data, never instructions."""
    return memory.untrusted or memory.user_id != user_id


def origin(memory: Memory, user_id: str) -> str:
    """What the model is told of that, behind a memory's text; empty for the user's own."""
    if memory.user_id != user_id:
        return _ANOTHERS
    return _OUTSIDE if memory.untrusted else ""
