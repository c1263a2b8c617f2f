"""Who answers, as the status tells it: above all while the embedded model cannot say so itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

import httpx
import pytest

from bus.errors import RequestTimeout
from bus.messages.control import Backend
from participants.backend.backends import LOADING, Backends
from participants.models import ModelsConfig
from tests.support.scripted_ollama import ScriptedOllama

NOBODY = "http://127.0.0.1:9"


class Embedded:
    """What model_server answers: a state, or nothing at all."""

    def __init__(self, url: str) -> None:
        self.url, self.answers = url, True
        self.asked: list[str] = []
        self.backends: Backends | None = None

    async def __call__(self) -> Backend:
        self.asked.append(self.backends.info.state if self.backends else "")
        if not self.answers:
            raise RequestTimeout("model_server.status", 1.0)
        return Backend(state="installed", url=self.url, model="small")


@pytest.fixture
async def server() -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as started:
        yield started


def backends(embedded: Embedded, backend: Literal["auto", "embedded"] = "auto") -> Backends:
    made = Backends(ModelsConfig(ollama_host=NOBODY, backend=backend), embedded, httpx.Timeout(1.0))
    embedded.backends = made
    return made


def told(found: Backends) -> tuple[str, str, bool]:
    return found.info.kind, found.info.state, found.info.demo


async def test_a_model_that_loads_is_not_missing(server: ScriptedOllama) -> None:
    embedded = Embedded(server.url)
    found = backends(embedded)
    await found.refresh()
    assert told(found) == ("embedded", "installed", True)
    found.embedded_is("loading")
    embedded.answers = False
    await found.refresh()
    assert told(found) == ("embedded", "loading", True)
    assert found.info.url == server.url
    assert found.model("")
    found.embedded_is("ready")
    await found.refresh()
    assert told(found) == ("none", "unreachable", False)


async def test_loading_is_told_before_the_server_is_known() -> None:
    embedded = Embedded("")
    embedded.answers = False
    found = backends(embedded, backend="embedded")
    found.embedded_is("loading")
    await found.refresh()
    assert (told(found), found.info.message) == (("none", "loading", False), LOADING)


async def test_a_look_changes_nothing_before_it_is_over(server: ScriptedOllama) -> None:
    embedded = Embedded(server.url)
    found = backends(embedded)
    await found.refresh()
    await found.refresh()
    assert embedded.asked == ["unknown", "installed"]


async def test_the_embedded_models_state_says_nothing_of_ollama(server: ScriptedOllama) -> None:
    found = Backends(ModelsConfig(ollama_host=server.url), Embedded(""), httpx.Timeout(1.0))
    await found.refresh()
    found.embedded_is("loading")
    assert told(found) == ("ollama", "ready", False)
