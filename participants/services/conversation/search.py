# ruff: noqa: S608  statements are put together from constants, never from values
"""Which turns hold these words?

The index is filled when a turn ends, so that accepting a question writes no more pages than it must.
It holds no text of its own: it refers to the rows of `turns`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from bus.messages.ledger import Mark, TurnHit
from participants.services.conversation import substrings

_MOST_WORDS = 16
_SNIPPET_WORDS = 16
_OPENED, _CLOSED = "\x02", "\x03"
_ENDED = "state IN ('answered', 'failed', 'cancelled')"

MIGRATION = (
    """CREATE VIRTUAL TABLE said USING fts5(
        query, answer, content = 'turns', content_rowid = 'seq', tokenize = "unicode61 remove_diacritics 2"
    )""",
    f"INSERT INTO said (rowid, query, answer) SELECT seq, query, answer FROM turns WHERE {_ENDED}",
)


def add(db: sqlite3.Connection, query_id: str) -> None:
    """Index a turn that has just ended; within the transaction that saves its end."""
    db.execute(
        "INSERT INTO said (rowid, query, answer) SELECT seq, query, answer FROM turns WHERE query_id = ?", (query_id,)
    )


def drop(db: sqlite3.Connection, chosen: str, value: str) -> None:
    """Take turns out, before they are deleted. Merging leaves no word of them in the index's old segments.

    Args:
        db: Within the transaction that deletes them.
        chosen: A condition on `turns`, with one parameter.
        value: That parameter.
    """
    db.execute(
        "INSERT INTO said (said, rowid, query, answer) "
        f"SELECT 'delete', seq, query, answer FROM turns WHERE {chosen} AND {_ENDED}",
        (value,),
    )
    db.execute("INSERT INTO said (said) VALUES ('optimize')")


def expression(text: str) -> str:
    """What a person typed, as an FTS5 expression: all words, the last one maybe unfinished; empty where it has none."""
    words = re.findall(r"\w+", text.replace("_", " "))[:_MOST_WORDS]
    return " ".join(f'"{word}"' for word in words) + ("*" if words else "")


def find(db: sqlite3.Connection, user_id: str, text: str, limit: int) -> list[TurnHit]:
    """A user's turns with these words, the best first."""
    if substrings.meant(text):
        return substrings.find(db, user_id, text, limit)
    wanted = expression(text)
    if not wanted:
        return []
    rows = db.execute(
        "SELECT t.session_id, s.title, t.query_id, t.created_at, snippet(said, -1, ?, ?, '…', ?) "
        "FROM said JOIN turns t ON t.seq = said.rowid JOIN sessions s ON s.session_id = t.session_id "
        "WHERE said MATCH ? AND t.user_id = ? ORDER BY bm25(said), t.seq DESC LIMIT ?",
        (_OPENED, _CLOSED, _SNIPPET_WORDS, wanted, user_id, limit),
    )
    return list(_hits(rows))


def _hits(rows: sqlite3.Cursor) -> Iterator[TurnHit]:
    for session_id, title, query_id, created_at, marked in rows:
        snippet, marks = unmarked(marked)
        yield TurnHit(
            session_id=session_id,
            title=title,
            query_id=query_id,
            created_at=created_at,
            snippet=snippet,
            marks=marks,
        )


def unmarked(text: str) -> tuple[str, list[Mark]]:
    """The text without the marks, and where they were."""
    plain, marks, start = "", list[Mark](), 0
    for piece in re.split(f"([{_OPENED}{_CLOSED}])", text):
        if piece == _OPENED:
            start = len(plain)
        elif piece == _CLOSED:
            marks.append(Mark(start=start, end=len(plain)))
        else:
            plain += piece
    return plain, marks
