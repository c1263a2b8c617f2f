"""What does a user type to call `local2`? In a checkout it is not on the PATH, so hints name the script instead."""

from __future__ import annotations

import os
import shlex

VARIABLE = "LOCAL2_COMMAND"
"""Set by scripts/run to itself, as the user typed it; unset where `local2` is on the PATH."""


def local2(*words: str) -> str:
    """A command line that can be pasted, such as `./scripts/run logs gateway`."""
    return " ".join((shlex.quote(os.environ.get(VARIABLE) or "local2"), *words))


def environment() -> dict[str, str]:
    """The variable for processes that run in another folder than the user's shell."""
    typed = os.environ.get(VARIABLE)
    return {VARIABLE: os.path.abspath(typed)} if typed else {}
