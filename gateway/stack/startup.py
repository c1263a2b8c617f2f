"""What happens, in which order, from a free machine to a supervisord with all its programs?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from bus import paths
from gateway.stack import included, processes, render
from gateway.stack.layout import Layout, unusable
from gateway.stack.settings import Wanted


@dataclass(frozen=True)
class Plan:
    """What is to be started.

    Args:
        text: The effective supervisord.conf.
        names: The programs that have to be ready; dropped-in ones are not waited for.
        extra: The dropped-in programs.
        refused: Dropped-in files that were left out, with the reason.
    """

    text: str
    names: list[str]
    extra: list[str]
    refused: dict[str, str]


def template() -> str:
    """The text of the supervisord.conf that LoCAL2 comes with."""
    return (paths.defaults_dir() / "supervisord.conf").read_text(encoding="utf-8")


def plan(layout: Layout, wanted: Wanted, text: str | None = None) -> Plan:
    """Render the configuration and check what was dropped in; nothing is started."""
    source = template() if text is None else text
    names = render.program_names(render.parse(source))
    extras = included.look(layout, names)
    effective = render.render(
        source,
        layout,
        python=sys.executable,
        folder=Path(paths.__file__).resolve().parent.parent,
        overrides=wanted.overrides(),
        included=extras.patterns,
    )
    return Plan(effective, names, extras.programs, extras.refused)


def write(layout: Layout, made: Plan) -> None:
    """Put the effective configuration in place, whole or not at all."""
    part = layout.conf.with_suffix(".part")
    try:
        part.write_text(made.text, encoding="utf-8")
        part.replace(layout.conf)
    except OSError as error:
        raise unusable(layout.home, error) from error


def launch(layout: Layout, made: Plan, wanted: Wanted) -> subprocess.Popen[bytes]:
    """Start supervisord and tell it to start everything; returns before they are ready."""
    write(layout, made)
    remember(layout, wanted)
    process = processes.launch(layout)
    with processes.Supervisor(layout.socket) as supervisor:
        supervisor.start_all()
    return process


def remember(layout: Layout, wanted: Wanted) -> None:
    """Note what the stack is started with, so that a later `local2` can tell."""
    layout.started_with.write_text(json.dumps(asdict(wanted)), encoding="utf-8")


def remembered(layout: Layout) -> Wanted:
    """What the running stack was started with; nothing special where nobody noted it."""
    try:
        return Wanted(**json.loads(layout.started_with.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Wanted()


def clear_leftovers(layout: Layout, say: Callable[[str], None]) -> None:
    """After a killed supervisord: wait for its children, which end by themselves."""
    if not processes.unclean(layout):
        return
    silent = processes.silent_pid(layout)
    if silent is not None:
        say(f"An earlier supervisord (pid {silent}) hangs: ending it")
        processes.kill_now(layout)
    if processes.orphans(layout):
        say("The last supervisord was killed: waiting for what it left behind")
        processes.end_orphans(layout, processes.LIMITS.orphans)
    layout.pidfile.unlink(missing_ok=True)
