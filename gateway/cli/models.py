"""`local2 models`: which embedded models are there, and how is one installed?"""

from __future__ import annotations

from argparse import Namespace

from bus.command import local2
from gateway.cli import console
from gateway.stack import weights
from gateway.stack.errors import ExitCode


def models(options: Namespace) -> int:
    """List the embedded models, or install one."""
    return _install(options.choice) if options.action == "install" else _list()


def _list() -> int:
    default = weights.resolve(None)
    for choice in (*weights.choices(), weights.EMBEDDING):
        found = weights.resolve(choice)
        note = f"{found.name}, {found.size_bytes / 1e6:,.0f} MB, {found.licence}"
        chosen = "  (chosen)" if found.choice in (default.choice, weights.EMBEDDING) else ""
        console.row(
            choice, "installed" if found.installed else "-", "good" if found.installed else "dim", note + chosen
        )
    console.say(f"They lie in {default.path.parent}. To install one: {local2('models install CHOICE')}")
    return ExitCode.OK


def _install(choice: str | None) -> int:
    found = weights.resolve(choice)
    if found.installed:
        console.say(f"{found.name} is installed: {found.path}")
        return ExitCode.OK
    progress = console.Progress(f"  {found.name}")
    try:
        path = weights.install(choice, progress)
    finally:
        progress.end()
    console.say(f"Installed: {path}")
    return ExitCode.OK
