"""Which turns hold these words, where the script puts no space between words?

Chinese, Japanese, Thai and the like have no words that an index could tell apart without a dictionary, and Korean and
Indic scripts join what belongs together. There the texts themselves are looked through, which keeps no second copy.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from bus.messages.ledger import Mark, TurnHit

_UNSPACED = re.compile(
    "[\u0900-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_MOST_WORDS, _LONGEST_WORD = 16, 200
_BEFORE, _AFTER = 20, 60
"""Characters of a snippet around its first word."""


def meant(text: str) -> bool:
    """Whether what a person typed has to be looked for so."""
    return _UNSPACED.search(text) is not None


def find(db: sqlite3.Connection, user_id: str, text: str, limit: int) -> list[TurnHit]:
    """A user's ended turns that hold all these words, the newest first."""
    words = [word[:_LONGEST_WORD] for word in text.split()[:_MOST_WORDS]]
    holds = " AND ".join(["(t.query LIKE ? ESCAPE '\\' OR t.answer LIKE ? ESCAPE '\\')"] * len(words))
    patterns = [pattern for word in words for pattern in [_pattern(word)] * 2]
    rows = db.execute(
        "SELECT t.session_id, s.title, t.query_id, t.created_at, t.query, t.answer "  # noqa: S608  words are parameters
        "FROM turns t JOIN sessions s ON s.session_id = t.session_id "
        f"WHERE t.user_id = ? AND t.state IN ('answered', 'failed', 'cancelled') AND {holds} "
        "ORDER BY t.seq DESC LIMIT ?",
        (user_id, *patterns, limit),
    )
    return [_hit(row, words) for row in rows]


def _pattern(word: str) -> str:
    literal = re.sub(r"([%_\\])", r"\\\1", word)
    return f"%{literal}%"


def _hit(row: sqlite3.Row, words: Sequence[str]) -> TurnHit:
    session_id, title, query_id, created_at, query, answer = row
    snippet, marks = excerpt(query, words)
    if not marks:
        snippet, marks = excerpt(answer, words)
    return TurnHit(
        session_id=session_id, title=title, query_id=query_id, created_at=created_at, snippet=snippet, marks=marks
    )


def excerpt(text: str, words: Sequence[str]) -> tuple[str, list[Mark]]:
    """The part of a text where the first of these words stands, and where in it they all do; its start for none."""
    wanted = re.compile("|".join(re.escape(word) for word in words), re.IGNORECASE)
    first = wanted.search(text)
    start = max(0, first.start() - _BEFORE) if first else 0
    end = first.end() + _AFTER if first else _AFTER
    before, part, after = "…" if start else "", text[start:end], "…" if end < len(text) else ""
    marks = [Mark(start=found.start() + len(before), end=found.end() + len(before)) for found in wanted.finditer(part)]
    return before + part + after, marks
