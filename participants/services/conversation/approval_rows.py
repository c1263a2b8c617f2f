"""What is saved of requests for approval, and how is it read back?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from bus.messages.approval import ApprovalInfo, ApprovalState
from participants.services.sqlite.database import Database

_encode = msgspec.json.Encoder().encode
_decode_args = msgspec.json.Decoder(dict[str, Any]).decode
_COLUMNS = "approval_id, query_id, call_id, tool, args, reason, opened_at, expires_at, state, fence"


class SavedApproval(Struct, frozen=True):
    """A row of `approvals`. Times are Unix time: they count on while nothing of ours runs."""

    approval_id: str
    query_id: str
    call_id: str
    tool: str
    args: dict[str, Any]
    reason: str
    opened_at: float
    expires_at: float
    state: ApprovalState = "open"
    fence: int = 0
    """The claim that took it."""

    @property
    def info(self) -> ApprovalInfo:
        """As others see it."""
        return ApprovalInfo(
            approval_id=self.approval_id,
            call_id=self.call_id,
            tool=self.tool,
            args=self.args,
            reason=self.reason,
            opened_at=_iso(self.opened_at),
            expires=_iso(self.expires_at),
            state=self.state,
        )


class ApprovalRows:
    """The table. All methods raise `StorageError` where the file cannot be used."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, approval_id: str) -> SavedApproval | None:
        """One request."""
        found = self._select("approval_id = ?", approval_id)
        return found[0] if found else None

    def of_turn(self, query_id: str) -> list[SavedApproval]:
        """A turn's requests, oldest first."""
        return self._select("query_id = ?", query_id)

    def open(self) -> list[SavedApproval]:
        """All that wait for an answer."""
        return self._select("state = ?", "open")

    def _select(self, condition: str, value: str) -> list[SavedApproval]:
        sql = f"SELECT {_COLUMNS} FROM approvals WHERE {condition} ORDER BY seq"  # noqa: S608  constants of this file
        with self._database.read() as db:
            return [_saved(row) for row in db.execute(sql, (value,)).fetchall()]

    def add(self, approval: SavedApproval) -> None:
        """Save a new request; an open one of the same call, with other arguments, is void."""
        values = msgspec.structs.asdict(approval) | {"args": _encode(approval.args)}
        names = ", ".join(f":{name}" for name in values)
        with self._database.write() as db:
            db.execute(
                "UPDATE approvals SET state = 'void' WHERE query_id = ? AND call_id = ? AND state = 'open'",
                (approval.query_id, approval.call_id),
            )
            db.execute(f"INSERT INTO approvals ({_COLUMNS}) VALUES ({names})", values)  # noqa: S608  as above

    def answer(self, approval_ids: Iterable[str], state: ApprovalState) -> None:
        """Save an answer to what is open; it survives a power cut."""
        with self._database.write(durable=True) as db:
            sql = "UPDATE approvals SET state = ? WHERE approval_id = ? AND state = 'open'"
            db.executemany(sql, [(state, approval_id) for approval_id in approval_ids])

    def take(self, approval_id: str, fence: int) -> None:
        """Save that an approved request is used up. Survives a power cut, or the call could run twice after it."""
        with self._database.write(durable=True) as db:
            sql = "UPDATE approvals SET state = 'taken', fence = ? WHERE approval_id = ? AND state = 'approved'"
            db.execute(sql, (fence, approval_id))


def _saved(row: tuple[Any, ...]) -> SavedApproval:
    approval_id, query_id, call_id, tool, args, *rest = row
    return SavedApproval(approval_id, query_id, call_id, tool, _decode_args(args), *rest)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
