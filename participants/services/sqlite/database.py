"""How is the one connection to the store opened, and how is a transaction made?

It is used from the event loop: a transaction without a sync takes about 10 µs, less than the way to a
thread and back, and nothing can come between a decision and its commit. The file is locked for
this process alone, which also spares SQLite its shared-memory file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from bus import paths
from bus.errors import ConfigError
from participants.services.sqlite.errors import StorageError, replaced, storage_error
from participants.services.sqlite.migrate import FileKind, migrate

_BUSY_S = 0.2
_CHECKPOINT_PAGES = 8000
"""The log is moved into the file when nothing runs (`checkpoint`); this bounds it where something always does."""


class Database:
    """The connection.

    Args:
        path: The file; made with mode 0600 where there is none.
        kind: What it holds.
    """

    def __init__(self, path: Path, kind: FileKind) -> None:
        self.path, self._kind = path, kind
        self._connection: sqlite3.Connection | None = None
        self._synchronous = ""
        self._inode = (0, 0)

    @property
    def is_open(self) -> bool:
        """Whether `open` succeeded."""
        return self._connection is not None

    def open(self) -> None:
        """Open, or make, the store.

        Raises:
            SchemaTooNew: A newer version wrote it.
            StorageError: It cannot be used; it was left as it is.
        """
        try:
            paths.private(self.path.parent)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except (OSError, ConfigError) as error:
            raise StorageError(f"{self.path} cannot be opened: {error}.") from error
        connection = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None)
        try:
            self._prepare(connection)
        except sqlite3.Error as error:
            connection.close()
            raise storage_error(error, self.path, self._kind) from error
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        self._inode = self._found()

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise sqlite3.DatabaseError(f"its disk allows no write-ahead log ({mode})")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = FULL")
        self._synchronous = "FULL"
        migrate(connection, self.path, self._kind)

    def close(self) -> None:
        """Move the log into the file and close it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def read(self) -> Generator[sqlite3.Connection]:
        """The connection, with SQLite's errors in words.

        Raises:
            StorageError: It cannot be read.
        """
        if self._connection is None:
            raise StorageError(f"{self.path} is not open.")
        try:
            yield self._connection
        except sqlite3.Error as error:
            raise storage_error(error, self.path, self._kind) from error

    @contextmanager
    def write(self, *, durable: bool = False) -> Generator[sqlite3.Connection]:
        """One transaction: all of it is saved when the block ends, or nothing.

        Args:
            durable: Survive a power cut too (a sync, about 1 ms), not only a kill.

        Raises:
            StorageError: It cannot be written; nothing was.
        """
        if durable and self._found() != self._inode:
            raise replaced(self.path, self._kind)
        with self.read() as connection:
            self._set_synchronous(connection, "FULL" if durable else "NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def checkpoint(self, *, truncate: bool = False) -> None:
        """Move the log into the file, for when nothing waits.

        Args:
            truncate: Also empty the log, so that what was deleted is in neither.
        """
        with self.read() as connection:
            connection.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if truncate else 'PASSIVE'})").fetchall()

    def _set_synchronous(self, connection: sqlite3.Connection, level: str) -> None:
        if level != self._synchronous:  # has no effect inside a transaction
            connection.execute(f"PRAGMA synchronous = {level}")
            self._synchronous = level

    def _found(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)
