"""What does a start need to know: the port, the model, what is passed on to the participants?"""

from __future__ import annotations

import os
import re
import socket
from dataclasses import dataclass, replace
from pathlib import Path

from bus import command, config
from gateway.config import GatewayConfig
from gateway.stack.errors import ExitCode, StackError

EMBEDDED = "LOCAL2_EMBEDDED_MODEL"
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}|[^'\"\x00-\x1f]+\.gguf", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where a gateway listens."""

    host: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.host else socket.AF_INET

    @property
    def url(self) -> str:
        """What a user opens in the browser."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"


@dataclass(frozen=True)
class Wanted:
    """What the user asked for on the command line; None where nothing was said.

    Args:
        port: The gateway's.
        model: Of an Ollama, the default role's.
        embedded: A choice of embedded weights.
    """

    port: int | None = None
    model: str | None = None
    embedded: str | None = None

    def overrides(self) -> dict[str, str]:
        """The environment variables by which it reaches the participants."""
        out: dict[str, str] = {}
        if self.port is not None:
            out["LOCAL2_GATEWAY__PORT"] = str(self.port)
        if self.model is not None:
            out["LOCAL2_MODELS__DEFAULT"] = self.model
        if self.embedded is not None:
            out["LOCAL2_MODEL_SERVER__MODEL"] = self.embedded
        return out

    def differs(self, before: Wanted, place: Place) -> str:
        """What is asked for now and is otherwise in a stack that was started with `before`; empty where nothing."""
        if self.port not in (None, place.port):
            return "port"
        return "model" if self.model not in (None, before.model, before.embedded) else ""


def wanted(port: int | None, model: str | None) -> Wanted:
    """Check what was typed.

    Raises:
        StackError: It is no port, or no model's name.
    """
    if port is not None and not 0 <= port <= 65535:
        raise StackError(f"{port} is no port: choose one from 1024 to 65535, or 0 for any.", code=ExitCode.USAGE)
    if model is not None and not _MODEL.fullmatch(model):
        raise StackError(f"{model!r} is no model's name, such as qwen3:8b.", code=ExitCode.USAGE)
    return Wanted(port, None if model is None else from_anywhere(model))


def from_anywhere(choice: str) -> str:
    """A choice of weights as it is right in any folder: participants run in another one than the user's shell."""
    is_file = choice.lower().endswith(".gguf") and Path(choice).expanduser().is_file()
    return str(Path(choice).expanduser().absolute()) if is_file else choice


def passed_on() -> dict[str, str]:
    """Variables whose text holds in the user's folder only, as the participants need them."""
    chosen = os.environ.get(EMBEDDED)
    return {**command.environment(), **({EMBEDDED: from_anywhere(chosen)} if chosen else {})}


def place(started: Wanted) -> Place:
    """Where the gateway of a stack that was started so listens.

    Raises:
        ConfigError: gateway.yaml cannot be read, or holds a bad value.
    """
    configured = config.load("gateway", GatewayConfig)
    return Place(configured.host, configured.port if started.port is None else started.port)


def settled(asked: Wanted) -> Wanted:
    """`asked` with the port that a later `local2` could not find out again: from the environment, or any free one."""
    here = place(asked)
    if here.port == 0:
        return replace(asked, port=_free_port(here.host))
    return replace(asked, port=here.port) if "LOCAL2_GATEWAY__PORT" in os.environ else asked


def _free_port(host: str) -> int:
    with socket.create_server((host, 0), family=Place(host, 0).family) as probe:
        return int(probe.getsockname()[1])
