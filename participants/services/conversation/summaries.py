"""What is to be summed up of a session, and which summary is taken?"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from bus import envelope as wire
from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.ledger import PastTurn, SaveSummary, SummariseTurns, Summary, TurnsToSummarise
from participants.services.conversation import branches, checks, summary_rows, texts
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.store import SavedSession, Store


class Summaries:
    """Requests of who sums up. None is granted while a turn of the session runs: its prompt is made already."""

    def __init__(self, store: Store, keeper: Keeper, bus: BusClient) -> None:
        self._store, self._keeper, self._bus = store, keeper, bus

    def to_summarise(self, message: SummariseTurns, request: Envelope) -> TurnsToSummarise:
        """The oldest turns that no summary stands for."""
        session = self._idle_session(request)
        line = branches.line(self._store.links(session.session_id), session.head)
        before = summary_rows.newest(line, self._store.summaries.of_session(session.session_id))
        done = line.index(before.upto) + 1 if before else 0
        wanted = line[done : max(done, len(line) - message.tail)]
        taken = self._fitting(self._past(query_id) for query_id in wanted)
        return TurnsToSummarise(
            turns=[turn for turn in taken if texts.in_history(turn)],
            upto=taken[-1].query_id if taken else "",
            before=before,
        )

    def _past(self, query_id: str) -> PastTurn:
        """Question and answer alone: what tools gave is in the answer, or was not needed for it."""
        return replace(next(self._store.branch(query_id)), steps=[])

    def _fitting(self, past: Iterable[PastTurn]) -> list[PastTurn]:
        """The oldest that fit into a message."""
        room, out = int(self._bus.config.max_message_bytes * 0.5), list[PastTurn]()
        for turn in past:
            room -= len(wire.encode_payload(turn))
            if room < 0 and out:
                break
            out.append(turn)
        return out

    def save(self, message: SaveSummary, request: Envelope) -> Done:
        """Save a summary, where the turns that it stands for are still those that were summed up."""
        session = self._idle_session(request)
        line = branches.line(self._store.links(session.session_id), session.head)
        before = summary_rows.newest(line, self._store.summaries.of_session(session.session_id))
        if before is not None and before.upto == message.upto:
            return Done()
        if message.upto not in line or (before.upto if before else "") != message.before:
            raise RequestFailed("conflict", "The conversation has changed since: sum it up anew.")
        turns = line.index(message.upto) + 1
        new = self._store.branch(message.upto, message.before)
        summary = Summary(
            text=message.text,
            upto=message.upto,
            turns=turns,
            created_at=wire.now_utc(),
            untrusted=(before is not None and before.untrusted) or any(turn.untrusted for turn in new),
        )
        self._store.summaries.save(session.session_id, summary)
        self._keeper.changed(TurnRef(session.session_id, session.user_id), "updated")
        return Done()

    def _idle_session(self, request: Envelope) -> SavedSession:
        session = self._store.session(request.session_id)
        if session is None or session.user_id != request.user_id:
            raise checks.no_session(request.session_id)
        if self._keeper.of_session(session.session_id):
            raise RequestFailed("running", "A question of this conversation is being answered: wait for its end.")
        return session
