"""Only who was started for it dies, and once."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from bus import fault_points
from bus.fault_points import FaultPoint, reached

POINT = FaultPoint.END_SAVED


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The signals that were sent, to nobody."""
    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    return sent


def test_an_order_is_carried_out_once(
    killed: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fault_points, "_FOLDER", str(tmp_path))
    (tmp_path / POINT).touch()
    reached(FaultPoint.END_HEARD)
    assert killed == []
    reached(POINT)
    reached(POINT)
    assert killed == [(os.getpid(), signal.SIGKILL)]


def test_without_the_variable_nobody_looks(
    killed: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(fault_points, "_FOLDER", "")
    monkeypatch.chdir(tmp_path)
    (tmp_path / POINT).touch()
    reached(POINT)
    assert killed == []


def test_a_folder_that_is_none_orders_nothing(killed: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_points, "_FOLDER", "/dev/null")
    reached(POINT)
    assert killed == []
