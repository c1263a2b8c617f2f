"""Which model server is asked, and which model fills a role?"""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from bus.config import Section
from bus.errors import ConfigError

OLLAMA_PORT = 11434
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?")
ROLES = ("default", "quality", "vision")
"""Roles that answer the user."""
HELPERS = ("critic", "memory", "embedding")
"""Roles that work behind an answer. The small embedded model fills none of them but the last."""


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
    critic: Annotated[str, Meta(description="Grades answers; empty: the default one. Off on the embedded model.")] = ""
    memory: Annotated[
        str, Meta(description="Sums up what is remembered; empty: the default one. Off on the embedded model.")
    ] = ""
    embedding: Annotated[
        str, Meta(description="Turns text into vectors; where it is missing, the embedded one does.")
    ] = "nomic-embed-text"
    preferred: Annotated[list[str], Meta(description="What an empty `default` looks for, best first.")] = []

    def __post_init__(self) -> None:
        """A slip in the address is said where it was made, before anything connects to it."""
        try:
            normalise_host(self.ollama_host)
        except ValueError as error:
            raise ValueError(f"ollama_host: {error}") from error


def normalise_host(text: str) -> str:
    """Any way in which people write Ollama's address, as `scheme://host:port`.

    A path such as /api or /v1 is dropped; 0.0.0.0, which servers listen on, becomes loopback.

    Raises:
        ValueError: It is no address; the text says what is expected.
    """
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = _host(parts.hostname or "127.0.0.1"), parts.port
    except ValueError as error:
        raise ValueError(f"expected an address such as 127.0.0.1:{OLLAMA_PORT}, got {text[:80]!r} ({error})") from error
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"expected http:// or https:// before the address, got {text[:80]!r}")
    default_port = 443 if parts.scheme == "https" else OLLAMA_PORT
    return f"{parts.scheme}://{host}:{port or default_port}"


def _host(name: str) -> str:
    if ":" in name:
        address = ipaddress.IPv6Address(name)
        if address.scope_id is not None:
            raise ValueError("no zone may follow an address")
        return "127.0.0.1" if address.is_unspecified else f"[{address}]"
    ascii_name = name.encode("idna").decode()
    if not _NAME.fullmatch(ascii_name):
        raise ValueError("no name of a machine")
    return "127.0.0.1" if ascii_name == "0.0.0.0" else ascii_name  # noqa: S104  read, not listened on


def ollama_url(config: ModelsConfig) -> str:
    """Ollama's address: models.yaml, else OLLAMA_HOST, else this machine.

    Raises:
        ConfigError: OLLAMA_HOST holds none.
    """
    named = os.environ.get("OLLAMA_HOST", "")
    try:
        address = normalise_host(named)
    except ValueError as error:  # whatever models.yaml says: the ollama package reads it, too, and does not start
        raise ConfigError("OLLAMA_HOST", "", str(error)) from error
    return normalise_host(config.ollama_host) if config.ollama_host else address


def same_model(wanted: str, name: str) -> bool:
    """Whether two names mean one model: `:latest` may be left out."""
    return wanted.removesuffix(":latest") == name.removesuffix(":latest")


def role_model(config: ModelsConfig, role: str, installed: list[str]) -> str:
    """The model of a role; empty where nothing is set and nothing is installed.

    Args:
        config: models.yaml.
        role: One of `ROLES` or `HELPERS`.
        installed: The names of the server's chat models, in its order.
    """
    chosen = getattr(config, role) or config.default
    if chosen:
        return chosen
    there = [name for wanted in config.preferred for name in installed if same_model(wanted, name)]
    chat = [name for name in installed if "embed" not in name]
    return next(iter([*there, *chat, *config.preferred]), "")
