"""When is a program that was just started there, and if it is not, why?

Ours and dropped-in ones alike: a participant says itself that it is ready. One that says nothing,
since it is no participant or was named otherwise, is left alone once it has run for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bus.command import local2
from gateway.stack import health
from gateway.stack.errors import StackError
from gateway.stack.processes import tail
from gateway.stack.rpc import Program, Supervisor
from gateway.stack.settings import Place

LIMIT_S = 30.0
_SILENT_S = 5.0
_POLL_S = 0.05
_LOG_LINES = 8
Report = Callable[[str, str], None]


@dataclass
class Start:
    """One program that was started.

    Args:
        name: Its name.
        begun: When, in seconds.
        marks: How long its logs were before.
        silent_s: So long it may run without a word; then it is taken as it is.
        pid: Of its first process.
    """

    name: str
    begun: float
    marks: dict[Path, int] = field(default_factory=dict[Path, int])
    silent_s: float = LIMIT_S
    pid: int = 0

    def state(self, program: Program, answer: Mapping[str, Any] | None, now: float) -> str:
        """`ready`, `ended`, `running` (it says nothing of itself), or `` while it is none of them."""
        self.pid = self.pid or program.pid
        if program.failed or (program.pid and program.pid != self.pid):
            return "ended"
        if program.state != "RUNNING":
            return ""
        if health.readiness([self.name], [program], answer)[self.name] == health.READY:
            return health.READY
        heard = answer is not None and self.name in answer["participants"]
        return "running" if not heard and now - self.begun > self.silent_s else ""

    def last_words(self, program: Program) -> list[str]:
        """The end of what it wrote since it was started."""
        return last_words(program, self.marks)


def start(
    supervisor: Supervisor, place: Place, names: Iterable[str], own: Iterable[str], report: Report, limit_s: float
) -> None:
    """Start these programs and wait until each is there.

    Args:
        supervisor: Where they are programs.
        place: Where the gateway listens.
        names: Those to start.
        own: The programs of LoCAL2: they always say when they are ready.
        report: Called with each name and its state: ready, running or ended.
        limit_s: The longest that it may take, in seconds.

    Raises:
        StackError: One ended, with its last words, or time is up.
    """
    marks = {program.name: {log: _size(log) for log in program.logs} for program in supervisor.programs()}
    starts: dict[str, Start] = {}
    for name in names:
        patience = limit_s if name in set(own) else _SILENT_S
        starts[name] = Start(name, time.monotonic(), marks.get(name, {}), patience)
        supervisor.start(name)
    _wait(supervisor, place, starts, report, time.monotonic() + limit_s)


def _wait(supervisor: Supervisor, place: Place, starts: Mapping[str, Start], report: Report, deadline: float) -> None:
    waiting, failures = dict(starts), list[str]()
    while waiting:
        answer = health.fetch(place)
        now = time.monotonic()
        for program in supervisor.programs():
            begun = waiting.get(program.name)
            state = begun.state(program, answer, now) if begun else ""
            if begun and state:
                del waiting[program.name]
                report(program.name, state)
                failures += [ended_words(program, begun.last_words(program))] if state == "ended" else []
        if waiting and now > deadline:
            failures.append(f"Not ready in time: {', '.join(waiting)}.")
            break
        time.sleep(_POLL_S if waiting else 0)
    if failures:
        raise StackError("\n".join(failures), f"All that it wrote: {local2('logs NAME')}")


def last_words(program: Program, marks: Mapping[Path, int] | None = None) -> list[str]:
    """The last lines of a program's output, or of its errors where there is no output.

    Args:
        program: As supervisord sees it.
        marks: What stands before these places is older than what is asked for.
    """
    for log in program.logs:
        lines = tail(log, _LOG_LINES, (marks or {}).get(log, 0)) if log.is_file() else []
        if said := [line for line in lines if line.strip()]:
            return said
    return []


def ended_words(program: Program, lines: list[str]) -> str:
    """That a program ended, and why: the last line of a log says it, of a traceback too."""
    reason = lines[-1].strip() if lines else program.problem or "its log does not say why"
    return f"{program.name} ended: {reason.removeprefix(f'{program.name}: ')}"


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except OSError:
        return 0
