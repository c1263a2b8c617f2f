"""Which answers cannot be graded, and why?

Decisions only: an answered turn in, words out.
"""

from __future__ import annotations

from datetime import datetime

from bus.messages.ledger import EndedTurn


def why_not(turn: EndedTurn, now: datetime, oldest_s: float) -> str:
    """Why an answer is not graded, in words; empty where it is.

    Args:
        turn: The turn.
        now: The time.
        oldest_s: An older answer is left.
    """
    answer = _plain(turn.end.answer)
    if turn.end.status != "answered" or not answer:
        return "There is no answer to grade."
    if not turn.end.model:
        return "No model wrote this answer."
    if answer == _plain(turn.query):
        return "The answer only repeats the question."
    if any(answer == _plain(call.result) for call in turn.end.tool_calls):
        return "The answer only repeats what a tool found."
    if _age_s(turn, now) > oldest_s:
        return "The answer is too old to be graded."
    return ""


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _age_s(turn: EndedTurn, now: datetime) -> float:
    try:
        return (now - datetime.fromisoformat(turn.created_at)).total_seconds()
    except (ValueError, TypeError):
        return 0.0
