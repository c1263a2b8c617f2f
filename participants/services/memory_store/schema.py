"""Which tables does the memory have?

They are the record. Vectors lie in Chroma and can be made again from it.
"""

from __future__ import annotations

from participants.services.sqlite.migrate import FileKind

MEMORIES = FileKind(
    application_id=0x4C32_4D45,
    holds="memories",
    program="memory_store",
    migrations=(
        (
            # model: whose vector Chroma has of this text; empty for none. names: JSON. owner: the user, hashed, as
            # one word for the full-text index. agreed: 0 until it was looked at for insights.
            """CREATE TABLE memories (
                seq INTEGER PRIMARY KEY, memory_id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, owner TEXT NOT NULL,
                kind TEXT NOT NULL, model TEXT NOT NULL DEFAULT '', agreed INTEGER NOT NULL DEFAULT 0,
                session_id TEXT NOT NULL, query_id TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
                intent TEXT NOT NULL, critic_score INTEGER, sentiment INTEGER NOT NULL, untrusted INTEGER NOT NULL,
                shared INTEGER NOT NULL, entities TEXT NOT NULL, reason TEXT NOT NULL, query TEXT NOT NULL,
                text TEXT NOT NULL
            )""",
            "CREATE INDEX memories_by_user ON memories (user_id, kind, model)",
            "CREATE INDEX memories_by_turn ON memories (user_id, query_id)",
            "CREATE INDEX memories_by_session ON memories (user_id, session_id)",
            "CREATE INDEX memories_by_model ON memories (model)",
            "CREATE INDEX memories_shared ON memories (kind) WHERE shared = 1",
            "CREATE INDEX memories_new ON memories (seq) WHERE kind = 'engram' AND agreed = 0 AND model <> ''",
            """CREATE TABLE sources (
                insight_id TEXT NOT NULL, engram_id TEXT NOT NULL, PRIMARY KEY (insight_id, engram_id)
            ) WITHOUT ROWID""",
            "CREATE INDEX sources_by_engram ON sources (engram_id)",
            # Turns whose engram its user deleted: whoever is late with it does not bring it back.
            """CREATE TABLE forgotten (
                user_id TEXT NOT NULL, query_id TEXT NOT NULL, PRIMARY KEY (user_id, query_id)
            ) WITHOUT ROWID""",
            # Vectors that have still to be taken out of Chroma.
            """CREATE TABLE doomed (
                memory_id TEXT PRIMARY KEY, user_id TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL
            ) WITHOUT ROWID""",
            "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
            """CREATE VIRTUAL TABLE words USING fts5(
                owner, query, text, entities, content = 'memories', content_rowid = 'seq',
                tokenize = "unicode61 remove_diacritics 2", detail = full
            )""",
        ),
    ),
)
