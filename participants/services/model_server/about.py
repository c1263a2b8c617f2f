"""What models are here, and what is said about them: /api/tags, /api/show, /api/ps, /api/version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from participants.services.model_server.catalogue import Model, licence_text
from participants.services.model_server.errors import Refused
from participants.services.model_server.generation import Engine, Json

# The version of Ollama whose API is spoken; clients compare it with what they need.
API_VERSION = "0.12.0"
DEMO = "A small model that runs inside LoCAL2, good enough to try it out. For better answers install Ollama."
_OTHER_NAMES = {"minilm": ("all-minilm",)}


class Backend(Protocol):
    """What the API needs of the service."""

    @property
    def num_ctx(self) -> int: ...
    @property
    def keep_alive_s(self) -> float | None: ...

    def models(self) -> Sequence[Model]: ...
    def is_installed(self, model: Model) -> bool: ...
    def engine(self) -> Engine: ...
    def running_engine(self) -> Engine | None: ...
    async def embed(self, texts: list[str], truncate: bool = True) -> tuple[list[list[float]], int]: ...


def find(backend: Backend, name: str) -> Model:
    """The served model of this name, with or without its tag. Raises Refused (404) as Ollama does."""
    if not name:
        raise Refused("model is required")
    for model in backend.models():
        if name.lower().removesuffix(":latest") in _names_of(model):
            return model
    served = ", ".join(model.name for model in backend.models())
    raise Refused(f"model '{name}' not found; the embedded server has {served}", 404)


def _names_of(model: Model) -> set[str]:
    return {model.name, model.name.partition(":")[0], *_OTHER_NAMES.get(model.name, ())}


def version() -> Json:
    """The API's version; the second field is how others can tell that a demo model answers."""
    return {"version": API_VERSION, "embedded": "local2"}


def tags(backend: Backend) -> Json:
    """The installed models."""
    return {"models": [_tag(model) for model in backend.models() if backend.is_installed(model)]}


def running(backend: Backend) -> Json:
    """The models in memory."""
    engine = backend.running_engine()
    if engine is None or not engine.loaded:
        return {"models": []}
    model = next(model for model in backend.models() if model.kind == "chat")
    expires = _iso(engine.expires_at) if engine.expires_at else "9999-12-31T23:59:59Z"
    entry = _tag(model) | {"expires_at": expires, "size_vram": 0, "context_length": engine.num_ctx}
    return {"models": [entry]}


def show(backend: Backend, model: Model) -> Json:
    """Everything about a model."""
    family = model.family or "gguf"
    context = backend.num_ctx if model.kind == "chat" else model.context_length
    abilities = ["embedding"] if model.kind == "embedding" else ["completion", *(["tools"] if model.tools else [])]
    return {
        "license": licence_text(model.licence) if model.licence else "unknown: a file of your own",
        "modelfile": f"# {model.title}. {DEMO}\nFROM {model.paths[0]}\n",
        "parameters": f"num_ctx {context}",
        "template": "",
        "details": _details(model),
        "model_info": {
            "general.architecture": family,
            "general.name": model.title,
            "general.attribution": model.attribution,
            # What the server holds, which is less than the model was trained for.
            f"{family}.context_length": context,
            **({"bert.embedding_length": 384} if model.kind == "embedding" else {}),
        },
        "capabilities": abilities,
        "modified_at": _modified(model.paths),
    }


def _tag(model: Model) -> Json:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": _modified(model.paths),
        "size": sum(path.stat().st_size for path in model.paths if path.exists()),
        "digest": model.files[0].sha256 if model.files else "",
        "details": _details(model),
    }


def _details(model: Model) -> Json:
    return {
        "parent_model": "",
        "format": "onnx" if model.kind == "embedding" else "gguf",
        "family": model.family,
        "families": [model.family] if model.family else [],
        "parameter_size": model.parameters,
        "quantization_level": model.quantization,
    }


def _modified(paths: Sequence[Path]) -> str:
    return _iso(paths[0].stat().st_mtime if paths[0].exists() else 0.0)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
