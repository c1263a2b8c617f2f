"""Where does a turn stand now, as its ledger and its generator know it?"""

from __future__ import annotations

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import EnvelopeError, RequestFailed, RequestTimeout
from bus.messages.generation import GetSnapshot, TurnSnapshot
from bus.messages.ledger import GetSession, GetTurn, Session, Turn, TurnInfo
from gateway import events
from gateway.events import OPEN, Event
from gateway.outbox import Key

_GENERATOR_WAIT_S = 1.0
"""A generator that is there answers in milliseconds; the ledger's journal is good enough without it."""


class Lookup:
    """Asks the ledger and the generator."""

    def __init__(self, bus: BusClient) -> None:
        self._bus = bus

    async def session(self, key: Key) -> list[TurnInfo] | None:
        """A session's open turns; None while nobody answers.

        Raises:
            RequestFailed: There is none for this user.
        """
        user, session_id = key
        try:
            answer = await self._bus.request(GetSession(open_only=True), Session, turn=TurnRef(session_id, user, ""))
        except (RequestTimeout, EnvelopeError):
            return None
        return answer.turns

    async def info(self, key: Key, query_id: str) -> TurnInfo | None:
        """What the ledger knows of a turn; None while nobody answers.

        Raises:
            RequestFailed: There is no such turn for this user.
        """
        user, session_id = key
        try:
            return (await self._bus.request(GetTurn(), Turn, turn=TurnRef(session_id, user, query_id))).turn
        except (RequestTimeout, EnvelopeError):
            return None

    async def standing(self, key: Key, query_id: str, known: TurnInfo | None = None) -> list[Event] | None:
        """A snapshot (with the position where the turn waits), or the last frame; None while nobody answers.

        Args:
            key: The user and the session.
            query_id: The turn.
            known: What the ledger has just said of it.
        """
        try:
            turn = known or await self.info(key, query_id)
        except RequestFailed as error:
            return [events.failed(error.code, error.message, False, query_id, key[1])]
        if turn is None:
            return None
        if turn.status not in OPEN:
            return [events.ended(turn.end, query_id, turn.session_id)]
        live = await self._live(key, query_id) if turn.status != "received" else None
        found = [events.snapshot(turn, live)]
        if turn.status == "received" and turn.position:
            found.append(events.queued(turn.position, query_id, turn.session_id))
        return found

    async def _live(self, key: Key, query_id: str) -> TurnSnapshot | None:
        """The generator's copy; None where it has none, or does not answer."""
        user, session_id = key
        turn = TurnRef(session_id, user, query_id)
        try:
            return await self._bus.request(GetSnapshot(), TurnSnapshot, turn=turn, timeout_s=_GENERATOR_WAIT_S)
        except (RequestFailed, RequestTimeout, EnvelopeError):
            return None
