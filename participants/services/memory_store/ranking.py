"""Which memories fit a question best?

Decisions only: candidates in, an order out. The rank of a memory is
    similarity                      of its vector to the question's, from -1 to 1
    + (critic's score - 3) x 0.05   a good answer goes before a bad one
    + user's vote x 0.05
    + word overlap, up to 0.1       names, numbers and words of the question that it holds: vectors blur these
    - age, up to 0.03               of two that fit alike the newer one goes first
A memory that says nearly the same as a better one is left out. Of two about the same thing the later one goes first: it
may contradict the earlier one. Two are about the same thing where they are very near each other and share a name, or
where they are near, fit the question alike, and the user told a change with the later one ("we have moved to …").
Measured with `scripts/bench memory`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bus.messages.memory import Memory
from participants.services.memory_store import entities

CRITIC = 0.05
VOTE = 0.05
OVERLAP = 0.1
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
    kept = _without_repeats([_Ranked(points, candidate) for points, candidate in good[: _COMPARED * limit]])
    return [replace(one.candidate.memory, score=one.points) for one in _later_first(kept, limit)[:limit]]


class _Ranked:
    """A candidate with its rank, and what it says, read once however often it is compared."""

    def __init__(self, points: float, candidate: Candidate) -> None:
        self.points, self.candidate = points, candidate

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(entities.names(said(self.candidate.memory)))

    @cached_property
    def tells_a_change(self) -> bool:
        memory = self.candidate.memory
        return entities.tells_a_change(memory.query or memory.text)


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


def _without_repeats(best_first: Sequence[_Ranked]) -> list[_Ranked]:
    kept: list[_Ranked] = []
    for one in best_first:
        if not any(_says_the_same(one.candidate, other.candidate) for other in kept):
            kept.append(one)
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


def _later_first(best_first: Sequence[_Ranked], limit: int) -> list[_Ranked]:
    """Where an earlier memory stands before a later one about the same thing, they change places."""
    out = list(best_first)
    for i in range(min(limit, len(out))):
        for j in range(i + 1, len(out)):
            if _newer(out[j], out[i]) and _is_about_the_same(out[i], out[j]):
                out[i], out[j] = _at(out[i].points, out[j]), _at(out[j].points, out[i])
    return out


def _at(points: float, one: _Ranked) -> _Ranked:
    return _Ranked(points, one.candidate)


def _newer(a: _Ranked, b: _Ranked) -> bool:
    return a.candidate.memory.created_at > b.candidate.memory.created_at


def _is_about_the_same(earlier: _Ranked, later: _Ranked) -> bool:
    near = nearness(earlier.candidate.vector, later.candidate.vector)
    if near < RELATED_BY_CHANGE:
        return False
    if near >= RELATED and earlier.names & later.names:
        return True
    return abs(earlier.points - later.points) < ALIKE and later.tells_a_change


def nearness(a: Any, b: Any) -> float:
    """The cosine of two vectors of unit length; 0 where one is missing."""
    if a is None or b is None or len(a) != len(b):
        return 0.0
    return float(a @ b)
