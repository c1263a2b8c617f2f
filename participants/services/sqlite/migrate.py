"""How does an older file become a current one?

`PRAGMA user_version` counts the migrations that a file has had; `application_id` says whose it is.
"""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from participants.services.sqlite.errors import SchemaTooNew

_KEPT_BACKUPS = 3


class FileKind(Struct, frozen=True, kw_only=True):
    """What a store's file is.

    Attributes:
        application_id: Tells it from files of other programs, and from our other stores.
        holds: What is in it, for people: `conversations`.
        program: The participant that owns it.
        migrations: The statements of each.
    """

    application_id: int
    holds: str
    program: str
    migrations: tuple[tuple[str, ...], ...]


def migrate(connection: sqlite3.Connection, path: Path, kind: FileKind) -> None:
    """Bring the file up to date, each migration in one transaction. First it is copied as its user left it.

    Raises:
        SchemaTooNew: A newer version wrote it.
        sqlite3.Error: It is not ours, damaged, or cannot be written.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if tables and owner != kind.application_id:
        raise sqlite3.DatabaseError("it is a database of another program")
    known = len(kind.migrations)
    if version > known:
        raise SchemaTooNew(path, kind.holds, version, known)
    if 0 < version < known:  # a new file has nothing to lose
        back_up(connection, path, version)
    for number, statements in enumerate(kind.migrations[version:], version):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {kind.application_id}")
            connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise


def back_up(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the store to `backups/` beside it; only the newest few copies are kept."""
    folder = path.parent / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"{path.stem}-v{version}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy)
    except BaseException:
        target.unlink()
        raise
    finally:
        copy.close()
    for old in sorted(folder.glob(f"{path.stem}-v*.db"), key=lambda file: file.stat().st_mtime)[:-_KEPT_BACKUPS]:
        old.unlink()
    return target
