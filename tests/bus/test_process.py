"""Whose child a process is, and whether it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bus import paths
from bus.process import process_lives, supervisor


@pytest.fixture
def pid_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where supervisord writes its process id; we are adopted by process 1."""
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    monkeypatch.setenv("SUPERVISOR_ENABLED", "1")
    monkeypatch.setattr(os, "getppid", lambda: 1)
    return paths.private(paths.runtime_dir()) / "supervisord.pid"


@pytest.mark.parametrize(("text", "parent"), [("1\n", 1), ("4242\n", 0), ("", 0), ("no number", 0), ("é", 0)])
def test_process_1_is_the_supervisor_only_where_it_says_so(pid_file: Path, text: str, parent: int) -> None:
    pid_file.write_text(text, encoding="utf-8")
    assert supervisor() == parent


def test_without_its_pid_file_it_is_gone(pid_file: Path) -> None:
    assert not pid_file.exists()
    assert supervisor() == 0


def test_by_hand_any_parent_will_do(pid_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUPERVISOR_ENABLED")
    assert supervisor() == 1


def test_a_living_parent_is_the_supervisor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPERVISOR_ENABLED", "1")
    assert supervisor() == os.getppid()


@pytest.mark.parametrize(
    ("pid", "lives"), [(os.getpid(), True), (1, True), (0, False), (-1, False), (2**22 + 1, False)]
)
def test_processes_live_or_not(pid: int, lives: bool) -> None:
    assert process_lives(pid) is lives


def test_a_number_that_is_no_pid_names_no_process() -> None:
    assert not process_lives(2**70)
