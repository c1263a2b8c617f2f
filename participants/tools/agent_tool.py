"""What is a tool that has a model of its own?

It asks the generator who answers, and uses that model server and context size: another size would
make the server load the model anew, in the middle of somebody's turn.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import structlog
from msgspec import Meta

from bus.errors import EnvelopeError, RequestFailed, RequestTimeout
from bus.messages.generation import GeneratorStatus, GetStatus
from participants.tools.base import BaseTool, ToolConfig

log = structlog.get_logger()
_STATUS_S = 5.0
_CONNECT_S = 3.0
_CONTEXT = 8192
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Model(NamedTuple):
    """A model that can be asked now."""

    url: str
    name: str
    num_ctx: int


class ModelFailed(Exception):
    """The model gave no text; the words are for the log."""


class AgentToolConfig(ToolConfig, frozen=True, kw_only=True):
    """What the yaml of such a tool holds."""

    model: Annotated[str, Meta(description="The role whose model it uses.", min_length=1)] = "default"
    model_s: Annotated[float, Meta(description="How long one answer of the model may take.", gt=0)] = 60.0


class BaseAgentTool(BaseTool):
    """A tool with a model. A subclass works without it, too: there may be none, or a small one that helps little."""

    config: AgentToolConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def model(self) -> Model | None:
        """The model of its role; None where none answers but the small embedded one."""
        try:
            status = await self.bus.request(GetStatus(), GeneratorStatus, timeout_s=_STATUS_S)
        except (RequestTimeout, RequestFailed, EnvelopeError) as error:
            log.warning("generator_silent", reason=str(error))
            return None
        return model_of(status, self.config.model)

    async def complete(
        self, model: Model, messages: list[dict[str, str]], *, tokens: int, schema: dict[str, Any] | None = None
    ) -> str:
        """The model's text, without its thinking.

        Args:
            model: From `model`.
            messages: System and user; they have to fit into `model.num_ctx` less `tokens`.
            tokens: How long the answer may be.
            schema: A JSON schema that it has to keep to; servers may not hold it.

        Raises:
            ModelFailed: There was none, for whatever reason.
        """
        # These two cost 20 MB, which a process that is never called need not hold.
        import httpx
        import ollama

        local = urlsplit(model.url).hostname in _LOOPBACK
        timeouts = httpx.Timeout(self.config.model_s, connect=_CONNECT_S)
        client = ollama.AsyncClient(model.url, timeout=timeouts, trust_env=not local)
        try:
            answer = await client.chat(  # pyright: ignore[reportUnknownMemberType]  untyped there
                model.name,
                messages,
                think=False,
                format=schema,
                options={"num_ctx": model.num_ctx, "num_predict": tokens},
            )
        except (httpx.HTTPError, ollama.ResponseError, OSError, ValueError) as error:
            raise ModelFailed(f"{type(error).__name__}: {error}"[:300]) from error
        finally:
            await client.close()
        return _THOUGHT.sub("", answer.message.content or "").strip()


def model_of(status: GeneratorStatus, role: str) -> Model | None:
    """The model that fills a role, as the generator says."""
    if not status.backend.url or status.backend.demo:
        return None
    there = {info.role: info.model for info in status.roles if info.available}
    name = there.get(role) or there.get("default")
    num_ctx = status.options.get("num_ctx")
    return Model(status.backend.url, name, num_ctx if isinstance(num_ctx, int) else _CONTEXT) if name else None
