"""`local2 down` and `status`: how is a running stack looked at and stopped?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from bus.command import local2
from gateway.cli import console
from gateway.stack import health, processes, revive, settings, startup
from gateway.stack import layout as places
from gateway.stack.errors import ExitCode
from gateway.stack.rpc import Program, Supervisor
from gateway.stack.settings import Place
from gateway.version import version

_MODEL_LIMIT_S = 3.0
_COLOURS = {health.READY: "good", "stopped": "dim", "fatal": "bad", "backoff": "warn", "exited": "warn"}


def down(_: Namespace) -> int:
    """Stop everything; fine where nothing runs."""
    layout = places.current()
    if not layout.run.is_dir():
        console.say("LoCAL2 is not running.")
        return ExitCode.OK
    with processes.exclusive(layout, lambda: console.say("Another local2 is at work on this home: waiting for it")):
        pid = processes.running_pid(layout)
        if pid is None and not processes.unclean(layout):
            console.say("LoCAL2 is not running.")
            return ExitCode.OK
        processes.stop(layout, lambda program: console.row(program.name, "stopped", "dim"))
    console.say("Stopped.")
    return ExitCode.OK


def status(_: Namespace) -> int:
    """One screen: what runs, where, and which model answers; exit code 3 where nothing runs."""
    layout = places.current()
    with Supervisor(layout.socket) as supervisor:
        pid, programs = supervisor.pid(), supervisor.programs()
    place = settings.place(startup.remembered(layout))
    answer = health.fetch(place)
    console.say(f"{console.paint(f'LoCAL2 {version()}', 'bold')}  {place.url}  (supervisord, pid {pid})")
    states = health.readiness([program.name for program in programs], programs, answer)
    for program in programs:
        _row(program, states[program.name])
    if answer is None:
        console.say(f"The gateway does not answer: {local2('logs gateway')}")
    else:
        _say_model(place)
    console.say(f"Home {layout.home}   logs: {local2('logs NAME')}")
    return ExitCode.OK if answer is not None else ExitCode.FAILED


def _row(program: Program, state: str) -> None:
    note = f"pid {program.pid:<8} up {_duration(program.up_s)}" if program.pid else _problem(program)
    console.row(program.name, state, _COLOURS.get(state, "warn"), note)


def _problem(program: Program) -> str:
    last = revive.last_words(program)[-1:] if program.failed else []
    return " ".join(last) or program.problem


def _duration(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"


def _say_model(place: Place) -> None:
    said = health.get_json(place.url + "/api/models", _MODEL_LIMIT_S)
    if said is None:
        console.say(f"Model: the generator does not answer: {local2('logs generator')}")
        return
    for line in model_lines(said):
        console.say(line)


_NOT_YET = {"loading": "Model: loading; questions wait for it", "unknown": "Model: still being looked for"}


def model_lines(said: Mapping[str, Any]) -> list[str]:
    """Who answers, in words, from /api/models."""
    backend: Mapping[str, Any] = said.get("backend") or {}
    roles: list[Mapping[str, Any]] = said.get("roles") or []
    default: Mapping[str, Any] = next((role for role in roles if role.get("role") == "default"), {})
    where = {"ollama": f"Ollama at {backend.get('url')}", "embedded": "embedded"}.get(str(backend.get("kind")))
    if where is None:
        lines = [_NOT_YET.get(str(backend.get("state")), "Model: none answers yet")]
    else:
        lines = [f"Model: {default.get('model') or 'none'} ({where}, {backend.get('state') or 'unknown'})"]
    notes = dict.fromkeys((default.get("hint"), backend.get("message")))
    return lines + [f"  {note}" for note in notes if note]
