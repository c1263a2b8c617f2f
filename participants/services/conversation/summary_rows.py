"""What is saved of summaries, and which one stands for the older turns of a branch?

A summary belongs to the turn up to which it goes: it holds for each branch on which that turn is.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from bus.messages.ledger import Summary
from participants.services.sqlite.database import Database


class SummaryRows:
    """The table. All methods raise `StorageError` where the file cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_session(self, session_id: str) -> dict[str, Summary]:
        """A session's summaries by the last turn that each stands for."""
        sql = "SELECT upto, turns, created_at, text, untrusted FROM summaries WHERE session_id = ?"
        with self._database.read() as db:
            rows = db.execute(sql, (session_id,)).fetchall()
        return {
            upto: Summary(text=text, upto=upto, turns=turns, created_at=created_at, untrusted=bool(untrusted))
            for upto, turns, created_at, text, untrusted in rows
        }

    def save(self, session_id: str, summary: Summary) -> None:
        """Save a summary; one up to the same turn is replaced."""
        values = msgspec.structs.asdict(summary) | {"session_id": session_id}
        with self._database.write(durable=True) as db:
            db.execute(
                "INSERT OR REPLACE INTO summaries (session_id, upto, turns, created_at, text, untrusted) "
                "VALUES (:session_id, :upto, :turns, :created_at, :text, :untrusted)",
                values,
            )


def newest(line: Iterable[str], summaries: dict[str, Summary]) -> Summary | None:
    """The summary that stands for most of a branch.

    Args:
        line: The branch's turns, oldest first.
        summaries: Those of its session.
    """
    found = [summaries[query_id] for query_id in line if query_id in summaries]
    return found[-1] if found else None
