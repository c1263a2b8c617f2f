"""Which frames of a turn may one socket see now, so that it sees each exactly once and in order?

A gate stands between the live events of one turn and one socket. Open, it lets chunks pass that
continue the text. Closed, it holds what comes until a snapshot (or `accepted`) says where the text
stands; then it lets pass what the snapshot does not hold yet. A chunk that does not continue the
text closes it. No I/O.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from gateway.events import Event

_CHUNKS = frozenset({"answer_chunk", "thinking_chunk"})
_LONGEST_HELD = 1000


class Verdict(Enum):
    """What to do with an event."""

    SEND = "send"
    DROP = "drop"
    HELD = "held"
    LOST = "lost"
    """Held, and something before it is missing: get a snapshot."""


class Gate:
    """One turn, as one socket knows it."""

    def __init__(self, *, closed: bool) -> None:
        self.closed = closed
        self.asked = False
        """Whether somebody is getting a snapshot."""
        self.attempt, self.n = 0, -1
        self._held: list[Event] = []
        self._overflowed = False

    def offer(self, event: Event) -> Verdict:
        """What to do with a live event."""
        if self.closed:
            self._hold(event)
            return Verdict.HELD
        verdict = self._pass(event)
        if verdict is Verdict.LOST:
            self.close()
            self._hold(event)
        return verdict

    def close(self) -> None:
        """Hold everything until a snapshot comes."""
        self.closed = True

    def open(self, first: Sequence[Event] = ()) -> list[Event]:
        """The turn was just accepted: nothing of it was missed. What to send."""
        self.closed = False
        return [*first, *self._let_out()]

    def resume(self, snapshot: Event, others: Sequence[Event] = ()) -> list[Event]:
        """A snapshot is there: what to send, itself first, then `others`, then what was held and is newer.

        The gate stays closed where even so something is missing.
        """
        self.closed = False
        self.attempt, self.n = snapshot.attempt, snapshot.n
        self._held = after_snapshot(snapshot, self._held)
        return [snapshot, *others, *self._let_out()]

    def _let_out(self) -> list[Event]:
        held, self._held = self._held, []
        if self._overflowed:
            self._overflowed = False
            self.close()
            return []
        out: list[Event] = []
        for index, event in enumerate(held):
            verdict = self._pass(event)
            if verdict is Verdict.LOST:
                self._held = held[index:]
                self.close()
                break
            if verdict is Verdict.SEND:
                out.append(event)
        return out

    def _hold(self, event: Event) -> None:
        self._held.append(event)
        if len(self._held) > _LONGEST_HELD:
            self._held.clear()
            self._overflowed = True

    def _pass(self, event: Event) -> Verdict:
        if event.kind not in _CHUNKS:
            return Verdict.SEND
        expected = self.n + 1 if event.attempt == self.attempt else 0
        if event.attempt < self.attempt or event.n < expected:
            return Verdict.DROP
        if event.n > expected:
            return Verdict.LOST
        self.attempt, self.n = event.attempt, event.n
        return Verdict.SEND


def after_snapshot(snapshot: Event, held: Sequence[Event]) -> list[Event]:
    """The held events that add something to the snapshot. Chunks are left to the numbers.

    States up to the last one that equals the snapshot's are older than it.
    """
    states = [index for index, event in enumerate(held) if event.key == snapshot.key]
    newer_from = states[-1] + 1 if states else 0
    return [
        event
        for index, event in enumerate(held)
        if not (event.kind == "agent_state" and index < newer_from and _agent(event) == _agent(snapshot))
        and not _known(event, snapshot)
    ]


def _agent(event: Event) -> str:
    return event.key.partition("/")[0]


def _known(event: Event, snapshot: Event) -> bool:
    outcome = snapshot.calls.get(event.key)
    if event.kind == "tool_start":
        return outcome is not None
    return event.kind == "tool_result" and outcome not in (None, "running")
