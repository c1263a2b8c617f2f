"""Which tables does the store have?"""

from __future__ import annotations

from participants.services.conversation import search
from participants.services.sqlite.migrate import FileKind

UNGRADED = "state = 'answered' AND incognito = 0 AND grade = ''"
"""Answered turns that the critic has still to look at. Queries need it word for word, to use the index."""
NOT_INGESTED = "state = 'answered' AND incognito = 0 AND ingested <> revision"
"""Answered turns that the memory has not got as they are now."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # head: the newest turn of the branch that is shown; the next one gets it as its parent.
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, title TEXT NOT NULL, persona TEXT NOT NULL,
            head TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX sessions_by_user ON sessions (user_id, updated_at)",
        # seq is the order of acceptance. The long texts come last: what scans the short columns need not read them.
        """CREATE TABLE turns (
            seq INTEGER PRIMARY KEY, query_id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, user_id TEXT NOT NULL,
            parent_id TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL, ended_at TEXT NOT NULL DEFAULT '',
            fence INTEGER NOT NULL DEFAULT 0, attempt INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,
            holder TEXT NOT NULL DEFAULT '', holder_pid INTEGER NOT NULL DEFAULT 0,
            holder_name TEXT NOT NULL DEFAULT '', cancelled INTEGER NOT NULL DEFAULT 0,
            steps INTEGER NOT NULL DEFAULT 0, n INTEGER NOT NULL DEFAULT -1,
            model TEXT NOT NULL, persona TEXT NOT NULL, attachments TEXT NOT NULL,
            query TEXT NOT NULL, answer TEXT NOT NULL DEFAULT '', thinking TEXT NOT NULL DEFAULT '',
            figures TEXT NOT NULL DEFAULT ''
        )""",
        "CREATE INDEX turns_by_session ON turns (session_id, seq)",
        "CREATE INDEX turns_open ON turns (seq) WHERE state IN ('received', 'claimed')",
        # What the holder has said so far, apart from the turn, which would be written anew with each entry.
        """CREATE TABLE drafts (
            query_id TEXT NOT NULL UNIQUE, attempt INTEGER NOT NULL, n INTEGER NOT NULL,
            answer TEXT NOT NULL, thinking TEXT NOT NULL
        )""",
        """CREATE TABLE steps (
            query_id TEXT NOT NULL, n INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (query_id, n)
        ) WITHOUT ROWID""",
    ),
    search.MIGRATION,
    (
        # Times are Unix time. fence: the claim that took what was approved.
        """CREATE TABLE approvals (
            seq INTEGER PRIMARY KEY, approval_id TEXT NOT NULL UNIQUE, query_id TEXT NOT NULL, call_id TEXT NOT NULL,
            tool TEXT NOT NULL, args BLOB NOT NULL, reason TEXT NOT NULL, opened_at REAL NOT NULL,
            expires_at REAL NOT NULL, state TEXT NOT NULL, fence INTEGER NOT NULL
        )""",
        "CREATE INDEX approvals_by_turn ON approvals (query_id)",
        "CREATE INDEX approvals_open ON approvals (seq) WHERE state = 'open'",
        "DROP INDEX turns_open",
        "CREATE INDEX turns_open ON turns (seq) WHERE state IN ('received', 'claimed', 'waiting')",
    ),
    (
        # depth: how many turns come before it on its branch.
        "ALTER TABLE turns ADD COLUMN depth INTEGER NOT NULL DEFAULT 0",
        "DROP INDEX turns_by_session",
        "CREATE INDEX turns_by_place ON turns (session_id, parent_id)",
        """WITH RECURSIVE placed (seq, session_id, query_id, depth) AS (
            SELECT seq, session_id, query_id, 0 FROM turns WHERE parent_id = ''
            UNION ALL
            SELECT t.seq, t.session_id, t.query_id, p.depth + 1
            FROM placed p JOIN turns t ON t.session_id = p.session_id AND t.parent_id = p.query_id
        )
        UPDATE turns SET depth = placed.depth FROM placed WHERE placed.seq = turns.seq""",
    ),
    (
        # grade is JSON. ingested: with which revision the memory has a turn.
        "ALTER TABLE sessions ADD COLUMN incognito INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN incognito INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN grade TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE turns ADD COLUMN sentiment INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN revision INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE turns ADD COLUMN ingested INTEGER NOT NULL DEFAULT -1",
        # What was said before anything was remembered stays unremembered.
        """UPDATE turns SET ingested = 0, grade = '{"reason": "It was answered before there was a critic."}'
        WHERE state = 'answered'""",
        f"CREATE INDEX turns_ungraded ON turns (seq) WHERE {UNGRADED}",
        f"CREATE INDEX turns_not_ingested ON turns (seq) WHERE {NOT_INGESTED}",
        # What the memory has still to forget; query_ids is JSON, empty for a whole session.
        """CREATE TABLE deletions (
            deletion_id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
            query_ids TEXT NOT NULL
        )""",
        # A summary belongs to the turn up to which it goes: it holds on each branch on which that turn is.
        """CREATE TABLE summaries (
            session_id TEXT NOT NULL, upto TEXT NOT NULL, turns INTEGER NOT NULL, created_at TEXT NOT NULL,
            text TEXT NOT NULL, PRIMARY KEY (session_id, upto)
        ) WITHOUT ROWID""",
    ),
    (
        # Whether content from outside was before the model. Nobody knows it of older summaries.
        "ALTER TABLE turns ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0",
        """UPDATE turns SET untrusted = 1 WHERE figures <> '' AND EXISTS (
            SELECT 1 FROM json_each(turns.figures, '$.tool_calls') WHERE json_extract(value, '$.untrusted')
        )""",
        "ALTER TABLE summaries ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1",
    ),
)

CONVERSATIONS = FileKind(
    application_id=0x4C32_4356, holds="conversations", program="conversation", migrations=MIGRATIONS
)
