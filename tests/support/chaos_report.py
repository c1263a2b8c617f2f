"""What became of each question, and how long did a kill interrupt?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.support.chaos_asker import Asked, Asker

SavedTurns = dict[str, list[dict[str, Any]]]
SCORE = 4
"""What the critic gives each answer."""


@dataclass(frozen=True)
class Kill:
    """One kill.

    Attributes:
        victim: The participant, or `all`.
        at: `time.monotonic()`.
        waiting: The questions that were open then.
    """

    victim: str
    at: float
    waiting: list[Asked]

    def interruption_s(self) -> float:
        """Until each of the waiting questions was heard of again."""
        return max((_next(asked.heard_at, self.at) - self.at for asked in self.waiting), default=0.0)

    def slowest(self) -> str:
        """The question that waited longest."""
        return max(self.waiting, key=lambda asked: _next(asked.heard_at, self.at)).query_id


def _next(times: list[float], after: float) -> float:
    return next((time for time in times if time > after), after)


@dataclass
class Verdict:
    """The figures of a run. The lists hold query ids."""

    accepted: int = 0
    answered: int = 0
    lost: list[str] = field(default_factory=list[str])
    """Accepted, and not in the ledger, or never ended."""
    failed: list[str] = field(default_factory=list[str])
    """Ended with words instead of an answer."""
    double: list[str] = field(default_factory=list[str])
    """More than one turn in the ledger, or two different ends."""
    misplaced: list[str] = field(default_factory=list[str])
    """In another session, out of order, or with an answer that is not this question's."""
    remembered: int = 0
    forgotten: list[str] = field(default_factory=list[str])
    """Answered, and not in memory."""
    doubly_remembered: list[str] = field(default_factory=list[str])
    graded: int = 0
    ungraded: list[str] = field(default_factory=list[str])
    """Answered, and without its grade, or remembered without it."""
    reconnects: int = 0
    kills: Counter[str] = field(default_factory=Counter[str])
    silences: list[tuple[float, Kill]] = field(default_factory=list[tuple[float, Kill]])
    """Seconds until each question that waited went on, by kill."""
    tools: Counter[str] = field(default_factory=Counter[str])
    """Outcomes of tool calls."""

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, double or misplaced."""
        turns = self.lost or self.double or self.misplaced
        return not (turns or self.forgotten or self.doubly_remembered or self.ungraded)

    def table(self) -> str:
        """For people."""
        kills = ", ".join(f"{name} {count}" for name, count in sorted(self.kills.items()))
        single = [silence for silence in self.silences if silence[1].victim != "all"]
        everyone = [silence for silence in self.silences if silence[1].victim == "all"]
        rows = [
            ("accepted", self.accepted),
            ("answered once", self.answered),
            ("failed with words", _named(self.failed)),
            ("answered twice", _named(self.double)),
            ("lost", _named(self.lost)),
            ("wrong session, order or answer", _named(self.misplaced)),
            ("remembered once", self.remembered),
            ("not remembered", _named(self.forgotten)),
            ("remembered twice", _named(self.doubly_remembered)),
            ("graded", self.graded),
            ("without their grade", _named(self.ungraded)),
            ("tool calls", ", ".join(f"{name} {count}" for name, count in sorted(self.tools.items()))),
            ("kills", kills),
            ("reconnects", self.reconnects),
            ("silence after a single kill", _spread(single)),
            ("silence after killing all", _spread(everyone)),
        ]
        return "\n".join(f"{name:32} {value}" for name, value in rows)


def _named(ids: list[str]) -> str:
    return f"{len(ids)}" + (f": {', '.join(ids[:10])}" if ids else "")


def _spread(silences: list[tuple[float, Kill]]) -> str:
    if not silences:
        return "none"
    ordered = sorted(silences, key=lambda silence: silence[0])
    p50, p95 = (ordered[round(share * (len(ordered) - 1))][0] for share in (0.5, 0.95))
    longest = ", ".join(f"{seconds:.2f} {kill.victim} {kill.slowest()}" for seconds, kill in ordered[:-4:-1])
    return f"p50 {p50:.2f} s, p95 {p95:.2f} s of {len(ordered)}; longest {longest}"


def unsettled(saved: SavedTurns, engrams: list[dict[str, Any]]) -> int:
    """How many answers still wait to be graded, kept, or kept with their grade."""
    kept = {engram["query_id"] for engram in engrams if engram.get("critic_score") is not None}
    answered = [turn for turns in saved.values() for turn in turns if turn["status"] == "answered"]
    return sum(turn["grade"] is None or turn["query_id"] not in kept for turn in answered)


def judge(askers: list[Asker], kills: list[Kill], saved: SavedTurns, engrams: list[dict[str, Any]]) -> Verdict:
    """Compare what clients saw with what the ledger and the memory hold."""
    verdict = Verdict(kills=Counter(kill.victim for kill in kills))
    verdict.silences = [(kill.interruption_s(), kill) for kill in kills if kill.waiting]
    for asker in askers:
        verdict.reconnects += asker.reconnects
        verdict.misplaced += [str(frame.get("query_id")) for frame in asker.strays]
        _judge_session(verdict, asker, saved[asker.session_id])
    _judge_memory(verdict, [turn for turns in saved.values() for turn in turns], engrams)
    return verdict


def _judge_session(verdict: Verdict, asker: Asker, turns: list[dict[str, Any]]) -> None:
    accepted = [asked for asked in asker.asked if asked.accepted_at]
    expected = [asked.query_id for asked in accepted]
    found = [str(turn["query_id"]) for turn in turns]
    verdict.accepted += len(accepted)
    verdict.double += [query_id for query_id, count in Counter(found).items() if count > 1]
    verdict.misplaced += sorted(set(found) - set(expected))
    if sorted(found) == sorted(expected) != found and found != expected:
        verdict.misplaced.append(f"{asker.session_id}: order")
    by_id = {turn["query_id"]: turn for turn in turns}
    for asked in accepted:
        _judge_turn(verdict, asked, by_id.get(asked.query_id))


def _judge_turn(verdict: Verdict, asked: Asked, turn: dict[str, Any] | None) -> None:
    if turn is None or turn["status"] not in ("answered", "failed", "cancelled") or not asked.ends:
        verdict.lost.append(asked.query_id)
        return
    verdict.tools.update(call["outcome"] for call in turn["tool_calls"])
    if len({str(end.get("answer")) for end in asked.ends}) > 1:
        verdict.double.append(asked.query_id)
    if turn["status"] != "answered":
        verdict.failed.append(asked.query_id)
    elif not turn["answer"] == asked.answer == asked.ends[0].get("answer"):
        verdict.misplaced.append(asked.query_id)
    else:
        verdict.answered += 1


def _judge_memory(verdict: Verdict, turns: list[dict[str, Any]], engrams: list[dict[str, Any]]) -> None:
    kept = Counter(str(engram["query_id"]) for engram in engrams)
    scores = {str(engram["query_id"]): engram.get("critic_score") for engram in engrams}
    answered = {str(turn["query_id"]): turn for turn in turns if turn["status"] == "answered"}
    verdict.remembered = sum(count == 1 for count in kept.values())
    verdict.doubly_remembered = [query_id for query_id, count in kept.items() if count > 1]
    verdict.forgotten = [query_id for query_id in answered if not kept[query_id]]
    verdict.misplaced += sorted(set(kept) - set(answered))
    for query_id, turn in answered.items():
        if (turn["grade"] or {}).get("score") == scores.get(query_id, SCORE) == SCORE:
            verdict.graded += 1
        else:
            verdict.ungraded.append(query_id)
