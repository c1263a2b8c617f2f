# ruff: noqa: S608  statements are put together from the lists of columns below, never from values
"""What is saved of sessions and turns, and how is it read back?

The only writer of conversations.db. No decisions here: ledger.py makes them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.messages.ledger import PastTurn, Step, TurnEnd, TurnHit
from participants.services.conversation import search
from participants.services.conversation.approval_rows import ApprovalRows
from participants.services.conversation.branches import Link
from participants.services.conversation.ledger import Holder, OpenTurn
from participants.services.conversation.schema import CONVERSATIONS
from participants.services.conversation.stage_rows import StageRows, deletion_row
from participants.services.conversation.states import State
from participants.services.conversation.summary_rows import SummaryRows
from participants.services.conversation.texts import Draft
from participants.services.sqlite.database import Database
from participants.services.sqlite.migrate import FileKind

_encode = msgspec.json.Encoder().encode
_decode_step = msgspec.json.Decoder(Step).decode
_decode_end = msgspec.json.Decoder(TurnEnd).decode

_SESSION = "session_id, user_id, title, persona, head, created_at, updated_at, incognito"
_TURN = (
    "query_id, session_id, user_id, query, created_at, parent_id, state, attempt, n, fence, answer, thinking, figures"
)
_OPEN = (
    "seq, query_id, session_id, user_id, query, created_at, parent_id, depth, model, persona, state, "
    "fence, attempt, tries, holder, holder_pid, holder_name, cancelled, incognito"
)
_NEW_SESSION = f"INSERT INTO sessions ({_SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class SavedSession(Struct, frozen=True):
    """A row of `sessions`."""

    session_id: str
    user_id: str
    title: str
    persona: str
    head: str
    created_at: str
    updated_at: str
    incognito: bool = False


class SavedTurn(Struct, frozen=True):
    """A turn; its end where it has one."""

    ref: TurnRef
    query: str
    created_at: str
    parent_id: str
    state: State
    attempt: int
    n: int
    fence: int
    end: TurnEnd | None


class Store(Database):
    """conversations.db.

    All methods raise `StorageError` where the file cannot be used; nothing is half-written then.
    """

    def __init__(self, path: Path, kind: FileKind = CONVERSATIONS) -> None:
        super().__init__(path, kind)
        self.approvals = ApprovalRows(self)
        self.stages = StageRows(self)
        self.summaries = SummaryRows(self)

    # ------------------------------------------------------------------ sessions

    def session(self, session_id: str) -> SavedSession | None:
        """One session."""
        with self.read() as db:
            row = db.execute(f"SELECT {_SESSION} FROM sessions WHERE session_id = ?", (session_id,)).fetchone()
        return _session(row) if row else None

    def sessions(self, user_id: str, limit: int, before: str) -> list[tuple[SavedSession, int]]:
        """A user's sessions, newest first, each with its number of turns."""
        sql = (
            f"SELECT {_SESSION}, (SELECT count(*) FROM turns t WHERE t.session_id = s.session_id) FROM sessions s "
            f"WHERE user_id = ? AND (? = '' OR updated_at < ?) ORDER BY updated_at DESC LIMIT ?"
        )
        with self.read() as db:
            rows = db.execute(sql, (user_id, before, before, limit)).fetchall()
        return [(_session(row[:-1]), row[-1]) for row in rows]

    def create(self, session: SavedSession) -> None:
        """Save an empty session."""
        with self.write() as db:
            db.execute(_NEW_SESSION, msgspec.structs.astuple(session))

    def rename(self, session_id: str, title: str) -> None:
        """Save a title."""
        with self.write() as db:
            db.execute("UPDATE sessions SET title = ? WHERE session_id = ?", (title, session_id))

    def set_persona(self, session_id: str, persona: str, followers: Iterable[str]) -> None:
        """Save a session's persona, and that of its turns that follow."""
        with self.write() as db:
            db.execute("UPDATE sessions SET persona = ? WHERE session_id = ?", (persona, session_id))
            rows = [(persona, query_id) for query_id in followers]
            db.executemany("UPDATE turns SET persona = ? WHERE query_id = ?", rows)

    def delete(self, session: SavedSession) -> None:
        """Delete a session with all that belongs to it; the memory has to follow."""
        with self.write(durable=True) as db:
            _delete_turns(db, [link.query_id for link in self.links(session.session_id)])
            db.execute("DELETE FROM sessions WHERE session_id = ?", (session.session_id,))
            _note_deletion(db, session, None)

    def delete_turns(self, session: SavedSession, query_ids: list[str], head: str) -> None:
        """Delete some turns of a session, which then ends with `head`; the memory has to follow."""
        with self.write(durable=True) as db:
            _delete_turns(db, query_ids)
            db.execute("UPDATE sessions SET head = ? WHERE session_id = ?", (head, session.session_id))
            _note_deletion(db, session, query_ids)

    def show(self, session_id: str, head: str) -> None:
        """Save with which turn the shown branch ends."""
        with self.write() as db:
            db.execute("UPDATE sessions SET head = ? WHERE session_id = ?", (head, session_id))

    # ------------------------------------------------------------------ turns

    def turn(self, query_id: str) -> SavedTurn | None:
        """One turn."""
        with self.read() as db:
            row = db.execute(f"SELECT {_TURN} FROM turns WHERE query_id = ?", (query_id,)).fetchone()
        return _saved(row) if row else None

    def turns(self, query_ids: Sequence[str]) -> list[SavedTurn]:
        """These turns, oldest first."""
        sql = f"SELECT {_TURN} FROM turns WHERE query_id IN (SELECT value FROM json_each(?)) ORDER BY seq"
        with self.read() as db:
            rows = db.execute(sql, (_encode(list(query_ids)).decode(),)).fetchall()
        return [_saved(row) for row in rows]

    def find(self, user_id: str, text: str, limit: int) -> list[TurnHit]:
        """A user's ended turns with these words, the best first."""
        with self.read() as db:
            return search.find(db, user_id, text, limit)

    def links(self, session_id: str) -> list[Link]:
        """A session's turns and what each follows, oldest first."""
        sql = "SELECT query_id, parent_id FROM turns WHERE session_id = ? ORDER BY seq"
        with self.read() as db:
            return [Link(*row) for row in db.execute(sql, (session_id,))]

    def versions(self, turn: SavedTurn) -> list[str]:
        """The turns of its session that follow the same one, itself too, oldest first."""
        sql = "SELECT query_id FROM turns WHERE session_id = ? AND parent_id = ? ORDER BY seq"
        with self.read() as db:
            return [query_id for (query_id,) in db.execute(sql, (turn.ref.session_id, turn.parent_id))]

    def depth(self, session_id: str, query_id: str) -> int | None:
        """How many turns come before a turn on its branch; None where the session has no such turn."""
        sql = "SELECT depth FROM turns WHERE query_id = ? AND session_id = ?"
        with self.read() as db:
            row = db.execute(sql, (query_id, session_id)).fetchone()
        return row[0] if row else None

    def open_turns(self) -> list[OpenTurn]:
        """All turns without an end, in the order of acceptance."""
        sql = f"SELECT {_OPEN} FROM turns WHERE state IN ('received', 'claimed', 'waiting') ORDER BY seq"
        with self.read() as db:
            return [_open(row) for row in db.execute(sql).fetchall()]

    def branch(self, query_id: str, upto: str = "") -> Iterator[PastTurn]:
        """The ended turns from `query_id` back to `upto`, without that, newest first, read as they are asked for."""
        sql = "SELECT parent_id, state, steps, query, answer, untrusted FROM turns WHERE query_id = ?"
        while query_id and query_id != upto:
            with self.read() as db:
                row = db.execute(sql, (query_id,)).fetchone()
            if row is None:
                return
            parent_id, state, steps, query, answer, untrusted = row
            yield PastTurn(
                query=query,
                answer=answer,
                status=state,
                steps=self.steps(query_id) if steps else [],
                query_id=query_id,
                untrusted=bool(untrusted),
            )
            query_id = parent_id

    def submit(self, turn: OpenTurn, session: SavedSession, attachments: list[dict[str, Any]]) -> OpenTurn:
        """Accept a turn, and make or update its session; returns it with its number. Survives a power cut."""
        with self.write(durable=True) as db:
            db.execute(
                f"{_NEW_SESSION} ON CONFLICT (session_id) DO UPDATE SET title = excluded.title, "
                "persona = excluded.persona, head = excluded.head, updated_at = excluded.updated_at",
                msgspec.structs.astuple(session),
            )
            cursor = db.execute(
                "INSERT INTO turns (state, fence, attempt, tries, holder, holder_pid, holder_name, cancelled, "
                "query_id, session_id, user_id, parent_id, depth, created_at, model, persona, incognito, attachments, "
                "query) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *_holding(turn),
                    turn.ref.query_id,
                    turn.ref.session_id,
                    turn.ref.user_id,
                    turn.parent_id,
                    turn.depth,
                    turn.created_at,
                    turn.model,
                    turn.persona,
                    turn.incognito,
                    _encode(attachments).decode() if attachments else "",
                    turn.query,
                ),
            )
            seq = cursor.lastrowid or 0
        return replace(turn, seq=seq)

    def update(self, turn: OpenTurn) -> None:
        """Save who holds an open turn, and whether it is to stop."""
        with self.write() as db:
            db.execute(
                "UPDATE turns SET state = ?, fence = ?, attempt = ?, tries = ?, holder = ?, holder_pid = ?, "
                "holder_name = ?, cancelled = ? WHERE query_id = ?",
                (*_holding(turn), turn.ref.query_id),
            )

    def end(self, turn: OpenTurn, end: TurnEnd, now: str, n: int | None = None) -> None:
        """Save a turn's end, whole; it survives a power cut. The draft has done its work.

        Args:
            turn: With the fence whose holder may repeat this without harm.
            end: The end.
            now: ISO 8601.
            n: The last chunk number in the text, where it is not the draft's.
        """
        query_id = turn.ref.query_id
        figures = _encode(replace(end, answer="", thinking="")).decode()
        with self.write(durable=True) as db:
            db.execute(
                "UPDATE turns SET state = ?, ended_at = ?, fence = ?, answer = ?, thinking = ?, figures = ?, "
                "untrusted = ?, n = coalesce(?, (SELECT n FROM drafts WHERE query_id = ?), -1), "
                "steps = (SELECT count(*) FROM steps WHERE query_id = ?) WHERE query_id = ?",
                (
                    *(end.status, now, turn.fence, end.answer, end.thinking, figures, end.untrusted),
                    *(n, query_id, query_id, query_id),
                ),
            )
            search.add(db, query_id)
            db.execute("DELETE FROM drafts WHERE query_id = ?", (query_id,))
            db.execute("UPDATE approvals SET state = 'void' WHERE query_id = ? AND state = 'open'", (query_id,))
            db.execute("UPDATE sessions SET updated_at = ? WHERE session_id = ?", (now, turn.ref.session_id))

    # ------------------------------------------------------------------ the journal

    def draft(self, query_id: str) -> Draft:
        """What a turn's holder journalled last."""
        with self.read() as db:
            sql = "SELECT attempt, n, answer, thinking FROM drafts WHERE query_id = ?"
            row = db.execute(sql, (query_id,)).fetchone()
        return Draft(*row) if row else Draft()

    def journal(self, turn: OpenTurn, n: int, answer: str | None, thinking: str | None) -> None:
        """Save the text so far; None keeps what this attempt said before. An older entry that is late does nothing."""
        sql = (
            "INSERT INTO drafts (query_id, attempt, n, answer, thinking) "
            "VALUES (:id, :attempt, :n, coalesce(:answer, ''), coalesce(:thinking, '')) "
            "ON CONFLICT (query_id) DO UPDATE SET attempt = excluded.attempt, n = excluded.n, "
            "answer = coalesce(:answer, iif(attempt = :attempt, answer, '')), "
            "thinking = coalesce(:thinking, iif(attempt = :attempt, thinking, '')) "
            "WHERE attempt < :attempt OR n <= :n"
        )
        values = {"id": turn.ref.query_id, "attempt": turn.attempt, "n": n, "answer": answer, "thinking": thinking}
        with self.write() as db:
            db.execute(sql, values)

    def steps(self, query_id: str) -> list[Step]:
        """A turn's journalled steps, in order."""
        with self.read() as db:
            rows = db.execute("SELECT body FROM steps WHERE query_id = ? ORDER BY n", (query_id,)).fetchall()
        return [_decode_step(row[0]) for row in rows]

    def step(self, query_id: str, step: Step) -> None:
        """Save a step; the same number again replaces it."""
        with self.write() as db:
            db.execute("INSERT OR REPLACE INTO steps VALUES (?, ?, ?)", (query_id, step.n, _encode(step)))


def _delete_turns(db: sqlite3.Connection, query_ids: Sequence[str]) -> None:
    chosen = "query_id IN (SELECT value FROM json_each(?))"
    ids = _encode(list(query_ids)).decode()
    search.drop(db, chosen, ids)
    for table in ("steps", "drafts", "approvals", "turns"):
        db.execute(f"DELETE FROM {table} WHERE {chosen}", (ids,))
    db.execute("DELETE FROM summaries WHERE upto IN (SELECT value FROM json_each(?))", (ids,))


def _note_deletion(db: sqlite3.Connection, session: SavedSession, query_ids: list[str] | None) -> None:
    if not session.incognito:
        row = deletion_row(TurnRef(session.session_id, session.user_id), query_ids)
        db.execute("INSERT INTO deletions (user_id, session_id, query_ids) VALUES (?, ?, ?)", row)


def _session(row: Sequence[Any]) -> SavedSession:
    *texts, incognito = row
    return SavedSession(*texts, incognito=bool(incognito))


def _saved(row: sqlite3.Row) -> SavedTurn:
    query_id, session_id, user_id, query, created_at, parent_id, state, attempt, n, fence, *texts, figures = row
    end = replace(_decode_end(figures), answer=texts[0], thinking=texts[1]) if figures else None
    ref = TurnRef(session_id, user_id, query_id)
    return SavedTurn(ref, query, created_at, parent_id, State(state), attempt, n, fence, end)


def _holding(turn: OpenTurn) -> tuple[str | int, ...]:
    """Who holds the turn, in the order of the columns."""
    holder = turn.holder or Holder("")
    counts = (turn.fence, turn.attempt, turn.tries)
    return (str(turn.state), *counts, holder.boot, holder.pid, holder.name, int(turn.cancelled))


def _open(row: sqlite3.Row) -> OpenTurn:
    seq, query_id, session_id, user_id, query, created_at, parent_id, depth, model, persona, state, *rest = row
    fence, attempt, tries, boot, pid, name, cancelled, incognito = rest
    return OpenTurn(
        seq=seq,
        ref=TurnRef(session_id, user_id, query_id),
        query=query,
        created_at=created_at,
        parent_id=parent_id,
        depth=depth,
        model=model,
        persona=persona,
        state=State(state),
        fence=fence,
        attempt=attempt,
        tries=tries,
        holder=Holder(boot, pid, name) if boot else None,
        cancelled=bool(cancelled),
        incognito=bool(incognito),
    )
