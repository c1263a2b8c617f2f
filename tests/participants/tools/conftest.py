"""A tool of the real class and the real yaml, called directly, and a web site of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bus.config import SystemConfig, convert, merge, read_yaml
from bus.testing import MemoryBus
from participants.tools.base import BaseTool
from tests.support.stage import ROOT
from tests.support.web_server import WebServer

MakeTool = Callable[..., BaseTool]


@pytest.fixture
async def site() -> AsyncIterator[WebServer]:
    """A web site on this machine."""
    async with WebServer() as server:
        yield server


@pytest.fixture
def make_tool() -> Callable[..., Any]:
    """A tool with what its yaml says, and some values changed."""

    def make(kind: type[BaseTool], **changes: Any) -> BaseTool:
        values = read_yaml(ROOT / "config" / f"{kind.CONFIG_NAME}.yaml")
        config = convert(merge(values, changes), kind.Config, "test")
        return kind(config, MemoryBus().make(kind.CONFIG_NAME), SystemConfig(instance_id="here"))

    return make
