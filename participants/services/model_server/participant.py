"""How does the embedded backend take part in the bus?

It listens for Ollama's API only once somebody asks for it: beside a real Ollama nobody does.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, ClassVar

import structlog
from msgspec import Meta

from bus.config import Section
from bus.envelope import Envelope
from bus.errors import RequestFailed
from bus.messages.control import Backend, BackendChanged, BackendRequest, Done, Warm
from participants.services.base import BaseService
from participants.services.model_server.errors import EngineUnavailable
from participants.services.model_server.service import EmbeddedBackend, EmbeddedConfig, Status

log = structlog.get_logger()
_LONGEST_LOAD_S = 180.0


class ModelServerConfig(Section, frozen=True, kw_only=True):
    """model_server.yaml: the embedded model."""

    model: Annotated[str, Meta(description="default, small, tiny, or a .gguf file; empty: LOCAL2_EMBEDDED_MODEL.")] = ""
    port: Annotated[
        int, Meta(description="Where it serves Ollama's API on loopback; 0: any free port.", ge=0, le=65535)
    ] = 0
    num_ctx: Annotated[int, Meta(description="Tokens of context, shared by what runs at once.", ge=512)] = 8192
    answers_at_once: Annotated[int, Meta(description="Further questions wait.", ge=1, le=8)] = 2
    threads: Annotated[int, Meta(description="0: as many as suit the machine.", ge=0)] = 0
    batch: Annotated[int, Meta(description="Tokens a step while the prompt is read; a stop waits for one.", ge=16)] = (
        128
    )
    keep_alive_s: Annotated[
        float | None, Meta(description="Seconds idle after which it is unloaded; empty: never.")
    ] = 300.0
    warm: Annotated[bool, Meta(description="Load the model ahead of the first question.")] = True


class ModelServer(BaseService):
    """Serves the embedded model where there is no Ollama."""

    CONFIG_NAME: ClassVar[str] = "model_server"
    Config: ClassVar[type[Section]] = ModelServerConfig
    config: ModelServerConfig

    async def setup(self) -> None:
        """Answer who asks for the backend."""
        self._backend = self._make()
        self._starting = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self.bus.serve(BackendRequest, self._status)
        self.bus.serve(Warm, self._warm)

    def _make(self) -> EmbeddedBackend:
        chosen = self.config
        return EmbeddedBackend(
            on_state=self._on_state,
            config=EmbeddedConfig(
                model=chosen.model or None,
                port=chosen.port,
                num_ctx=chosen.num_ctx,
                answers_at_once=chosen.answers_at_once,
                threads=chosen.threads,
                batch=chosen.batch,
                keep_alive_s=chosen.keep_alive_s,
            ),
        )

    def _on_state(self, status: Status) -> None:
        """The engine loads a model without letting go of the interpreter: nothing else runs here meanwhile."""
        self.bus.publish(BackendChanged(state=status.state))
        self.expect_silence(_LONGEST_LOAD_S if status.state == "loading" else 0.0)

    def reconfigured(self, before: Any) -> None:
        """Another model or another context needs a new engine; what runs on the old one ends."""
        self.spawn(self._replace(), name="replace the model")

    async def _replace(self) -> None:
        async with self._starting:
            await self._backend.stop()
            self._backend = self._make()

    async def farewell(self) -> None:
        """End what runs and free the memory."""
        await self._backend.stop()

    async def _status(self, _message: BackendRequest, _envelope: Envelope) -> Backend:
        async with self._starting:
            if self._backend.status().state == "absent":
                self._backend = self._make()  # the weights may have come meanwhile
            status = self._backend.status()
            if status.state != "absent" and not status.url:
                await self._listen()
        status = self._backend.status()
        return Backend(state=status.state, url=status.url, model=status.model, message=status.reason)

    async def _listen(self) -> None:
        try:
            await self._backend.start()
        except OSError as error:
            words = f"The embedded model cannot listen on port {self.config.port}: {error.strerror}. "
            raise RequestFailed("port_taken", f"{words}Set model_server.yaml: port.") from error

    async def _warm(self, message: Warm, _envelope: Envelope) -> Done:
        if self.config.warm and self._backend.status().url:
            self._warming = self.spawn(self._read_head(message), name="warm")
        return Done()

    async def _read_head(self, message: Warm) -> None:
        try:
            await self._backend.warm(message.system, message.tools)
        except EngineUnavailable as error:
            log.warning("not_warmed", reason=str(error))
