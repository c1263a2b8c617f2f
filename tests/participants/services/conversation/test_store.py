"""The file: its rights, its migrations, its backups."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.messages.ledger import Step, TurnEnd
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.schema import CONVERSATIONS, MIGRATIONS
from participants.services.conversation.store import SavedSession, Store
from participants.services.sqlite.errors import SchemaTooNew, StorageError

NASTY = "a\0b 🙂 \u202e \x1b[31m \ufffe 日本 '; DROP TABLE turns; --"


def opened(path: Path, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> Store:
    store = Store(path, replace(CONVERSATIONS, migrations=migrations))
    store.open()
    return store


def submitted(store: Store, query: str = "?") -> OpenTurn:
    turn = OpenTurn(seq=0, ref=TurnRef("s", "u", "q"), query=query, created_at="1")
    return store.submit(turn, SavedSession("s", "u", "t", "", "q", "1", "1"), [])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    store = opened(tmp_path / "data" / "conversations.db")
    submitted(store)
    assert mode(tmp_path / "data") == 0o700
    assert {mode(file) for file in (tmp_path / "data").iterdir()} == {0o600}
    store.close()


@pytest.mark.parametrize("text", [NASTY, "x" * 1_000_000, "🙂" * 250_000, "\0" * 1000])
def test_texts_come_back_as_they_were(tmp_path: Path, text: str) -> None:
    store = opened(tmp_path / "c.db")
    turn = submitted(store, text)
    store.journal(turn, 3, text, text)
    store.step("q", Step(n=0, kind="round", text=text))
    draft = store.draft("q")
    assert (draft.answer, draft.thinking, store.steps("q")[0].text) == (text, text, text)
    store.end(turn, TurnEnd(status="answered", finish_reason="stop", answer=text, thinking=text, reason=text), "2")
    store.close()
    store = opened(tmp_path / "c.db")
    saved = store.turn("q")
    assert saved is not None
    assert saved.end is not None
    assert (saved.query, saved.end.answer, saved.end.thinking, saved.end.reason) == (text, text, text, text)
    store.close()


def test_an_upgrade_over_many_versions_leaves_the_file_that_there_was_as_its_one_copy(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    opened(path, MIGRATIONS[:1]).close()
    opened(path).close()
    (backup,) = (tmp_path / "backups").iterdir()
    with sqlite3.connect(backup) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)


def test_each_migration_is_made_once_and_after_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    store = opened(path)
    submitted(store, "kept?")
    store.close()
    second = (*MIGRATIONS, ("ALTER TABLE turns ADD COLUMN mood TEXT NOT NULL DEFAULT 'good'",))
    for _ in range(2):
        store = opened(path, second)
        with store.read() as db:
            assert db.execute("SELECT query, mood FROM turns").fetchall() == [("kept?", "good")]
        store.close()
    (backup,) = (tmp_path / "backups").iterdir()
    assert (mode(backup), mode(backup.parent)) == (0o600, 0o700)
    copy = opened(backup)
    assert [turn.query for turn in copy.open_turns()] == ["kept?"]
    copy.close()


def test_a_migration_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    store = opened(path)
    submitted(store)
    store.close()
    broken = (*MIGRATIONS, ("ALTER TABLE turns ADD COLUMN mood TEXT", "no such statement"))
    with pytest.raises(StorageError, match="no"):
        opened(path, broken)
    store = opened(path)
    assert len(store.open_turns()) == 1
    store.close()


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    newer = (*MIGRATIONS, ("CREATE TABLE more (x)",))
    opened(path, newer).close()
    before = path.read_bytes()
    with pytest.raises(SchemaTooNew, match="newer LoCAL2"):
        opened(path)
    assert path.read_bytes() == before


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(StorageError, match="another program"):
        opened(path)


@pytest.mark.parametrize("body", [b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_left_alone(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "c.db"
    path.write_bytes(body)
    with pytest.raises(StorageError):
        opened(path)
    assert path.read_bytes() == body


def test_a_second_process_is_kept_out(tmp_path: Path) -> None:
    store = opened(tmp_path / "c.db")
    with pytest.raises(StorageError, match="held by another program"):
        opened(tmp_path / "c.db")
    store.close()


def test_a_folder_in_its_place_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "c.db").mkdir()
    with pytest.raises(StorageError, match="cannot be opened"):
        opened(tmp_path / "c.db")
