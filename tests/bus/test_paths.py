"""Folders: where they are, and that nobody else can open them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bus import paths
from bus.errors import BusUnavailable, ConfigError
from bus.process import take_lock


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCAL2_HOME", "here")
    assert paths.home() == tmp_path / "here"
    monkeypatch.setenv("LOCAL2_HOME", "")
    assert paths.home() == Path.home() / ".local2"


@pytest.mark.parametrize("home", ["/short", "/ümlaut"])
def test_sockets_lie_in_the_home_where_they_fit(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("LOCAL2_HOME", home)
    assert paths.runtime_dir() == Path(home, "run")


@pytest.mark.parametrize("home", ["/" + "x" * 90, "/" + "ü" * 45, "/with space", "/with\ttab", "/p%rcent"])
def test_sockets_lie_elsewhere_where_they_do_not(monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.setenv("LOCAL2_HOME", home)
    folder = paths.runtime_dir()
    assert folder.parent == Path("/tmp")  # noqa: S108  that is what is tested
    assert len(os.fsencode(folder / "supervisor.sock.1234567")) <= 100
    monkeypatch.setenv("LOCAL2_HOME", home + "2")
    assert paths.runtime_dir() != folder


def test_a_private_folder_is_made_and_kept_private(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert mode(paths.private(folder)) == 0o700
    folder.chmod(0o755)
    assert mode(paths.private(folder)) == 0o700


def test_a_link_is_no_private_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="no link"):
        paths.private(tmp_path / "link")


def test_a_file_is_no_private_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be used"):
        paths.private(tmp_path / "file")


def test_a_name_is_held_by_one_and_the_other_is_told_who(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    lock = take_lock("web")
    with pytest.raises(BusUnavailable, match=rf"web already runs on this home \(pid {os.getpid()}\)"):
        take_lock("web")
    take_lock("other").close()
    lock.close()
    take_lock("web").close()


_LEAVES_A_CHILD = """
import os, signal
from bus.process import take_lock
lock = take_lock("web")
if os.fork() == 0:
    print(os.getpid(), flush=True)
    signal.pause()
os.wait()
"""


def test_a_forked_child_that_outlives_its_parent_does_not_hold_the_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", _LEAVES_A_CHILD], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        with pytest.raises(BusUnavailable):
            take_lock("web")
        parent.kill()
        parent.wait()
        take_lock("web").close()
        os.kill(child, signal.SIGKILL)
