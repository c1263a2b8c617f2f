"""What may those do who work on answers: the critic, the memory, and the user who votes?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bus import envelope as wire
from bus.client import BusClient
from bus.envelope import Envelope
from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.critique import UserFeedback
from bus.messages.ledger import (
    Deletions,
    EndedTurn,
    FollowedDeletion,
    GradeTurn,
    IngestedTurn,
    Overdue,
    OverdueDeletions,
    OverdueTurns,
    VoteTurn,
)
from participants.services.conversation import checks, views
from participants.services.conversation.states import State
from participants.services.conversation.store import SavedTurn, Store


class Stages:
    """Requests about answered turns, of all users: an envelope's user_id is checked where there is one."""

    def __init__(self, store: Store, bus: BusClient) -> None:
        self._store, self._bus = store, bus

    def overdue(self, message: OverdueTurns, _request: Envelope) -> Overdue:
        """Turns that wait for a grade, or for the memory; as many as fit into a message."""
        stages = {"graded": self._store.stages.ungraded, "ingested": self._store.stages.not_ingested}
        if message.stage not in stages:
            raise RequestFailed("bad_request", f"stage must be graded or ingested, not {message.stage[:50]!r}.")
        return Overdue(turns=list(self._fitting(stages[message.stage](message.limit))))

    def _fitting(self, query_ids: Iterable[str]) -> Iterator[EndedTurn]:
        room = int(self._bus.config.max_message_bytes * 0.9)
        for query_id in query_ids:
            turn = views.fit_turn(self._ended(query_id), room)
            room -= len(wire.encode_payload(turn))
            if room < 0:
                return
            yield turn

    def _ended(self, query_id: str) -> EndedTurn:
        saved = self._store.turn(query_id)
        if saved is None or saved.end is None:
            raise checks.no_turn(query_id)
        before = self._store.turn(saved.parent_id) if saved.parent_id else None
        stage = self._store.stages.of(query_id)
        return EndedTurn(
            session_id=saved.ref.session_id,
            user_id=saved.ref.user_id,
            query_id=query_id,
            query=saved.query,
            created_at=saved.created_at,
            end=saved.end,
            revision=stage.revision,
            grade=stage.grade,
            sentiment=stage.sentiment,
            previous=before.query if before else "",
        )

    def grade(self, message: GradeTurn, request: Envelope) -> Done:
        """Save a grade; the first one stays."""
        self._store.stages.save_grade(self._answered(request).ref.query_id, message.grade)
        return Done()

    def ingested(self, message: IngestedTurn, request: Envelope) -> Done:
        """The memory has a turn. One that is gone meanwhile has nothing to note; the memory hears of that as well."""
        self._store.stages.save_ingested(request.query_id, message.revision)
        return Done()

    def vote(self, message: VoteTurn, request: Envelope) -> Done:
        """Save the owner's vote, and say so."""
        saved = self._answered(request)
        checks.owner(saved.ref, request)
        if self._store.stages.save_vote(saved.ref.query_id, message.sentiment):
            self._bus.publish(UserFeedback(sentiment=message.sentiment), turn=saved.ref)
        return Done()

    def deletions(self, message: OverdueDeletions, _request: Envelope) -> Deletions:
        """What the memory has still to forget."""
        return Deletions(deletions=self._store.stages.deletions(message.limit))

    def followed(self, message: FollowedDeletion, _request: Envelope) -> Done:
        """The memory has forgotten it."""
        self._store.stages.followed(message.deletion_id)
        return Done()

    def _answered(self, request: Envelope) -> SavedTurn:
        saved = self._store.turn(request.query_id)
        if saved is None:
            raise checks.no_turn(request.query_id)
        if request.user_id:
            checks.owner(saved.ref, request)
        if saved.state is not State.ANSWERED:
            raise RequestFailed("not_answered", "This question has no answer (yet).")
        return saved
