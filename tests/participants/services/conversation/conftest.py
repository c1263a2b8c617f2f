"""A ledger on an in-memory bus, and real processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.participants.services.conversation.desk import Clock, Desk
from tests.support.stage import stage

__all__ = ["stage"]


@pytest.fixture
def local2_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home."""
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
async def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The running loop's clock."""
    loop = asyncio.get_running_loop()
    clock = Clock(loop)
    monkeypatch.setattr(loop, "time", clock)
    return clock


@pytest.fixture
async def desk(local2_home: Path, clock: Clock) -> AsyncIterator[Desk]:
    """A ledger that runs."""
    desk = Desk(clock)
    await desk.open()
    yield desk
    await desk.close()
