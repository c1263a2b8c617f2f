"""A store on an in-memory bus, with a real Chroma and a scripted embedding model, and somebody who asks it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.participants.services.memory_store.desk import Desk
from tests.support.scripted_ollama import ScriptedOllama
from tests.support.stage import stage

__all__ = ["stage"]


@pytest.fixture
def local2_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home."""
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
async def models(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedOllama]:
    """A model server with an embedding model in which texts are as near as they share words."""
    async with ScriptedOllama(models=("scripted:latest", "scripted-embed:latest", "scripted-embed-768d")) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.setenv("LOCAL2_MODELS__EMBEDDING", "scripted-embed")
        yield server


@pytest.fixture
async def desk(local2_home: Path, models: ScriptedOllama) -> AsyncIterator[Desk]:
    """A store that runs."""
    desk = Desk()
    await desk.open()
    yield desk
    await asyncio.wait_for(desk.close(), 20)
