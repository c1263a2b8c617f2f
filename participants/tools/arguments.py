"""Is an argument text that can be used? The kernel checks types; what a schema cannot say is said here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from participants.tools.base import ToolFailed


def text(args: Mapping[str, Any], name: str, longest: int, *, required: bool = True) -> str:
    """The argument as one clean text; empty where it is left out and may be.

    Raises:
        ToolFailed: It is no text, empty, or longer than `longest` characters.
    """
    value = args.get(name)
    if not isinstance(value, str | None):
        raise ToolFailed(f"{name}: expected text, got {type(value).__name__}.")
    clean = "".join(c for c in value or "" if c.isprintable() or c in "\n\t").strip()
    if required and not clean:
        raise ToolFailed(f"{name}: expected text, got nothing.")
    if len(clean) > longest:
        raise ToolFailed(f"{name}: {len(clean)} characters are too many, {longest} are allowed: say it in fewer words.")
    return clean
