"""Which model server is asked, and which model fills a role?"""

from __future__ import annotations

import os
from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from bus.config import Section

OLLAMA_PORT = 11434
ROLES = ("default", "quality", "vision")


class ModelsConfig(Section, frozen=True, kw_only=True):
    """models.yaml: roles and where models are served."""

    backend: Annotated[
        Literal["auto", "ollama", "embedded"],
        Meta(description="auto: Ollama where it answers, else the embedded model."),
    ] = "auto"
    ollama_host: Annotated[str, Meta(description="Ollama's address; empty: OLLAMA_HOST, else this machine.")] = ""
    default: Annotated[
        str, Meta(description="The model that answers; empty: the first preferred one that is there.")
    ] = ""
    quality: Annotated[str, Meta(description="A larger model, picked per question; empty: the default one.")] = ""
    vision: Annotated[str, Meta(description="For pictures; empty: the default one.")] = ""
    preferred: Annotated[list[str], Meta(description="What an empty `default` looks for, best first.")] = []


def normalise_host(text: str) -> str:
    """Any way in which people write Ollama's address, as `scheme://host:port`.

    A path such as /api or /v1 is dropped; 0.0.0.0, which servers listen on, becomes loopback.
    """
    text = text.strip()
    parts = urlsplit(text if "://" in text else f"http://{text}")
    host = parts.hostname or "127.0.0.1"
    if host in ("0.0.0.0", "::"):  # noqa: S104  read, not listened on
        host = "127.0.0.1"
    if ":" in host:
        host = f"[{host}]"
    default_port = 443 if parts.scheme == "https" else OLLAMA_PORT
    return f"{parts.scheme}://{host}:{parts.port or default_port}"


def ollama_url(config: ModelsConfig) -> str:
    """Ollama's address: models.yaml, else OLLAMA_HOST, else this machine."""
    return normalise_host(config.ollama_host or os.environ.get("OLLAMA_HOST") or "127.0.0.1")


def same_model(wanted: str, name: str) -> bool:
    """Whether two names mean one model: `:latest` may be left out."""
    return wanted.removesuffix(":latest") == name.removesuffix(":latest")


def role_model(config: ModelsConfig, role: str, installed: list[str]) -> str:
    """The model of a role; empty where nothing is set and nothing is installed.

    Args:
        config: models.yaml.
        role: One of `ROLES`.
        installed: The names of the server's chat models, in its order.
    """
    chosen = getattr(config, role) or config.default
    if chosen:
        return chosen
    there = [name for wanted in config.preferred for name in installed if same_model(wanted, name)]
    chat = [name for name in installed if "embed" not in name]
    return next(iter([*there, *chat, *config.preferred]), "")
