"""Who answers: an Ollama that runs, or the embedded model? By the rule of the participants."""

from __future__ import annotations

import os
from dataclasses import dataclass

from bus import config
from gateway.stack import health
from participants.models import ModelsConfig, ollama_url


@dataclass(frozen=True)
class Backend:
    """Who answers.

    Args:
        embedded: Whether it is the embedded model.
        url: Ollama's address, or where none was found.
        version: Ollama's; empty where it does not answer.
        named: Whether the user named that address.
    """

    embedded: bool
    url: str
    version: str = ""
    named: bool = False


def find(timeout_s: float = 2.0) -> Backend:
    """Read models.yaml, and ask Ollama unless it is ruled out.

    Raises:
        ConfigError: models.yaml cannot be read, or holds a bad value.
    """
    models = config.load("models", ModelsConfig)
    url = ollama_url(models)
    named = bool(models.ollama_host or os.environ.get("OLLAMA_HOST"))
    if models.backend == "embedded":
        return Backend(True, url)
    answer = health.get_json(f"{url}/api/version", timeout_s) or {}
    version = str(answer.get("version", ""))
    return Backend(models.backend == "auto" and not version, url, version, named)
