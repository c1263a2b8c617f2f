"""An embedded backend with a scripted engine, and the real one with the smallest model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from pathlib import Path

import httpx
import ollama
import pytest

from participants.services.model_server import weights
from participants.services.model_server.generation import Delta, Done, Event, OnState, Work
from participants.services.model_server.service import EmbeddedBackend, EmbeddedConfig

Script = Callable[[Work], Sequence[Event | Exception]]


class ScriptedEngine:
    """Has an engine's interface; plays what `script` returns for the work, and notes what happens."""

    def __init__(self, on_state: OnState) -> None:
        self.num_ctx = 4096
        self.expires_at: float | None = None
        self.loaded = False
        self.works: list[Work] = []
        self.kept: list[float | None] = []
        self.failure: Exception | None = None
        self.script: Script = lambda _work: [Delta("Hello"), Delta(" there"), Done("stop", 7, 3, 2, 0.5, 0.25)]
        self.gate: asyncio.Event | None = None  # when given, everything after the first event waits for it
        self.waiting = asyncio.Event()
        self.stopped = asyncio.Event()
        self._on_state = on_state

    async def load(self) -> None:
        if self.failure:
            raise self.failure
        self.loaded = True
        self._on_state("ready", "")

    async def unload(self) -> None:
        self.loaded = False
        self._on_state("idle", "")

    async def close(self) -> None:
        self.loaded = False

    async def run(self, jobs: Sequence[Work]) -> None:
        await self.load()
        self.works += jobs

    def keep(self, seconds: float | None) -> None:
        self.kept.append(seconds)

    async def stream(self, work: Work) -> AsyncGenerator[Event, None]:
        self.works.append(work)
        try:
            for number, event in enumerate(self.script(work)):
                if self.gate and number:
                    self.waiting.set()
                    await self.gate.wait()
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.stopped.set()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of the user."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LOCAL2_EMBEDDED_MODEL", raising=False)
    return tmp_path / "cache" / "local2" / "models"


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """A file that passes for a model as long as nobody loads it."""
    path = tmp_path / "Toy Model.gguf"
    path.write_bytes(b"GGUF and nothing else")
    return path


@pytest.fixture
async def engine() -> ScriptedEngine:
    """The engine behind `backend`."""
    return ScriptedEngine(lambda _state, _reason: None)


@pytest.fixture
async def backend(cache: Path, model_file: Path, engine: ScriptedEngine) -> AsyncIterator[EmbeddedBackend]:
    """A started backend that serves `toy-model` from the scripted engine."""
    config = EmbeddedConfig(model=str(model_file), max_body_bytes=100_000)
    backend = EmbeddedBackend(config, engine_factory=lambda _model, _on_state: engine)
    await backend.start()
    yield backend
    await backend.stop()


@pytest.fixture
async def http(backend: EmbeddedBackend) -> AsyncIterator[httpx.AsyncClient]:
    """A plain HTTP client of the backend."""
    async with httpx.AsyncClient(base_url=backend.status().url, trust_env=False) as client:
        yield client


@pytest.fixture
async def client(backend: EmbeddedBackend) -> AsyncIterator[ollama.AsyncClient]:
    """The official client of the backend."""
    async with ollama.AsyncClient(host=backend.status().url, trust_env=False) as client:
        yield client


@pytest.fixture(scope="session")
def tiny() -> Path:
    """The smallest real model, fetched once into the user's cache."""
    return weights.install("tiny")


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The real embedding model, fetched once into the user's cache."""
    return weights.install("embedding")
