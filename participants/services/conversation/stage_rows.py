# ruff: noqa: S608  statements are put together from constants, never from values
"""What is saved of an answer's way after its end: the grade, the vote, what the memory has, and deletions?

`revision` grows with each grade and vote. The memory says with which one it has a turn, so that what was done
for an older one is done again.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from bus.envelope import TurnRef
from bus.messages.critique import Grade
from bus.messages.ledger import Deletion
from participants.services.conversation.schema import NOT_INGESTED, UNGRADED
from participants.services.sqlite.database import Database

_encode = msgspec.json.Encoder().encode
_decode_grade = msgspec.json.Decoder(Grade).decode
_decode_ids = msgspec.json.Decoder(list[str]).decode


class Stage(Struct, frozen=True):
    """How far a turn is after its answer."""

    grade: Grade | None = None
    sentiment: int = 0
    revision: int = 0


class StageRows:
    """The columns and the table of deletions. All methods raise `StorageError` where the file cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, query_id: str) -> Stage:
        """One turn's stage."""
        sql = "SELECT grade, sentiment, revision FROM turns WHERE query_id = ?"
        with self._database.read() as db:
            row = db.execute(sql, (query_id,)).fetchone()
        if row is None:
            return Stage()
        grade, sentiment, revision = row
        return Stage(_decode_grade(grade) if grade else None, sentiment, revision)

    def ungraded(self, limit: int) -> list[str]:
        """Answered turns without a grade, oldest first."""
        return self._ids(UNGRADED, limit)

    def not_ingested(self, limit: int) -> list[str]:
        """Answered turns that the memory has not got, or not as they are now, oldest first."""
        return self._ids(NOT_INGESTED, limit)

    def _ids(self, condition: str, limit: int) -> list[str]:
        sql = f"SELECT query_id FROM turns WHERE {condition} ORDER BY seq LIMIT ?"
        with self._database.read() as db:
            return [query_id for (query_id,) in db.execute(sql, (limit,))]

    def save_grade(self, query_id: str, grade: Grade) -> bool:
        """Save a grade where there is none; whether it was saved."""
        sql = "UPDATE turns SET grade = ?, revision = revision + 1 WHERE query_id = ? AND grade = ''"
        with self._database.write() as db:
            return db.execute(sql, (_encode(grade).decode(), query_id)).rowcount > 0

    def save_vote(self, query_id: str, sentiment: int) -> bool:
        """Save a vote; whether it is another one. It survives a power cut: its user was told so."""
        sql = "UPDATE turns SET sentiment = ?, revision = revision + 1 WHERE query_id = ? AND sentiment <> ?"
        with self._database.write(durable=True) as db:
            return db.execute(sql, (sentiment, query_id, sentiment)).rowcount > 0

    def save_ingested(self, query_id: str, revision: int) -> None:
        """Save that the memory has a turn, as it was at this revision."""
        sql = "UPDATE turns SET ingested = max(ingested, ?) WHERE query_id = ? AND ? <= revision"
        with self._database.write() as db:
            db.execute(sql, (revision, query_id, revision))

    # ------------------------------------------------------------------ deletions

    def deletions(self, limit: int) -> list[Deletion]:
        """What the memory has still to forget, oldest first."""
        sql = "SELECT deletion_id, user_id, session_id, query_ids FROM deletions ORDER BY deletion_id LIMIT ?"
        with self._database.read() as db:
            rows = db.execute(sql, (limit,)).fetchall()
        return [
            Deletion(deletion_id=number, user_id=user, session_id=session, query_ids=_decode_ids(ids) if ids else None)
            for number, user, session, ids in rows
        ]

    def followed(self, deletion_id: int) -> None:
        """The memory has forgotten it."""
        with self._database.write() as db:
            db.execute("DELETE FROM deletions WHERE deletion_id = ?", (deletion_id,))


def deletion_row(ref: TurnRef, query_ids: list[str] | None) -> tuple[str, str, str]:
    """The values of a row of `deletions`, without its number."""
    return ref.user_id, ref.session_id, _encode(query_ids).decode() if query_ids is not None else ""
