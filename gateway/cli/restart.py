"""`local2 restart` and `reload`: how does a change come into a running stack, with all else running on?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from gateway import settings as all_settings
from gateway.cli import console
from gateway.stack import health, processes, revive, settings, startup, tell
from gateway.stack import layout as places
from gateway.stack.errors import ExitCode, StackError, Unreachable
from gateway.stack.layout import Layout
from gateway.stack.rpc import Changes, Program, Supervisor

_COLOURS = {health.READY: "good", "running": "warn", "ended": "bad"}
_SILENT = "it runs, but does not say that it is ready: is its CONFIG_NAME the program's name?"


def restart(options: Namespace) -> int:
    """Restart the named participants, side by side, and wait until they are there again."""
    names: list[str] = options.names
    with _running() as (layout, supervisor):
        programs = _known(layout, supervisor, names)
        chosen = [program.name for program in programs if program.name in names or "all" in names]
        active = [program.name for program in programs if program.active and program.name in chosen]
        processes.stop_some(supervisor, active)
        _start(layout, supervisor, chosen)
    return ExitCode.OK


def reload(_: Namespace) -> int:
    """Take in what is new, different or gone in participants/, and let all read their yaml again."""
    with _running() as (layout, supervisor):
        _write_plan(layout)
        changes = supervisor.compare()
        _drop(supervisor, changes)
        for name in changes.removed:
            console.row(name, "removed", "dim")
        _take_in(supervisor, [*changes.changed, *changes.added])
        _start(layout, supervisor, [*changes.changed, *changes.added])
    if not any(changes):
        console.say("No program file is new, different or gone.")
    tell.reload([""])
    return _say_problems()


def _say_problems() -> int:
    """Which yaml cannot be used: the others are in force now."""
    _, problems = all_settings.read_all()
    for problem in problems:
        console.complain(f"{problem.message} (the old settings stay)")
    if problems:
        return ExitCode.FAILED
    console.say("All have read their yaml again.")
    return ExitCode.OK


@contextmanager
def _running() -> Iterator[tuple[Layout, Supervisor]]:
    """The stack that runs, for this command alone.

    Raises:
        Unreachable: None does.
    """
    layout = places.current()
    if not layout.run.is_dir():
        raise Unreachable("nothing runs")
    waiting = "Another local2 is at work on this home: waiting for it"
    with processes.exclusive(layout, lambda: console.say(waiting)), Supervisor(layout.socket) as supervisor:
        yield layout, supervisor


def _known(layout: Layout, supervisor: Supervisor, names: list[str]) -> list[Program]:
    """All programs; one that is not known yet may be a new file in participants/."""
    programs = supervisor.programs()
    unknown = set(names) - {program.name for program in programs} - {"all"}
    if unknown:
        _write_plan(layout)
        added = supervisor.compare().added
        _take_in(supervisor, added)
        unknown -= set(added)
    if unknown:
        there = ", ".join(program.name for program in programs)
        raise StackError(
            f"There is no participant {', '.join(sorted(unknown))}.", f"There are: {there}", ExitCode.USAGE
        )
    return supervisor.programs()


def _write_plan(layout: Layout) -> None:
    made = startup.plan(layout, startup.remembered(layout))
    for name, reason in made.refused.items():
        console.complain(f"participants/{name} is left out: {reason}")
    startup.write(layout, made)


def _drop(supervisor: Supervisor, changes: Changes) -> None:
    gone = {*changes.changed, *changes.removed}
    active = [program.name for program in supervisor.programs() if program.active and program.name in gone]
    processes.stop_some(supervisor, active)
    for name in gone:
        supervisor.remove(name)


def _take_in(supervisor: Supervisor, names: list[str]) -> None:
    for name in names:
        supervisor.add(name)


def _start(layout: Layout, supervisor: Supervisor, names: list[str]) -> None:
    remembered = startup.remembered(layout)
    own = startup.plan(layout, remembered).names
    revive.start(supervisor, settings.place(remembered), names, own, _report, revive.LIMIT_S)


def _report(name: str, state: str) -> None:
    console.row(name, state, _COLOURS[state], _SILENT if state == "running" else "")
