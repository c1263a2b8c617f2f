"""Real stacks: one for all tests that leave it whole, and fresh ones for those that do not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.support.browser import opened
from tests.support.scripted_ollama import ScriptedOllama
from tests.support.stack import Stack


@pytest.fixture
async def model() -> AsyncIterator[ScriptedOllama]:
    """The scripted model server."""
    async with ScriptedOllama() as server:
        yield server


@pytest.fixture
async def stack(model: ScriptedOllama, tmp_path: Path) -> AsyncIterator[Stack]:
    """A whole stack on a fresh home, whose path has what paths can have."""
    async with Stack.started(tmp_path / "a home 100%", model.url) as started:
        yield started


@pytest.fixture
async def page(stack: Stack, request: pytest.FixtureRequest) -> AsyncIterator[Page]:
    """A browser's page on the stack. A test that takes the server away is marked `outage`."""
    async with opened(stack.url, outage=request.node.get_closest_marker("outage") is not None) as page:
        yield page
