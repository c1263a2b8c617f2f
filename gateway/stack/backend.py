"""Who answers: an Ollama that runs, or the embedded model? By the rule of the participants."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import cast

from bus import config
from gateway.stack import health
from participants.models import ModelsConfig, ollama_url, same_model


@dataclass(frozen=True)
class Backend:
    """Who answers.

    Args:
        embedded: Whether it is the embedded model.
        url: Ollama's address, or where none was found.
        version: Ollama's; empty where it does not answer.
        named: Whether the user named that address.
        embedding: Whether the model inside LoCAL2 is to turn text into vectors, for want of another.
    """

    embedded: bool
    url: str
    version: str = ""
    named: bool = False
    embedding: bool = False


def find(timeout_s: float = 2.0) -> Backend:
    """Read models.yaml, and ask Ollama unless it is ruled out.

    Raises:
        ConfigError: models.yaml cannot be read, or holds a bad value.
    """
    models = config.load("models", ModelsConfig)
    url = ollama_url(models)
    named = bool(models.ollama_host or os.environ.get("OLLAMA_HOST"))
    if models.backend == "embedded":
        return Backend(True, url, embedding=True)
    answer = health.get_json(f"{url}/api/version", timeout_s) or {}
    version = str(answer.get("version", ""))
    if models.backend == "ollama":
        return Backend(False, url, version, named)
    embedding = not version or not _has(url, models.embedding, timeout_s)
    return Backend(not version, url, version, named, embedding)


def _has(url: str, model: str, timeout_s: float) -> bool:
    listed = (health.get_json(f"{url}/api/tags", timeout_s) or {}).get("models")
    entries = cast("list[object]", listed) if isinstance(listed, list) else []
    names = [str(cast("dict[str, object]", entry).get("name")) for entry in entries if isinstance(entry, dict)]
    return any(same_model(model, name) for name in names)
