"""Who answers now, Ollama or the embedded model, and what can it do?

Ollama wins wherever it answers; the embedded backend is asked over the bus only when it does not,
so that its process stays small beside a real Ollama.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import httpx
import ollama
import structlog

from bus.command import local2
from bus.errors import ConfigError, Local2Error
from bus.messages.control import Backend
from bus.messages.generation import BackendInfo, ModelInfo, RoleInfo
from participants.backend.chat import ChatClient
from participants.backend.loopback import LoopbackTransport
from participants.models import ROLES, ModelsConfig, ollama_url, role_model, same_model

log = structlog.get_logger()
_PROBE = httpx.Timeout(2.0, connect=1.0)
_LONGEST_LOAD_S = 180.0
"""So long a model that is being loaded may keep its server from answering."""
DEMO = (
    "A small demo model that runs inside LoCAL2 answers. It invents facts. "
    "For a good one install Ollama (ollama.com), then: `ollama pull gemma3:4b`"
)
LOADING = "The model is being loaded into memory: it answers in a moment."


Found = tuple[BackendInfo, list[ModelInfo]]


class NoModel(Local2Error):
    """No model can answer; the text says why and what to do. `code` is a stable word."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Backends:
    """The model server in use, its models, and what each was found unable to do.

    Args:
        config: models.yaml.
        embedded: Asks model_server for its state.
        timeouts: For chats: httpx timeouts.
    """

    def __init__(
        self, config: ModelsConfig, embedded: Callable[[], Awaitable[Backend]], timeouts: httpx.Timeout
    ) -> None:
        self.config, self._embedded, self._timeouts = config, embedded, timeouts
        self.info = BackendInfo(kind="none", state="unknown")
        self.models: list[ModelInfo] = []
        self._clients: dict[str, ChatClient] = {}
        self._cannot: set[tuple[str, str]] = set()
        self._can: dict[str, set[str]] = {}
        self._loading_until = 0.0
        self._embedded_url = ""

    async def refresh(self) -> None:
        """Look who answers. Raises nothing: the state says what is missing, and changes only once that is known."""
        self.info, self.models = await self._look()

    async def _look(self) -> Found:
        if self.config.backend == "embedded":
            return await self._try_embedded()
        found = await self._try_ollama()
        if found[0].kind == "ollama" or self.config.backend == "ollama":
            return found
        return await self._try_embedded()

    async def _try_ollama(self) -> Found:
        url = ""
        try:
            url = ollama_url(self.config)
            models = await self._list(url)
        except ConfigError as error:
            return BackendInfo(kind="none", state="unreachable", message=f"{error}."), []
        except (httpx.HTTPError, OSError, ollama.ResponseError, ValueError) as error:
            words = (
                f"No Ollama answers at {url}. "
                "Start it (`ollama serve`), or set OLLAMA_HOST or models.yaml: ollama_host."
            )
            log.debug("ollama_unreachable", url=url, reason=str(error))
            return BackendInfo(kind="none", url=url, state="unreachable", message=words), []
        return BackendInfo(kind="ollama", url=url, state="ready"), models

    async def _try_embedded(self) -> Found:
        try:
            backend = await self._embedded()
            models = await self._list(backend.url) if backend.url else []
        except (httpx.HTTPError, OSError, ollama.ResponseError, ValueError, Local2Error) as error:
            if time.monotonic() < self._loading_until:
                return self._loading(), self.models
            words = (
                f"Neither Ollama nor the embedded model answers ({error}). "
                f"See: {local2('status')}, {local2('logs', 'model_server')}"
            )
            return BackendInfo(kind="none", state="unreachable", message=words), []
        self._embedded_url = backend.url
        if not backend.url:
            return BackendInfo(kind="none", state=backend.state, message=backend.message), []
        return BackendInfo(kind="embedded", url=backend.url, demo=True, state=backend.state, message=DEMO), models

    def embedded_is(self, state: str) -> None:
        """The embedded backend says its state by itself: while it loads a model it may be unable to answer."""
        self._loading_until = time.monotonic() + _LONGEST_LOAD_S if state == "loading" else 0.0
        if self._loading_until and self.info.kind != "ollama":
            self.info = self._loading()

    def _loading(self) -> BackendInfo:
        """Where its address is known, questions can wait at its door."""
        url = self._embedded_url
        if not url:
            return BackendInfo(kind="none", state="loading", message=LOADING)
        return BackendInfo(kind="embedded", url=url, demo=True, state="loading", message=DEMO)

    async def _list(self, url: str) -> list[ModelInfo]:
        client = connect(url, _PROBE)
        try:
            listed = await client.list()
        finally:
            await client.close()
        return [ModelInfo(name=m.model, size_bytes=int(m.size or 0)) for m in listed.models if m.model]

    def client(self, url: str = "") -> ChatClient:
        """The client for the server in use; its connections are kept."""
        url = url or self.info.url
        if url not in self._clients:
            self._clients[url] = connect(url, self._timeouts)
        return self._clients[url]

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    # ------------------------------------------------------------------ models

    def model(self, wanted: str) -> str:
        """The model for a role or a model's name; empty is the default role.

        Raises:
            NoModel: Nobody answers, or it is not installed; the text has the command that brings it.
        """
        if self.info.kind == "none":
            raise NoModel("model_unreachable", self.info.message or "No model server answers.")
        names = [m.name for m in self.models]
        role = wanted or "default"
        name = role_model(self.config, role, names) if role in ROLES else wanted
        found = next((n for n in names if same_model(name, n)), "")
        if not found and self.info.kind == "embedded":
            found = next(iter(names), "")  # it has one chat model, whatever the roles say
        if found:
            return found
        raise NoModel("model_missing", f"The model {name!r} is not installed. To get it: `ollama pull {name}`")

    def helper(self, role: str) -> str:
        """The model for work behind an answer: grading, or summing up.

        Args:
            role: critic or memory.

        Raises:
            NoModel: As `model`; also where only the small embedded model is there, which does neither well.
        """
        if self.info.kind == "embedded":
            raise NoModel("role_off", f"The small demo model is not used as {role}: it does that badly.")
        return self.model(getattr(self.config, role) or "default")

    def roles(self) -> list[RoleInfo]:
        """Each role, its model, and the command that brings it where it is missing."""
        out: list[RoleInfo] = []
        for role in ROLES:
            if role == "vision" and self.info.kind == "embedded":
                out.append(RoleInfo(role=role, model="", available=False, hint="The demo model cannot see pictures."))
                continue
            try:
                out.append(RoleInfo(role=role, model=self.model(role), available=True))
            except NoModel as error:
                name = role_model(self.config, role, [])
                out.append(RoleInfo(role=role, model=name, available=False, hint=str(error)))
        return out

    # ------------------------------------------------------------------ abilities

    async def abilities(self, model: str) -> set[str]:
        """What the server says that the model can: `tools`, `thinking`…; asked once a model, less what failed."""
        if model not in self._can:
            self._can[model] = await self._ask_abilities(model)
        return {a for a in self._can[model] if (model, a) not in self._cannot}

    async def _ask_abilities(self, model: str) -> set[str]:
        try:
            shown = await self.client().show(model)
        except (httpx.HTTPError, ollama.ResponseError, OSError, ValueError):
            return {"tools"}  # an old server: try, and learn from its refusal
        return set(shown.capabilities or ["tools"])

    def cannot(self, model: str, ability: str) -> None:
        """Remember that the server refused it."""
        self._cannot.add((model, ability))

    def forget(self) -> None:
        """The configuration or the server changed: ask again."""
        self._can.clear()
        self._cannot.clear()


def connect(url: str, timeouts: httpx.Timeout) -> ChatClient:
    """A client for `url`. Loopback ignores proxy settings of the environment."""
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if local and parts.scheme == "http":
        return ChatClient(url, timeout=timeouts, transport=LoopbackTransport())
    limits = httpx.Limits(max_connections=64, keepalive_expiry=60.0)
    return ChatClient(url, timeout=timeouts, trust_env=not local, limits=limits)
