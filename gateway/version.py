"""Which version of LoCAL2 is this?"""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """The installed version, or the checkout's."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    try:
        return metadata.version("local2")
    except metadata.PackageNotFoundError:
        return "unknown"
