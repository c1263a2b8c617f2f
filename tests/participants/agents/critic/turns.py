"""Answered turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bus.messages.ledger import EndedTurn, TurnEnd


def answered(query: str, answer: str, *, created_at: str = "", **end: Any) -> EndedTurn:
    """A turn that a model has answered just now."""
    fields = {"status": "answered", "finish_reason": "stop", "model": "gemma3:4b", **end}
    return EndedTurn(
        session_id="s1",
        user_id="ann",
        query_id="q1",
        query=query,
        created_at=created_at or datetime.now(UTC).isoformat(),
        end=TurnEnd(answer=answer, **fields),
    )
