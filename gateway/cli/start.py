"""`local2` and `local2 up`: how does a stack start, and in the foreground stop again?"""

from __future__ import annotations

import signal
import subprocess
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bus.command import local2
from gateway.cli import browser, console
from gateway.stack import backend, preflight, processes, ready, settings, startup, weights
from gateway.stack import layout as places
from gateway.stack.backend import Backend
from gateway.stack.errors import ExitCode, StackError
from gateway.stack.layout import Layout
from gateway.stack.rpc import Program, Supervisor
from gateway.stack.settings import Place, Wanted

_READY_LIMIT_S = 60.0
_STOPPING = (signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """SIGTERM or SIGHUP came: the same as Ctrl-C."""


@dataclass
class _Run:
    """What this command has started.

    Args:
        layout: Where.
        process: supervisord; None where the stack ran already.
        ready: Whether all participants are ready: from here on a Ctrl-C is the ordinary end.
    """

    layout: Layout
    process: subprocess.Popen[bytes] | None = None
    ready: bool = False


def foreground(options: Namespace) -> int:
    """Start, wait until all are ready, stay until Ctrl-C, stop everything."""
    run = _Run(places.current())
    with _signals():
        try:
            _start(run, options)
            if run.process is not None:
                _stay(run.layout, run.process)
        except KeyboardInterrupt:
            if not run.ready:
                raise
            _stop(run.layout)
    return ExitCode.OK


def background(options: Namespace) -> int:
    """Start, wait until all are ready, leave it running."""
    run = _Run(places.current())
    with _signals():
        _start(run, options)
    if run.process is not None:
        console.say(f"It runs in the background: {local2('status')}, {local2('down')}")
        run.process.returncode = 0  # it lives on without us; Popen need not warn of that
    return ExitCode.OK


def _start(run: _Run, options: Namespace) -> None:
    wanted = settings.wanted(options.web_port, options.model)
    layout = run.layout
    with _alone(layout):
        if _joined(layout, wanted, options):
            return
        startup.clear_leftovers(layout, console.say)
        wanted = settings.settled(wanted)
        _check(layout, wanted)
    # A download may take minutes: meanwhile `local2 down` and others are not kept waiting.
    wanted = _with_model(wanted)
    with _alone(layout):
        if not _joined(layout, wanted, options):
            _start_new(run, wanted, options)


@contextmanager
def _alone(layout: Layout) -> Iterator[None]:
    with processes.exclusive(layout, _say_waiting):
        places.prepare(layout)  # only now: whoever had the lock before may have removed the folders
        yield


def _say_waiting() -> None:
    console.say("Another local2 is at work on this home: waiting for it")


def _check(layout: Layout, wanted: Wanted) -> None:
    preflight.check_space(layout.home)
    preflight.check_port(settings.place(wanted))


def _start_new(run: _Run, wanted: Wanted, options: Namespace) -> None:
    layout = run.layout
    _check(layout, wanted)
    place = settings.place(wanted)
    made = startup.plan(layout, wanted)
    for name, reason in made.refused.items():
        console.complain(f"participants/{name} is left out: {reason}")
    begun = time.monotonic()
    try:
        run.process = startup.launch(layout, made, wanted)
        _wait(layout, place, made.names)
        run.ready = True
    except BaseException:
        console.say("Stopping what has started")
        processes.stop(layout)
        raise
    console.say(f"Ready in {time.monotonic() - begun:.1f} s: {console.paint(place.url, 'bold')}")
    _open(place, options)


def _wait(layout: Layout, place: Place, names: list[str]) -> dict[str, Any]:
    waiting = ready.Waiting(names, lambda name, state: _report(layout, name, state))
    with Supervisor(layout.socket) as supervisor:
        return ready.wait(layout, supervisor, place, waiting, _READY_LIMIT_S)


def _report(layout: Layout, name: str, state: str) -> None:
    if state == "backoff":
        last = " ".join(processes.tail(layout.logs / f"{name}.log", 1))
        console.row(name, "ended", "warn", f"it is started again; its last words: {last}" if last else "")
    else:
        console.row(name, state, "good")


def _with_model(wanted: Wanted) -> Wanted:
    """Find who answers; without an Ollama, bring the embedded weights."""
    found = backend.find()
    if found.version:
        console.say(f"Ollama {found.version} answers at {found.url}")
    if found.embedded:
        wanted = _with_embedded(wanted, found)
    if found.embedding:
        _with_embedding()
    return wanted


def _with_embedded(wanted: Wanted, found: Backend) -> Wanted:
    if found.named:
        console.complain(f"no Ollama answers at {found.url} (OLLAMA_HOST), so the embedded model does.")
    chosen = _resolve(wanted.model)
    if not chosen.installed:
        _install(chosen)
    console.say(f"The embedded {chosen.name} answers: a small model, for a first impression")
    return replace(wanted, model=None, embedded=wanted.model)


def _with_embedding() -> None:
    """Bring the small model that turns text into vectors. Without it, the memory does less; the rest works."""
    try:
        chosen = weights.resolve(weights.EMBEDDING)
        if not chosen.installed:
            _install(chosen, ", which finds memories by their meaning")
    except StackError as error:
        later = local2(f"models install {weights.EMBEDDING}")
        console.complain(f"the memory finds things by their words only: {error}. To try again: {later}")


def _resolve(model: str | None) -> weights.Weights:
    try:
        return weights.resolve(model)
    except StackError as error:
        if model is None:
            raise
        raise StackError(
            f"{model} needs Ollama, and none answers.",
            f"Start Ollama and `ollama pull {model}`, or choose an embedded model: {', '.join(weights.choices())}",
            ExitCode.NO_MODEL,
        ) from error


def _install(chosen: weights.Weights, what: str = "") -> None:
    console.say(
        f"Fetching the embedded model {chosen.name}{what} ({chosen.size_bytes / 1e6:,.0f} MB, {chosen.licence}) "
        f"into {chosen.path.parent}, once; Ctrl-C is safe, the next start goes on"
    )
    progress = console.Progress("  model")
    try:
        weights.install(chosen.choice, progress)
    finally:
        progress.end()


def _joined(layout: Layout, wanted: Wanted, options: Namespace) -> bool:
    """Where the stack runs already: say so and where, and open the page. Nothing is changed.

    Raises:
        StackError: It runs with other settings than those asked for now.
    """
    pid = processes.running_pid(layout)
    if pid is None:
        return False
    before = startup.remembered(layout)
    place = settings.place(before)
    if different := wanted.differs(before, place):
        raise StackError(
            f"LoCAL2 runs already (supervisord, pid {pid}) with another {different}.",
            f"Stop it first: {local2('down')}",
            ExitCode.OTHER_SETTINGS,
        )
    console.say(f"LoCAL2 runs already (supervisord, pid {pid}): {console.paint(place.url, 'bold')}")
    _say_idle(layout)
    _open(place, options)
    return True


def _say_idle(layout: Layout) -> None:
    with Supervisor(layout.socket) as supervisor:
        idle = [program.name for program in supervisor.programs() if not program.active]
    if idle:
        console.say(f"Not running: {', '.join(idle)}. To start it: {local2('restart', *idle)}")


def _open(place: Place, options: Namespace) -> None:
    if not options.headless:
        browser.open_page(place.url)


def _stay(layout: Layout, process: subprocess.Popen[bytes]) -> None:
    """Until supervisord ends: by `local2 down`, or by a fault.

    Raises:
        StackError: It was a fault.
    """
    console.say("Ctrl-C stops everything.")
    if process.wait() == 0:
        console.say("LoCAL2 was stopped from elsewhere.")
        return
    processes.end_orphans(layout, processes.LIMITS.orphans)
    raise StackError(f"supervisord ended unexpectedly (exit code {process.returncode}).", f"Start again: {local2()}")


def _stop(layout: Layout) -> None:
    console.say("\nStopping (Ctrl-C once more: at once)")
    try:
        with processes.exclusive(layout, _say_waiting):
            processes.stop(layout, _stopped)
    except KeyboardInterrupt:
        processes.kill_now(layout)
    console.say("Stopped.")


def _stopped(program: Program) -> None:
    console.row(program.name, "stopped", "dim")


@contextmanager
def _signals() -> Iterator[None]:
    def interrupt(*_: object) -> None:
        raise Interrupted

    before = {number: signal.signal(number, interrupt) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
