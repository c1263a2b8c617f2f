# ruff: noqa: S608  statements are put together from the lists of columns below, never from values
"""What is saved of memories, and how is it read back?

The only writer of memory.db. No decisions here.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bus.messages.memory import Memory
from participants.services.memory_store.schema import MEMORIES
from participants.services.sqlite.database import Database

_encode = msgspec.json.Encoder().encode
_decode_names = msgspec.json.Decoder(list[str]).decode
_MEMORY = (
    "memory_id, user_id, kind, text, created_at, session_id, query_id, updated_at, reason, query, intent, entities, "
    "critic_score, sentiment, untrusted, shared"
)
_NEW = f"INSERT INTO memories ({_MEMORY}, owner) VALUES ({', '.join('?' * 17)})"
_CHOSEN = "memory_id IN (SELECT value FROM json_each(?))"


class Pending(NamedTuple):
    """A memory whose vector is missing, or is another model's."""

    memory: Memory
    model: str
    """Whose vector there is; empty for none."""


class Doomed(NamedTuple):
    """A vector that has to go."""

    memory_id: str
    user_id: str
    kind: str
    model: str


class Store(Database):
    """memory.db. All methods raise `StorageError` where the file cannot be used; nothing is half-written then."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, MEMORIES)

    @property
    def mark(self) -> str:
        """Tells this record from others: vectors of another one are worth nothing."""
        with self.write() as db:
            db.execute("INSERT OR IGNORE INTO about VALUES ('mark', ?)", (secrets.token_hex(16),))
            return str(db.execute("SELECT value FROM about WHERE key = 'mark'").fetchone()[0])

    # ------------------------------------------------------------------ reading

    def get(self, user_id: str, ids: Sequence[str]) -> list[Memory]:
        """Some memories of a user, in the order in which they were kept."""
        return self._select(f"{_CHOSEN} AND +user_id = ? ORDER BY +seq", (_json(ids), user_id))

    def get_shared(self, ids: Sequence[str]) -> list[Memory]:
        """Of some memories those that their users share."""
        return self._select(f"{_CHOSEN} AND +shared = 1 ORDER BY +seq", (_json(ids),))

    def owner_of(self, memory_id: str) -> str:
        """Whose a memory is; empty where there is none."""
        with self.read() as db:
            row = db.execute("SELECT user_id FROM memories WHERE memory_id = ?", (memory_id,)).fetchone()
        return row[0] if row else ""

    def of_kind(self, user_id: str, kind: str) -> list[Memory]:
        """All of one kind, oldest first."""
        return self._select("user_id = ? AND kind = ? ORDER BY seq", (user_id, kind))

    def of_turn(self, user_id: str, query_id: str) -> Memory | None:
        """A turn's engram."""
        found = self._select("user_id = ? AND query_id = ? AND kind = 'engram'", (user_id, query_id))
        return found[0] if found else None

    def page(self, user_id: str, kind: str, text: str, before: int, limit: int) -> list[tuple[int, Memory]]:
        """A page, newest first, each with its place.

        Args:
            user_id: Whose.
            kind: One kind; empty for all.
            text: Only with this in question, text, reason or names; empty for all.
            before: Only those with a lower place.
            limit: At most so many.
        """
        like = f"%{_escaped(text)}%"
        sql = (
            f"SELECT seq, {_MEMORY} FROM memories WHERE user_id = ? AND (? = '' OR kind = ?) AND seq < ? AND "
            "(? = '' OR text LIKE ? ESCAPE '\\' OR query LIKE ? ESCAPE '\\' OR entities LIKE ? ESCAPE '\\' "
            "OR reason LIKE ? ESCAPE '\\') ORDER BY seq DESC LIMIT ?"
        )
        with self.read() as db:
            rows = db.execute(sql, (user_id, kind, kind, before, text, like, like, like, like, limit)).fetchall()
        return [(row[0], self._memory(row[1:])) for row in rows]

    def has(self, user_id: str, kind: str) -> bool:
        """Whether there is any of one kind."""
        with self.read() as db:
            sql = "SELECT 1 FROM memories WHERE user_id = ? AND kind = ? LIMIT 1"
            return db.execute(sql, (user_id, kind)).fetchone() is not None

    def count(self, user_id: str, kind: str) -> int:
        """How many there are of one kind; of all kinds where it is empty."""
        sql = "SELECT count(*) FROM memories WHERE user_id = ? AND (? = '' OR kind = ?)"
        with self.read() as db:
            return int(db.execute(sql, (user_id, kind, kind)).fetchone()[0])

    def models(self, user_id: str, kind: str) -> list[str]:
        """Whose vectors there are of a user's memories of a kind. Skips from one to the next: no scan."""
        found: list[str] = []
        sql = "SELECT min(model) FROM memories WHERE user_id = ? AND kind = ? AND model > ?"
        with self.read() as db:
            while (model := db.execute(sql, (user_id, kind, found[-1] if found else "")).fetchone()[0]) is not None:
                found.append(model)
        return found

    def sharers(self, kind: str) -> list[str]:
        """Users who share a memory of a kind."""
        with self.read() as db:
            rows = db.execute("SELECT DISTINCT user_id FROM memories WHERE kind = ? AND shared = 1", (kind,))
            return [user_id for (user_id,) in rows.fetchall()]

    def with_words(self, user_id: str, kinds: Sequence[str], words: Sequence[str], each: int) -> list[str]:
        """The newest memories with any of some words: those with most of them first.

        Args:
            user_id: Whose.
            kinds: Of these kinds.
            words: As `entities.words` gives them.
            each: For each word at most so many.
        """
        counts: dict[str, int] = {}
        sql = (
            "SELECT m.memory_id FROM words w JOIN memories m ON m.seq = w.rowid WHERE words MATCH ? "
            "AND m.user_id = ? AND m.kind IN (SELECT value FROM json_each(?)) ORDER BY w.rowid DESC LIMIT ?"
        )
        with self.read() as db:
            for word in words:
                wanted = f'owner : "{owner(user_id)}" AND {{query text entities}} : "{word}"'
                for (memory_id,) in db.execute(sql, (wanted, user_id, _json(kinds), each)).fetchall():
                    counts[memory_id] = counts.get(memory_id, 0) + 1
        return sorted(counts, key=lambda memory_id: -counts[memory_id])

    def _select(self, condition: str, values: Sequence[object]) -> list[Memory]:
        with self.read() as db:
            rows = db.execute(f"SELECT {_MEMORY} FROM memories WHERE {condition}", values).fetchall()
        return [self._memory(row) for row in rows]

    def _memory(self, row: Sequence[object]) -> Memory:
        values = dict(zip(_MEMORY.split(", "), row, strict=True))
        values["entities"] = _decode_names(str(values["entities"]))
        values["untrusted"], values["shared"] = bool(values["untrusted"]), bool(values["shared"])
        memory = msgspec.convert(values, Memory)
        if memory.kind == "insight":
            return msgspec.structs.replace(memory, sources=self.sources_of(memory.memory_id))
        return memory

    # ------------------------------------------------------------------ writing

    def add(self, memory: Memory) -> None:
        """Save a new memory. Survives a power cut."""
        with self.write(durable=True) as db:
            _insert(db, memory)

    def replace(self, memory: Memory) -> None:
        """Save a changed memory; where its words are others, its vector is worth nothing any more."""
        with self.write(durable=True) as db:
            _update(db, memory)

    def add_insight(self, insight: Memory, replaced: Sequence[str]) -> None:
        """Save an insight with its sources, instead of some others."""
        with self.write(durable=True) as db:
            _delete(db, replaced)
            _insert(db, insight)
            rows = [(insight.memory_id, source) for source in insight.sources]
            db.executemany("INSERT INTO sources VALUES (?, ?)", rows)

    def add_missing(self, memories: Iterable[Memory]) -> int:
        """Save those that are not there; how many."""
        added = 0
        with self.write(durable=True) as db:
            for memory in memories:
                sql = "SELECT 1 FROM memories WHERE memory_id = ?"
                if db.execute(sql, (memory.memory_id,)).fetchone() is None:
                    _insert(db, memory)
                    rows = [(memory.memory_id, source) for source in memory.sources]
                    db.executemany("INSERT OR IGNORE INTO sources VALUES (?, ?)", rows)
                    added += 1
        return added

    def delete(self, memories: Sequence[Memory], *, never_again: bool) -> None:
        """Delete memories, with the insights that were made of them.

        Args:
            memories: Which.
            never_again: Whether the turns that they come from may leave no engram any more.
        """
        with self.write(durable=True) as db:
            ids = [memory.memory_id for memory in memories]
            _delete(db, [*ids, *_insights_of(db, ids)])
            if never_again:
                rows = [(memory.user_id, memory.query_id) for memory in memories if memory.query_id]
                db.executemany("INSERT OR IGNORE INTO forgotten VALUES (?, ?)", rows)

    def is_forgotten(self, user_id: str, query_id: str) -> bool:
        """Whether a turn may leave no engram."""
        with self.read() as db:
            sql = "SELECT 1 FROM forgotten WHERE user_id = ? AND query_id = ?"
            return db.execute(sql, (user_id, query_id)).fetchone() is not None

    def of_turns(self, user_id: str, session_id: str, query_ids: Sequence[str] | None) -> list[Memory]:
        """A session's engrams, of all or some of its turns."""
        if query_ids is None:
            return self._select("user_id = ? AND session_id = ? AND kind = 'engram'", (user_id, session_id))
        condition = "user_id = ? AND kind = 'engram' AND query_id IN (SELECT value FROM json_each(?))"
        return self._select(condition, (user_id, _json(query_ids)))

    def of_user(self, user_id: str) -> list[Memory]:
        """All that is remembered of a user, oldest first."""
        return self._select("user_id = ? ORDER BY seq", (user_id,))

    # ------------------------------------------------------------------ insights

    def sources_of(self, insight_id: str) -> list[str]:
        """The engrams of which an insight was made."""
        with self.read() as db:
            rows = db.execute("SELECT engram_id FROM sources WHERE insight_id = ?", (insight_id,)).fetchall()
        return [engram_id for (engram_id,) in rows]

    def insights_of(self, engram_ids: Sequence[str]) -> list[str]:
        """The insights that were made of any of some engrams."""
        with self.read() as db:
            return _insights_of(db, engram_ids)

    def new_engram(self) -> tuple[str, Memory] | None:
        """The oldest engram that was not looked at for insights, with its model; None where there is none."""
        sql = (
            "SELECT model, memory_id, user_id FROM memories "
            "WHERE kind = 'engram' AND agreed = 0 AND model <> '' ORDER BY seq LIMIT 1"
        )
        with self.read() as db:
            row = db.execute(sql).fetchone()
        return (row[0], self.get(row[2], [row[1]])[0]) if row else None

    def looked_at(self, memory_id: str) -> None:
        """An engram was looked at."""
        with self.write() as db:
            db.execute("UPDATE memories SET agreed = 1 WHERE memory_id = ?", (memory_id,))

    # ------------------------------------------------------------------ vectors

    def pending(self, model: str, limit: int) -> list[Pending]:
        """Memories without a vector of this model: those without any first."""
        out: list[Pending] = []
        for condition in ("model < ?", "model > ?"):
            sql = f"SELECT model, {_MEMORY} FROM memories WHERE {condition} ORDER BY model, seq LIMIT ?"
            with self.read() as db:
                rows = db.execute(sql, (model, limit - len(out))).fetchall()
            out += [Pending(self._memory(row[1:]), row[0]) for row in rows]
        return out

    def count_pending(self, model: str) -> tuple[int, int]:
        """How many have no vector, and how many one of another model."""
        with self.read() as db:
            none = int(db.execute("SELECT count(*) FROM memories WHERE model = ''").fetchone()[0])
            sql = "SELECT count(*) FROM memories WHERE model <> ? AND model <> ''"
            return none, int(db.execute(sql, (model,)).fetchone()[0])

    def total(self) -> int:
        """How many memories there are, of all users."""
        with self.read() as db:
            return int(db.execute("SELECT count(*) FROM memories").fetchone()[0])

    def have_vectors(self, model: str, memories: Iterable[Memory]) -> None:
        """Chroma has vectors of these memories, as long as their words are still the same."""
        sql = "UPDATE memories SET model = ? WHERE memory_id = ? AND text = ? AND query = ?"
        rows = [(model, memory.memory_id, memory.text, memory.query) for memory in memories]
        with self.write() as db:
            db.executemany(sql, rows)

    def forget_vectors(self) -> None:
        """Chroma has none any more."""
        with self.write() as db:
            db.execute("UPDATE memories SET model = '' WHERE model <> ''")

    def doomed(self, limit: int) -> list[Doomed]:
        """Vectors that have to go."""
        with self.read() as db:
            rows = db.execute("SELECT memory_id, user_id, kind, model FROM doomed LIMIT ?", (limit,)).fetchall()
        return [Doomed(*row) for row in rows]

    def gone(self, ids: Sequence[str]) -> None:
        """These vectors are gone."""
        with self.write() as db:
            db.execute(f"DELETE FROM doomed WHERE {_CHOSEN}", (_json(ids),))


def owner(user_id: str) -> str:
    """A user as one word, which no text holds."""
    return "u" + hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _insert(db: sqlite3.Connection, memory: Memory) -> None:
    values = [getattr(memory, name) for name in _MEMORY.split(", ")]
    values[_MEMORY.split(", ").index("entities")] = _json(memory.entities)
    db.execute("DELETE FROM doomed WHERE memory_id = ?", (memory.memory_id,))
    seq = db.execute(_NEW, (*values, owner(memory.user_id))).lastrowid
    _index(db, "seq = ?", str(seq))


def _update(db: sqlite3.Connection, memory: Memory) -> None:
    sql = "SELECT seq, text, query, entities FROM memories WHERE memory_id = ?"
    seq, text, query, entities = db.execute(sql, (memory.memory_id,)).fetchone()
    names = _json(memory.entities)
    reworded = (text, query) != (memory.text, memory.query)
    if reworded or entities != names:
        _unindex(db, "seq = ?", str(seq))
    db.execute(
        "UPDATE memories SET text = ?, query = ?, entities = ?, intent = ?, reason = ?, critic_score = ?, "
        "sentiment = ?, untrusted = ?, shared = ?, updated_at = ?, model = iif(?, '', model), agreed = 0 "
        "WHERE seq = ?",
        (
            memory.text,
            memory.query,
            names,
            memory.intent,
            memory.reason,
            memory.critic_score,
            memory.sentiment,
            memory.untrusted,
            memory.shared,
            memory.updated_at,
            reworded,
            seq,
        ),
    )
    if reworded or entities != names:
        _index(db, "seq = ?", str(seq))


def _delete(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    chosen = _json(ids)
    _unindex(db, _CHOSEN, chosen)
    db.execute("INSERT INTO words (words) VALUES ('optimize')")  # merging leaves no word in the index's old segments
    db.execute(
        "INSERT OR IGNORE INTO doomed SELECT memory_id, user_id, kind, model FROM memories "
        f"WHERE {_CHOSEN} AND model <> ''",
        (chosen,),
    )
    db.execute("DELETE FROM sources WHERE insight_id IN (SELECT value FROM json_each(?))", (chosen,))
    db.execute(f"DELETE FROM memories WHERE {_CHOSEN}", (chosen,))


def _index(db: sqlite3.Connection, condition: str, value: str) -> None:
    db.execute(
        "INSERT INTO words (rowid, owner, query, text, entities) "
        f"SELECT seq, owner, query, text, entities FROM memories WHERE {condition}",
        (value,),
    )


def _unindex(db: sqlite3.Connection, condition: str, value: str) -> None:
    db.execute(
        "INSERT INTO words (words, rowid, owner, query, text, entities) "
        f"SELECT 'delete', seq, owner, query, text, entities FROM memories WHERE {condition}",
        (value,),
    )


def _insights_of(db: sqlite3.Connection, engram_ids: Sequence[str]) -> list[str]:
    sql = "SELECT DISTINCT insight_id FROM sources WHERE engram_id IN (SELECT value FROM json_each(?))"
    return [insight_id for (insight_id,) in db.execute(sql, (_json(engram_ids),)).fetchall()]


def _json(values: Sequence[str]) -> str:
    return _encode(list(values)).decode()


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
