"""How does text become vectors?

The role `embedding` on Ollama where it has that model, else the small one inside LoCAL2. Vectors have unit length.
Those of two models cannot be compared, so each comes with its model's name.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import httpx
import ollama
import structlog

from bus.command import local2
from bus.errors import Local2Error
from bus.messages.control import Backend
from participants.backend.backends import connect
from participants.models import ModelsConfig, ollama_url, same_model

log = structlog.get_logger()
Use = Literal["document", "query"]
_PREFIXES = {"nomic-embed-text": {"document": "search_document: ", "query": "search_query: "}}
"""What a model was trained to read before each text; see its card."""
_TIMEOUT = httpx.Timeout(60.0, connect=1.0)
_LOOK_S = 10.0
_MOST_CHARS = 8000
_QUERIES_KEPT = 64
_EMBEDDED = ("minilm", "embed")


class NoVectors(Local2Error):
    """No model can make vectors now; the text says why, and what to do."""


class Embedder:
    """Makes vectors.

    Args:
        config: models.yaml as it is now.
        embedded: Asks model_server for its state.
    """

    def __init__(self, config: Callable[[], ModelsConfig], embedded: Callable[[], Awaitable[Backend]]) -> None:
        self._config, self._embedded = config, embedded
        self._clients: dict[str, ollama.AsyncClient] = {}
        self._found: dict[str, str] = {}
        self._current = ""
        self._looked_at = -math.inf
        self._queries: OrderedDict[tuple[str, str], list[float]] = OrderedDict()

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    def forget(self) -> None:
        """Look anew who can do it."""
        self._looked_at = -math.inf

    def forget_queries(self) -> None:
        """No text that somebody asked for is kept."""
        self._queries.clear()

    async def model(self) -> str:
        """The model that makes vectors now.

        Raises:
            NoVectors: There is none.
        """
        if time.monotonic() - self._looked_at > _LOOK_S:
            await self._look()
        if not self._current:
            name, command = self._config().embedding, local2("models install embedding")
            raise NoVectors(f"No embedding model answers. With Ollama: `ollama pull {name}`; else: {command}")
        return self._current

    async def query(self, text: str, model: str) -> list[float]:
        """The vector of a question, of that model.

        Raises:
            NoVectors: It does not answer.
        """
        if (text, model) not in self._queries:
            (vector,) = await self.vectors([text], model, "query")
            self._queries[(text, model)] = vector
            if len(self._queries) > _QUERIES_KEPT:
                self._queries.popitem(last=False)
        self._queries.move_to_end((text, model))
        return self._queries[(text, model)]

    async def vectors(self, texts: Sequence[str], model: str, use: Use = "document") -> list[list[float]]:
        """Vectors in the order of `texts`.

        Args:
            texts: Each is cut where it is too long for any such model.
            model: As `model` gave it.
            use: What they are for.

        Raises:
            NoVectors: The model does not answer, or not with vectors.
        """
        if model not in self._found:  # an older one, whose vectors still serve
            await self._models_inside()
        url = self._found.get(model)
        if url is None:
            raise NoVectors(f"The embedding model {model!r} is not there (any more).")
        prefix = _PREFIXES.get(model.removesuffix(":latest"), {}).get(use, "")
        read = [f"{prefix}{text[:_MOST_CHARS]}" or " " for text in texts]
        try:
            answer = await self._client(url).embed(model=model, input=read, truncate=True)
        except (ollama.ResponseError, httpx.HTTPError, OSError, ValueError) as error:
            self.forget()
            raise NoVectors(f"The embedding model {model!r} failed: {error}") from error
        found = [_unit(vector) for vector in answer.embeddings]
        if len(found) != len(read) or not all(found) or len({len(vector) for vector in found}) > 1:
            raise NoVectors(f"The embedding model {model!r} gave no usable vectors.")
        return found

    # ------------------------------------------------------------------ who does it

    async def _look(self) -> None:
        """Ollama first; the one inside LoCAL2 is asked only where that lacks the model."""
        config = self._config()
        there = await self._models_at(ollama_url(config)) if config.backend != "embedded" else []
        self._current = next((name for name in there if same_model(config.embedding, name)), "")
        if not self._current:
            inside = await self._models_inside()
            self._current = next((name for name in inside if any(part in name for part in _EMBEDDED)), "")
        self._looked_at = time.monotonic()

    async def _models_inside(self) -> list[str]:
        try:
            backend = await self._embedded()
        except Local2Error as error:
            log.info("no_embedded_model", reason=str(error))
            return []
        return await self._models_at(backend.url) if backend.url else []

    async def _models_at(self, url: str) -> list[str]:
        try:
            listed = await self._client(url).list()
        except (ollama.ResponseError, httpx.HTTPError, OSError, ValueError) as error:
            log.debug("no_models", url=url, reason=str(error))
            return []
        names = [model.model for model in listed.models if model.model]
        self._found |= dict.fromkeys(names, url)
        return names

    def _client(self, url: str) -> ollama.AsyncClient:
        if url not in self._clients:
            self._clients[url] = connect(url, _TIMEOUT)
        return self._clients[url]


def _unit(vector: Sequence[float]) -> list[float]:
    """At unit length; empty for what has none."""
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector] if length > 0 and math.isfinite(length) else []
