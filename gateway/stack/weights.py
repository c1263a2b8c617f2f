"""Are the embedded model's weights here, and how do they get here?

The one place where this package reaches into a participant's: the command line installs the
weights before any participant runs, when nobody could be asked over the bus.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bus import config
from gateway.stack.errors import ExitCode, StackError

EMBEDDING = "embedding"


@dataclass(frozen=True)
class Weights:
    """One model that can be embedded."""

    choice: str
    name: str
    path: Path
    installed: bool
    size_bytes: int
    licence: str


def resolve(choice: str | None) -> Weights:
    """What a choice stands for (None: model_server.yaml, LOCAL2_EMBEDDED_MODEL, or the default); no network.

    Raises:
        StackError: There is no such choice.
    """
    from participants.services.model_server import weights
    from participants.services.model_server.errors import WeightsUnavailable

    try:
        found = weights.resolve(choice or _configured())
    except WeightsUnavailable as error:
        raise StackError(str(error), code=ExitCode.NO_MODEL) from error
    return Weights(found.choice, found.name, found.path, found.installed, found.size_bytes, found.licence)


def _configured() -> str | None:
    for _, values in reversed(config.layers("model_server")):
        if values.get("model"):
            return str(values["model"])
    return None


def install(choice: str | None, progress: Callable[[int, int, str], None]) -> Path:
    """Fetch, join and verify the weights.

    Raises:
        StackError: It did not work; what was fetched so far is kept.
    """
    from participants.services.model_server import weights
    from participants.services.model_server.errors import WeightsUnavailable

    try:
        return weights.install(choice or _configured(), progress)
    except WeightsUnavailable as error:
        hint = "Try again, start Ollama, or name a model file: LOCAL2_EMBEDDED_MODEL=/path/to/model.gguf"
        raise StackError(str(error), hint, ExitCode.NO_MODEL) from error


def choices() -> list[str]:
    """The models there are to chat with, the default first."""
    from participants.services.model_server import catalogue

    return [name for name, model in catalogue.catalogue().items() if model.kind == "chat"]
