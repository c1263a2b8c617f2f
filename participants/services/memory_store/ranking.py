"""Which memories fit a question best?

Decisions only: candidates in, an order out. The rank of a memory is
    similarity                      of its vector to the question's, from -1 to 1
    + (critic's score - 3) x 0.05   a good answer goes before a bad one
    + user's vote x 0.05
    + word overlap, up to 0.15      names, numbers and words of the question that it holds: vectors blur these
    - age, up to 0.03               of two that fit alike the newer one goes first
A memory that says nearly the same as a better one is left out. Of two about the same thing the later one goes first: it
may contradict the earlier one. Two are about the same thing where they are very near each other and share a name, or
where they are near, fit the question alike, and the user told a change with the later one ("we have moved to …").
Measured with `scripts/bench memory`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bus.messages.memory import Memory
from participants.services.memory_store import entities

CRITIC = 0.05
VOTE = 0.05
OVERLAP = 0.15
AGE = 0.03
_HALF_AGED_DAYS = 90.0
SAME = 0.95
"""From here on two texts say the same, if their names and numbers do."""
RELATED = 0.75
"""From here on two texts that share a name are about the same thing."""

RELATED_BY_CHANGE = 0.4
"""From here on a change is about what another text says, if both fit the question alike."""
ALIKE = 0.2
"""Ranks that differ less are alike."""

_COMPARED = 4
"""So many times the limit are compared with one another: each with each takes time."""


class Candidate(Struct, frozen=True):
    """A memory, how near it is to the question, and its vector where it has one."""

    memory: Memory
    similarity: float
    vector: Any = None
    """A numpy array of unit length; None for none. numpy is Chroma's, and is not imported before that is."""


def rank(candidates: Sequence[Candidate], query: str, now: datetime, *, threshold: float, limit: int) -> list[Memory]:
    """The best, each with its rank as `score`.

    Args:
        candidates: Of one kind.
        query: The question.
        now: For the age.
        threshold: What ranks below is left out.
        limit: At most so many.
    """
    asked = set(entities.words(query))
    scored = [(score(candidate, asked, now), candidate) for candidate in candidates]
    good = [(points, candidate) for points, candidate in scored if points >= threshold]
    good.sort(key=lambda pair: -pair[0])
    kept = _without_repeats(good[: _COMPARED * limit])
    return [replace(candidate.memory, score=points) for points, candidate in _later_first(kept, limit)[:limit]]


def score(candidate: Candidate, asked: set[str], now: datetime) -> float:
    """A memory's rank."""
    memory = candidate.memory
    critic = CRITIC * (memory.critic_score - 3) if memory.critic_score is not None else 0.0
    overlap = OVERLAP * _overlap(memory, asked)
    return candidate.similarity + critic + VOTE * memory.sentiment + overlap - AGE * _aged(memory, now)


def _overlap(memory: Memory, asked: set[str]) -> float:
    if not asked:
        return 0.0
    return len(asked & set(entities.words(said(memory)))) / len(asked)


def _aged(memory: Memory, now: datetime) -> float:
    """From 0 for now to 1 for long ago."""
    try:
        days = (now - datetime.fromisoformat(memory.created_at)).total_seconds() / 86_400
    except (ValueError, TypeError):
        return 1.0
    return max(0.0, days) / (max(0.0, days) + _HALF_AGED_DAYS)


def said(memory: Memory) -> str:
    """All that a memory says: what its vector is made of."""
    return f"{memory.query}\n{memory.text}" if memory.query else memory.text


Scored = tuple[float, Candidate]


def _without_repeats(best_first: Sequence[Scored]) -> list[Scored]:
    kept: list[Scored] = []
    for points, candidate in best_first:
        if not any(_says_the_same(candidate, other) for _, other in kept):
            kept.append((points, candidate))
    return kept


def _says_the_same(a: Candidate, b: Candidate) -> bool:
    one, other = said(a.memory), said(b.memory)
    if one == other:
        return True
    return nearness(a.vector, b.vector) >= SAME and same_details(one, other)


def same_details(one: str, other: str) -> bool:
    """Whether two texts name the same, count the same, and both deny or neither does."""
    return (
        set(entities.names(one)) == set(entities.names(other))
        and entities.numbers(one) == entities.numbers(other)
        and entities.is_negated(one) == entities.is_negated(other)
    )


def _later_first(best_first: Sequence[Scored], limit: int) -> list[Scored]:
    """Where an earlier memory stands before a later one about the same thing, they change places."""
    out = list(best_first)
    for i in range(min(limit, len(out))):
        for j in range(i + 1, len(out)):
            if _newer(out[j][1], out[i][1]) and _is_about_the_same(out[i], out[j]):
                out[i], out[j] = (out[i][0], out[j][1]), (out[j][0], out[i][1])
    return out


def _newer(a: Candidate, b: Candidate) -> bool:
    return a.memory.created_at > b.memory.created_at


def _is_about_the_same(earlier: Scored, later: Scored) -> bool:
    (points, a), (later_points, b) = earlier, later
    near = nearness(a.vector, b.vector)
    if near < RELATED_BY_CHANGE:
        return False
    if near >= RELATED and set(entities.names(said(a.memory))) & set(entities.names(said(b.memory))):
        return True
    return abs(points - later_points) < ALIKE and entities.tells_a_change(b.memory.query or b.memory.text)


def nearness(a: Any, b: Any) -> float:
    """The cosine of two vectors of unit length; 0 where one is missing."""
    if a is None or b is None or len(a) != len(b):
        return 0.0
    return float(a @ b)
