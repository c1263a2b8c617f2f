"""The embedded backend as a whole: started, stopped, asked how it is, and warmed. Knows nothing of the bus.

Everything heavy (starlette, uvicorn, the engine, onnxruntime) is imported when it is used: beside a real Ollama this
costs nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from participants.services.model_server.catalogue import EMBEDDING, Model, model_of
from participants.services.model_server.errors import EngineUnavailable, WeightsUnavailable
from participants.services.model_server.generation import Engine, Json, OnState, State
from participants.services.model_server.weights import resolve

if TYPE_CHECKING:
    import uvicorn

    from participants.services.model_server.embed import MiniLm

EngineFactory = Callable[[Model, OnState], Engine]


class EmbeddedConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the embedded model is served."""

    model: str | None = None  # default | small | tiny | PATH.gguf | URL#sha256=…; None: LOCAL2_EMBEDDED_MODEL
    host: str = "127.0.0.1"
    port: int = 0  # 0: any free one
    num_ctx: int = 8192  # tokens, shared by what runs at once
    answers_at_once: int = 2
    threads: int = 0  # 0: as many as suit the machine
    batch: int = 128  # tokens a step while the prompt is read; a cancel waits for one step
    keep_alive_s: float | None = 300.0  # None: never unload
    max_body_bytes: int = 16 << 20


class Status(msgspec.Struct, frozen=True):
    """How the embedded backend is. `reason` says why it is absent or in error, and what to do."""

    state: State
    model: str
    reason: str = ""
    url: str = ""


class EmbeddedBackend:
    """Serves Ollama's API on a loopback port. All methods belong to one event loop."""

    def __init__(
        self,
        config: EmbeddedConfig | None = None,
        on_state: Callable[[Status], None] | None = None,
        engine_factory: EngineFactory | None = None,
    ) -> None:
        self.config = config or EmbeddedConfig()
        self._on_state = on_state or _ignore
        self._engine_factory = engine_factory or self._llama_engine
        self._state: State
        self._model, self._state, self._reason = self._first_state()
        self._url = ""
        self._engine: Engine | None = None
        self._minilm: MiniLm | None = None
        self._server: uvicorn.Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self._warming: asyncio.Task[None] | None = None

    @property
    def num_ctx(self) -> int:
        """The context that is served, in tokens."""
        return self.config.num_ctx

    @property
    def keep_alive_s(self) -> float | None:
        """How long an idle model stays in memory, in seconds; None: for ever."""
        return self.config.keep_alive_s

    def status(self) -> Status:
        """How it is now."""
        return Status(self._state, self._model.name, self._reason, self._url)

    async def start(self) -> str:
        """Listen, and return the address for OLLAMA_HOST. Loads no model yet."""
        from participants.services.model_server.api import build_app
        from participants.services.model_server.server import serve

        listener = _listen(self.config.host, self.config.port)
        host, port = listener.getsockname()[:2]
        self._server, self._serving = await serve(build_app(self, self.config.max_body_bytes), listener)
        self._url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._set_state(self._state, self._reason)
        return self._url

    async def stop(self) -> None:
        """Stop listening, end what runs, free the memory."""
        await self._end_warming()
        if self._engine is not None:
            await self._engine.close()  # first: it ends the answers that run with words
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving
        if self._minilm is not None:
            self._minilm.close()
        self._engine = self._minilm = self._server = self._serving = None
        self._url = ""

    async def warm(self, system: str, tools: Sequence[Json] = ()) -> None:
        """Load the model and read the head of the prompts that will come, giving way to real requests at once.

        `tools` are definitions as in /api/chat. A second call takes the place of the first. Raises EngineUnavailable.
        """
        from participants.services.model_server import prompt, router
        from participants.services.model_server.chat import tools_of
        from participants.services.model_server.wire import ToolDefinition

        await self._end_warming()
        offered = tools_of(msgspec.convert(list(tools), list[ToolDefinition])) if self._model.tools else []
        jobs = [router.warm_up(offered)] if offered else []
        jobs.append(prompt.warm_up(system))
        warming = asyncio.get_running_loop().create_task(self.engine().run(jobs), name="warm up the model")
        self._warming = warming
        try:
            await asyncio.wait([warming])
        finally:
            warming.cancel()
        if not warming.cancelled() and (error := warming.exception()):
            raise error

    async def _end_warming(self) -> None:
        if self._warming is not None and not self._warming.done():
            self._warming.cancel()
            await asyncio.wait([self._warming])

    def models(self) -> Sequence[Model]:
        """The chat model and the embedding model."""
        return (self._model, model_of(EMBEDDING))

    def is_installed(self, model: Model) -> bool:
        """Whether the model's files are here."""
        choice = EMBEDDING if model.kind == "embedding" else self.config.model
        try:
            return resolve(choice).installed
        except WeightsUnavailable:
            return False

    def running_engine(self) -> Engine | None:
        """The engine, if there is one yet."""
        return self._engine

    def engine(self) -> Engine:
        """The engine, whose model loads when first used. Raises EngineUnavailable when the weights are not here."""
        if self._engine is None:
            self._need(self._model)
            self._engine = self._engine_factory(self._model, self._set_state)
            if self._state in {"absent", "error"}:
                self._set_state("installed", "")
        return self._engine

    async def embed(self, texts: list[str], truncate: bool = True) -> tuple[list[list[float]], int]:
        """Vectors of 384 numbers, and the number of tokens read. Raises EngineUnavailable, Refused."""
        if self._minilm is None:
            from participants.services.model_server.embed import MiniLm

            model = model_of(EMBEDDING)
            self._need(model)
            self._minilm = MiniLm(model.paths[0], model.paths[1])
        return await self._minilm.embed(texts, truncate)

    def _need(self, model: Model) -> None:
        if not self.is_installed(model):
            raise EngineUnavailable(_how_to_install(model))

    def _llama_engine(self, model: Model, on_state: OnState) -> Engine:
        from participants.services.model_server.engine import LlamaEngine
        from participants.services.model_server.llama import LlamaConfig

        config = self.config
        llama = LlamaConfig(
            model_path=model.paths[0],
            num_ctx=config.num_ctx,
            slots=config.answers_at_once + 1,  # one for the router
            batch=config.batch,
            threads=config.threads,
        )
        return LlamaEngine(llama, on_state, config.keep_alive_s)

    def _first_state(self) -> tuple[Model, State, str]:
        try:
            weights = resolve(self.config.model)
        except WeightsUnavailable as error:
            return Model(name="none", title="none"), "absent", str(error)
        if weights.installed:
            return weights.model, "installed", ""
        return weights.model, "absent", _how_to_install(weights.model)

    def _set_state(self, state: State, reason: str) -> None:
        self._state, self._reason = state, reason
        self._on_state(self.status())


def _how_to_install(model: Model) -> str:
    if model.local:
        return f"the model file {model.local} is not there, or is no GGUF file"
    choice = EMBEDDING if model.kind == "embedding" else ""
    command = f"python -m participants.services.model_server.weights install {choice}".rstrip()
    return f"the weights of {model.name} are not installed: run `{command}`, or install Ollama (https://ollama.com)"


def _listen(host: str, port: int) -> socket.socket:
    from participants.services.model_server.guard import is_loopback

    if not is_loopback(f"//[{host}]" if ":" in host else f"//{host}"):
        raise ValueError(f"the embedded model listens on loopback addresses only, not on {host!r}")
    listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    # Accepted connections inherit it: with Nagle's algorithm a small chunk would wait 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _ignore(_status: Status) -> None: ...
