"""What may a user do with sessions, and see of turns?"""

from __future__ import annotations

import structlog
from msgspec.structs import replace

from bus import envelope as wire
from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.messages.control import Done
from bus.messages.generation import ResponseGeneration
from bus.messages.ledger import (
    CreateSession,
    DeleteSession,
    DeleteTurn,
    GetSession,
    GetTurn,
    ListSessions,
    RenameSession,
    SearchTurns,
    Session,
    Sessions,
    SetPersona,
    ShowBranch,
    Turn,
    TurnInfo,
    TurnsFound,
)
from participants.services.conversation import branches, checks, summary_rows, texts, views
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.store import SavedSession, SavedTurn, Store
from participants.services.conversation.texts import Draft
from participants.services.sqlite.errors import StorageError

log = structlog.get_logger()


class SessionRequests:
    """Requests of those who look at conversations."""

    def __init__(self, store: Store, keeper: Keeper, bus: BusClient) -> None:
        self._store, self._keeper, self._bus = store, keeper, bus

    def create(self, message: CreateSession, request: Envelope) -> Session:
        """Make an empty session, or give the one that there is."""
        ref = checks.new_session(request)
        known = self._store.session(ref.session_id)
        if known is None:
            now = wire.now_utc()
            title = checks.title(message.title) if message.title else ""
            known = SavedSession(ref.session_id, ref.user_id, title, "", "", now, now, message.incognito)
            self._store.create(known)
            self._keeper.changed(ref, "created")
        elif known.user_id != ref.user_id:
            raise checks.no_session(ref.session_id)
        checks.incognito(known.incognito, asked=message.incognito)
        return self._session(known)

    def get(self, message: GetSession, request: Envelope) -> Session:
        """A session with its turns."""
        return self._session(self._own_session(request, request.session_id), open_only=message.open_only)

    def list_(self, message: ListSessions, request: Envelope) -> Sessions:
        """A user's sessions."""
        found = self._store.sessions(request.user_id, message.limit, message.before)
        running = {turn.ref.session_id for turn in self._keeper.turns.values()}
        return Sessions(sessions=[views.info(s, turns, s.session_id in running) for s, turns in found])

    def search(self, message: SearchTurns, request: Envelope) -> TurnsFound:
        """A user's turns that hold some words."""
        return TurnsFound(hits=self._store.find(request.user_id, message.text, message.limit))

    def rename(self, message: RenameSession, request: Envelope) -> Done:
        """Give a session a title."""
        session = self._own_session(request, request.session_id)
        title = checks.title(message.title)
        if title != session.title:
            self._store.rename(session.session_id, title)
            self._keeper.changed(TurnRef(session.session_id, session.user_id), "renamed")
        return Done()

    def show(self, _message: ShowBranch, request: Envelope) -> Session:
        """Show the branch of a turn."""
        ref = self._saved_turn(request).ref
        head = branches.newest_end(self._store.links(ref.session_id), ref.query_id)
        session = self._own_session(request, ref.session_id)
        if head != session.head:
            self._store.show(ref.session_id, head)
            self._keeper.changed(TurnRef(ref.session_id, ref.user_id), "turns")
        return self._session(replace(session, head=head))

    def set_persona(self, message: SetPersona, request: Envelope) -> Done:
        """Change a session's persona; who waits for an answer without having named another one follows."""
        session = self._own_session(request, request.session_id)
        persona = checks.persona(message.persona)
        if persona == session.persona:
            return Done()
        followers = [
            turn
            for turn in self._keeper.of_session(session.session_id)
            if turn.attempt == 0 and turn.ref.query_id != request.query_id and turn.persona == session.persona
        ]
        self._store.set_persona(session.session_id, persona, [turn.ref.query_id for turn in followers])
        for turn in followers:
            self._keeper.put(replace(turn, persona=persona))
        self._keeper.changed(TurnRef(session.session_id, session.user_id), "updated")
        return Done()

    def delete(self, _message: DeleteSession, request: Envelope) -> Done:
        """Stop what runs, and delete all; what comes in late finds nothing, and makes nothing."""
        session = self._own_session(request, request.session_id)
        running = self._keeper.of_session(session.session_id)
        self._stop(running)
        self._store.delete(session)
        self._gone(running, session, "deleted", "The conversation was deleted.")
        return Done()

    def delete_turn(self, _message: DeleteTurn, request: Envelope) -> Done:
        """Stop what runs of it, and delete it with all that follows; what is shown then ends before it."""
        ref = self._saved_turn(request).ref
        session = self._own_session(request, ref.session_id)
        links = self._store.links(ref.session_id)
        gone = branches.with_all_after(links, ref.query_id)
        running = [turn for turn in self._keeper.of_session(ref.session_id) if turn.ref.query_id in gone]
        self._stop(running)
        head = session.head if session.head not in gone else dict(links)[ref.query_id]
        self._store.delete_turns(session, gone, head)
        self._gone(running, session, "turns", "The question was deleted.")
        return Done()

    def _stop(self, turns: list[OpenTurn]) -> None:
        for turn in turns:
            self._keeper.ask_to_stop(turn)

    def _gone(self, turns: list[OpenTurn], session: SavedSession, change: str, why: str) -> None:
        for turn in turns:
            self._keeper.drop(turn.ref.query_id)
            end = texts.stopped(Draft(), [], why)
            self._bus.publish(ResponseGeneration(query="", end=end), turn=turn.ref)
        self._keeper.changed(TurnRef(session.session_id, session.user_id), change)
        self._keeper.advance()
        self._forget()

    def _forget(self) -> None:
        """What was deleted is gone from the log as well, not only from the file."""
        try:
            self._store.checkpoint(truncate=True)
        except StorageError as error:
            log.error("storage_failed", reason=str(error))

    def turn(self, _message: GetTurn, request: Envelope) -> Turn:
        """One turn."""
        saved = self._saved_turn(request)
        placed = replace(self._view(saved), after=saved.parent_id, versions=self._store.versions(saved))
        return Turn(turn=views.fit_turn(placed, self._room))

    def _own_session(self, request: Envelope, session_id: str) -> SavedSession:
        session = self._store.session(session_id)
        if session is None or session.user_id != request.user_id:
            raise checks.no_session(session_id)
        return session

    def _session(self, session: SavedSession, *, open_only: bool = False) -> Session:
        links = self._store.links(session.session_id)
        running = [turn.ref.query_id for turn in self._keeper.of_session(session.session_id)]
        wanted = running if open_only else branches.line(links, session.head)
        versions = branches.versions(links)
        turns = [
            replace(self._view(turn), after=turn.parent_id, versions=versions[turn.parent_id])
            for turn in self._store.turns(wanted)
        ]
        summaries = self._store.summaries.of_session(session.session_id)
        return Session(
            session=views.info(session, len(links), bool(running)),
            turns=views.fit(turns, self._room),
            summary=summary_rows.newest(branches.line(links, session.head), summaries),
        )

    def _view(self, saved: SavedTurn) -> TurnInfo:
        query_id = saved.ref.query_id
        running = self._keeper.turns.get(query_id)
        if running is None:
            return views.ended(saved, self._store.stages.of(query_id))
        return views.open_turn(
            running,
            self._keeper.position(query_id),
            self._store.draft(query_id),
            self._store.steps(query_id),
            self._store.approvals.of_turn(query_id),
        )

    @property
    def _room(self) -> int:
        """Bytes that an answer may have."""
        return int(self._bus.config.max_message_bytes * 0.9)

    def _saved_turn(self, request: Envelope) -> SavedTurn:
        saved = self._store.turn(request.query_id)
        if saved is None or request.session_id not in ("", saved.ref.session_id):
            raise checks.no_turn(request.query_id)
        checks.owner(saved.ref, request)
        return saved
