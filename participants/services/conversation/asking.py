"""What happens when somebody asks a question, or wants it stopped?"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from msgspec.structs import replace

from bus import envelope as wire
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.fault_points import FaultPoint, reached
from bus.messages.control import Done
from bus.messages.query import CancelTurn, SubmitTurn, TurnAccepted
from participants.services.conversation import checks, ledger, texts
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.handover import Handover
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.states import State
from participants.services.conversation.store import SavedSession, SavedTurn, Store
from participants.services.sqlite.errors import StorageError

log = structlog.get_logger()


class Asking:
    """Requests of those who ask."""

    def __init__(
        self, store: Store, keeper: Keeper, handover: Handover, rules: Callable[[], ConversationConfig]
    ) -> None:
        self._store, self._keeper, self._handover, self._rules = store, keeper, handover, rules

    def submit(self, message: SubmitTurn, request: Envelope) -> TurnAccepted:
        """Accept a question; it is committed when this returns."""
        reached(FaultPoint.QUESTION_HEARD)
        ref = checks.new_turn(request)
        known = self._store.turn(ref.query_id)
        if known is not None:
            return self._accepted_before(known, request)
        checks.question(message, self._rules())
        session = self._store.session(ref.session_id)
        if session is not None and session.user_id != ref.user_id:
            raise checks.no_session(ref.session_id)
        if session is not None:
            checks.incognito(session.incognito, asked=message.incognito)
        checks.room(len(self._keeper.of_session(ref.session_id)), self._rules())
        turn, after = self._new_turn(message, ref, session)
        turn, claim = self._handover.grant(turn)
        turn = self._store.submit(turn, after, message.attachments)
        reached(FaultPoint.QUESTION_SAVED)
        position = self._keeper.add(turn, claim)
        reached(FaultPoint.QUESTION_ANNOUNCED)
        if session is None or session.title != after.title:
            self._keeper.changed(TurnRef(ref.session_id, ref.user_id), "created" if session is None else "renamed")
        return TurnAccepted(
            query_id=ref.query_id, session_id=ref.session_id, created_at=turn.created_at, position=position
        )

    def _new_turn(
        self, message: SubmitTurn, ref: TurnRef, session: SavedSession | None
    ) -> tuple[OpenTurn, SavedSession]:
        now = wire.now_utc()
        before = session or SavedSession(ref.session_id, ref.user_id, "", "", "", now, now, message.incognito)
        persona = checks.persona(message.persona) if message.persona.strip() else before.persona
        parent_id, depth = self._place(message, before)
        turn = OpenTurn(
            seq=ledger.NEWEST,
            ref=ref,
            query=message.query,
            created_at=now,
            parent_id=parent_id,
            depth=depth,
            model=message.model,
            persona=persona,
            incognito=before.incognito,
        )
        title = before.title or texts.title_of(message.query)
        return turn, replace(before, title=title, persona=persona, head=ref.query_id, updated_at=now)

    def _place(self, message: SubmitTurn, session: SavedSession) -> tuple[str, int]:
        """Which turn the new one follows, and how many come before it."""
        parent_id = session.head if message.after is None else message.after
        if not parent_id:
            return "", 0
        depth = self._store.depth(session.session_id, parent_id)
        if depth is None:
            raise checks.no_turn(parent_id)
        return parent_id, depth + 1

    def _accepted_before(self, known: SavedTurn, request: Envelope) -> TurnAccepted:
        ref = known.ref
        if request.user_id != ref.user_id or request.session_id not in ("", ref.session_id):
            raise RequestFailed("conflict", f"{ref.query_id!r} is the id of another turn: choose a new one.")
        running = self._keeper.turns.get(ref.query_id)
        return TurnAccepted(
            query_id=ref.query_id,
            session_id=ref.session_id,
            created_at=known.created_at,
            position=self._keeper.position(ref.query_id),
            status=running.state if running else known.state,
            query=known.query,
        )

    def cancel(self, _message: CancelTurn, request: Envelope) -> Done:
        """Stop a turn: at once where nobody answers it, else its holder ends it, or `cancel_grace_s` does."""
        turn = self._keeper.turns.get(request.query_id)
        if turn is None:
            self._saved_turn(request)
            return Done()
        checks.owner(turn.ref, request)
        if turn.state is State.RECEIVED:
            if turn.holder is not None:
                self._keeper.ask_to_stop(turn)
            self._keeper.end_stopped(turn)
            return Done()
        stopping = ledger.stopping(turn, self._keeper.now, self._rules())
        self._keeper.put(stopping)
        self._keeper.ask_to_stop(stopping)
        if not turn.cancelled:
            self._save_if_possible(stopping)
        return Done()

    def _save_if_possible(self, turn: OpenTurn) -> None:
        """A stop is carried out also where it cannot be saved."""
        try:
            self._store.update(turn)
        except StorageError as error:
            log.error("storage_failed", reason=str(error), query_id=turn.ref.query_id)

    def _saved_turn(self, request: Envelope) -> SavedTurn:
        saved = self._store.turn(request.query_id)
        if saved is None:
            raise checks.no_turn(request.query_id)
        checks.owner(saved.ref, request)
        return saved
