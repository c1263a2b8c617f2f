"""Which errors of a store does its service act on?"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from bus.command import local2
from bus.errors import Local2Error

if TYPE_CHECKING:
    from participants.services.sqlite.migrate import FileKind


class StorageError(Local2Error):
    """The store cannot be read or written now; the text says why and what to do."""


class SchemaTooNew(Local2Error):
    """A newer LoCAL2 wrote this store: refuse to start, so that nothing in it is lost."""

    def __init__(self, path: Path, holds: str, found: int, known: int) -> None:
        super().__init__(
            f"{path} was written by a newer LoCAL2 (schema {found}, this one knows {known}). "
            f"Install that version again, or move the file away to start with no {holds}."
        )


_WORDS = {
    "SQLITE_FULL": "The disk is full: free some space, then try again. What was saved before is safe.",
    "SQLITE_BUSY": "{path} is held by another program: close it, then try again.",
    "SQLITE_READONLY": "{path} cannot be written: give this user the right to write to the file and its folder.",
    "SQLITE_PERM": "{path} cannot be written: give this user the right to write to the file and its folder.",
    "SQLITE_CANTOPEN": "{path} cannot be opened: check that the folder exists and belongs to this user.",
    "SQLITE_CORRUPT": (
        "{path} is damaged; it was left as it is. Put a copy from {path.parent}/backups in its place, "
        "or move it away to start with no {kind.holds}; then: {restart}"
    ),
    "SQLITE_IOERR": "Reading or writing {path} failed: check the disk and its free space, then try again.",
}
_SAME = {"SQLITE_NOTADB": "SQLITE_CORRUPT", "SQLITE_LOCKED": "SQLITE_BUSY"}


def storage_error(error: sqlite3.Error, path: Path, kind: FileKind) -> StorageError:
    """SQLite's error in words; extended codes such as SQLITE_IOERR_WRITE count as their kind."""
    name = getattr(error, "sqlite_errorname", None) or ""
    code = "_".join(name.split("_")[:2])
    words = _WORDS.get(_SAME.get(code, code), "The {kind.holds} in {path} cannot be used: {error}")
    return StorageError(words.format(path=path, error=error, kind=kind, restart=local2("restart", kind.program)))


def replaced(path: Path, kind: FileKind) -> StorageError:
    """The file under our feet is gone."""
    return StorageError(
        f"{path} was removed or replaced while LoCAL2 runs, so nothing can be saved. "
        f"Put it back, then: {local2('restart', kind.program)}"
    )
