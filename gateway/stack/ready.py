"""When is a stack ready, and what is said while it is not yet?"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from bus.command import local2
from gateway.stack import health
from gateway.stack.errors import StackError
from gateway.stack.layout import Layout
from gateway.stack.processes import indent, tail
from gateway.stack.rpc import Program, Supervisor
from gateway.stack.settings import Place

_POLL_S = 0.05
_LOG_LINES = 8


@dataclass
class Waiting:
    """What is known so far of each program; `report` is called once for each that is ready, or that restarts."""

    names: Sequence[str]
    report: Callable[[str, str], None]
    states: dict[str, str] = field(default_factory=dict[str, str])
    said: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def update(self, states: dict[str, str]) -> bool:
        """Whether all are ready now; says what is new on the way."""
        for name, state in states.items():
            if state in (health.READY, "backoff") and (name, state) not in self.said:
                self.said.add((name, state))
                self.report(name, state)
            self.states[name] = state
        return all(self.states.get(name) == health.READY for name in self.names)

    def missing(self) -> str:
        return ", ".join(f"{name} ({self.states.get(name, 'unknown')})" for name in self.names if self.lacks(name))

    def lacks(self, name: str) -> bool:
        return self.states.get(name) != health.READY


def wait(
    layout: Layout,
    supervisor: Supervisor,
    place: Place,
    waiting: Waiting,
    limit_s: float,
) -> dict[str, Any]:
    """Wait until all programs are ready; the gateway's last /health.

    Args:
        layout: The stack.
        supervisor: Its supervisord.
        place: Where its gateway listens.
        waiting: The programs to wait for.
        limit_s: The longest that it may take, in seconds.

    Raises:
        StackError: One is FATAL (with its last words), or time is up.
    """
    deadline = time.monotonic() + limit_s
    while True:
        answer = health.fetch(place)
        programs = supervisor.programs()
        _raise_if_fatal(layout, programs, waiting.names)
        if waiting.update(health.readiness(waiting.names, programs, answer)) and answer is not None:
            return answer
        if time.monotonic() > deadline:
            raise StackError(
                f"Not ready after {limit_s:.0f} s: {waiting.missing()}.", f"Their logs say why: {local2('logs NAME')}"
            )
        time.sleep(_POLL_S)


def _raise_if_fatal(layout: Layout, programs: Sequence[Program], names: Sequence[str]) -> None:
    for program in programs:
        if program.state == "FATAL" and program.name in names:
            raise StackError(fatal_words(layout, program))


def fatal_words(layout: Layout, program: Program) -> str:
    """Why supervisord gave a program up, with the last lines of its log."""
    lines = [line for line, _ in groupby(tail(layout.logs / f"{program.name}.log", _LOG_LINES))]
    shown = f" Its last words:\n{indent(lines)}" if lines else ""
    reason = "it ended at once, again and again" if "too quickly" in program.problem else program.problem
    return f"{program.name} could not be started: {reason}.{shown}"
