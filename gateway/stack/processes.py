"""Which processes belong to this home's stack, and how do they begin and end?

Participants end by themselves when their supervisord dies; what is here waits for that and
helps where it takes too long.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

from bus import paths
from gateway.stack.errors import StackError, Unreachable
from gateway.stack.layout import Layout, unusable
from gateway.stack.rpc import Program, Supervisor
from gateway.stack.settings import passed_on

_POLL_S = 0.02
_FIRST = "generator"
_LAST = "proxy"


@dataclass(frozen=True)
class Limits:
    """How long each step of starting and stopping may take, in seconds."""

    supervisord_up: float = 15.0
    programs_down: float = 13.0
    """A little more than the stopwaitsecs of a program, after which supervisord kills it."""
    supervisord_down: float = 5.0
    orphans: float = 12.0
    lock: float = 90.0
    answer: float = 3.0
    """A supervisord that is silent for so long hangs."""


LIMITS = Limits()


@contextmanager
def exclusive(layout: Layout, waiting: Callable[[], None], limit_s: float = LIMITS.lock) -> Iterator[None]:
    """Be the only one that starts or stops this stack; where nothing runs afterwards, nothing is left in /tmp.

    Args:
        layout: The stack.
        waiting: Called once where somebody else is at it.
        limit_s: How long to wait for them.
    """
    with ExitStack() as held:
        while True:
            lock = held.enter_context(_lock_file(layout))
            if not _locked(lock):
                waiting()
                if not until(lambda lock=lock: _locked(lock), limit_s):
                    raise StackError("Another local2 has been starting or stopping this stack for too long.")
            if _is_at(lock, layout.lock):  # else the one before us has removed it with its folder
                break
        try:
            yield
        finally:
            _leave_nothing(layout)


def _lock_file(layout: Layout) -> IO[str]:
    try:
        layout.run.mkdir(mode=0o700, parents=True, exist_ok=True)
        return (paths.private(layout.run) / layout.lock.name).open("w")
    except OSError as error:
        raise unusable(layout.run, error) from error


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _leave_nothing(layout: Layout) -> None:
    """Remove a runtime folder in /tmp that nobody uses: there, no user would ever look for it."""
    if layout.run.is_relative_to(layout.home) or unclean(layout) or running_pid(layout) is not None:
        return
    if not any(_in_use(lock) for lock in layout.run.glob("*.lock") if lock != layout.lock):
        shutil.rmtree(layout.run, ignore_errors=True)


def _in_use(lock: Path) -> bool:
    """Whether a participant has it: one that was started by hand outlives the stack."""
    with suppress(OSError), lock.open("r") as file:
        return not _locked(file)
    return False


def until(condition: Callable[[], bool], limit_s: float, poll_s: float = _POLL_S) -> bool:
    """Whether `condition` came true within `limit_s` seconds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_s)
    return True


def running_pid(layout: Layout) -> int | None:
    """The pid of the supervisord that answers for this home."""
    try:
        with Supervisor(layout.socket, LIMITS.answer) as supervisor:
            return supervisor.pid()
    except Unreachable:
        return None


def launch(layout: Layout) -> subprocess.Popen[bytes]:
    """Start supervisord in a session of its own, so that a Ctrl-C does not reach it.

    Raises:
        StackError: It ended at once, or does not answer.
    """
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    # `python` in a dropped-in program file is the one that LoCAL2 runs on.
    env |= passed_on()
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", os.defpath)])
    command = [sys.executable, "-m", "gateway.stack.supervise", "--nodaemon", "--silent", "-c", str(layout.conf)]
    with layout.output.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            cwd=layout.home,  # not the user's folder, which may go
            start_new_session=True,
        )
    try:
        until(lambda: process.poll() is not None or running_pid(layout) == process.pid, LIMITS.supervisord_up)
        if running_pid(layout) == process.pid:
            return process
    except BaseException:
        _end(process)
        raise
    _end(process)
    raise StackError("supervisord could not start:\n" + indent(tail(layout.output, 8)))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def stop(layout: Layout, each: Callable[[Program], None] = lambda _: None) -> None:
    """End everything: participants, the proxy last, then supervisord, then what is left over.

    Args:
        layout: The stack.
        each: Called with each program once it has ended.
    """
    answering = running_pid(layout)
    if answering is not None:
        with suppress(Unreachable):  # somebody else has just ended it
            _shut_down(layout, each)
    pid = answering or silent_pid(layout)
    if pid is not None and not _ended(pid, LIMITS.supervisord_down if answering else 0):
        with suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
    end_orphans(layout, LIMITS.orphans)
    for left in (layout.pidfile, layout.started_with):
        left.unlink(missing_ok=True)


def _shut_down(layout: Layout, each: Callable[[Program], None]) -> None:
    with Supervisor(layout.socket) as supervisor:
        stop_programs(supervisor, each)
        supervisor.shutdown()
    # Each question wakes supervisord's loop, which otherwise looks up once a second.
    until(lambda: running_pid(layout) is None, LIMITS.supervisord_down)


def stop_programs(supervisor: Supervisor, each: Callable[[Program], None] = lambda _: None) -> None:
    """Stop who answers first, while what it needs to finish or hand back is there; then all others; the proxy last."""
    names = [program.name for program in supervisor.programs() if program.active]
    others = [name for name in names if name not in (_FIRST, _LAST)]
    for wave in ([name for name in names if name == _FIRST], others, [name for name in names if name == _LAST]):
        stop_some(supervisor, wave, each)


def stop_some(supervisor: Supervisor, names: list[str], each: Callable[[Program], None] = lambda _: None) -> None:
    """Stop these programs side by side and wait until they have ended."""
    for name in names:
        supervisor.stop(name)
    waiting = set(names)

    def all_down() -> bool:
        for program in supervisor.programs():
            if program.name in waiting and not program.active:
                waiting.discard(program.name)
                each(program)
        return not waiting

    until(all_down, LIMITS.programs_down)


def kill_now(layout: Layout) -> None:
    """End supervisord and its children without asking."""
    pid = silent_pid(layout)
    victims = orphans(layout)
    if pid is not None and psutil.pid_exists(pid):
        victims.insert(0, psutil.Process(pid))
    for victim in victims:
        with suppress(psutil.NoSuchProcess):
            victim.kill()
    psutil.wait_procs(victims, timeout=LIMITS.supervisord_down)
    layout.pidfile.unlink(missing_ok=True)


def unclean(layout: Layout) -> bool:
    """Whether the last supervisord of this home was killed: an orderly end removes the pid file."""
    return layout.pidfile.exists()


def end_orphans(layout: Layout, patience_s: float) -> int:
    """Wait for children of a dead supervisord to end, then end them; how many there were."""
    left = orphans(layout)
    _, alive = psutil.wait_procs(left, timeout=patience_s)
    for act in (psutil.Process.terminate, psutil.Process.kill):
        for process in alive:
            with suppress(psutil.NoSuchProcess):
                act(process)
        _, alive = psutil.wait_procs(alive, timeout=3)
    return len(left)


def orphans(layout: Layout) -> list[psutil.Process]:
    """Processes that a supervisord of this home started: it gives each its own address."""
    mine = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    server = f"unix://{layout.socket}"
    return [
        process
        for process in psutil.process_iter()
        if process.pid not in mine and _environment(process).get("SUPERVISOR_SERVER_URL") == server
    ]


def _environment(process: psutil.Process) -> dict[str, str]:
    try:
        return process.environ()
    except (psutil.Error, OSError):
        return {}


def silent_pid(layout: Layout) -> int | None:
    """The pid of a supervisord of this home that lives but does not answer."""
    try:
        process = psutil.Process(int(layout.pidfile.read_text(encoding="ascii")))
        return process.pid if any("supervis" in part for part in process.cmdline()) else None
    except (OSError, ValueError, psutil.Error):
        return None


def _ended(pid: int, limit_s: float) -> bool:
    try:
        psutil.Process(pid).wait(limit_s)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def tail(path: Path, lines: int, since: int = 0) -> list[str]:
    """The last lines of a log, of what was written after its first `since` bytes; empty where there is none."""
    try:
        size = path.stat().st_size
        begin = since if since <= size else 0  # it was rotated
        with path.open("rb") as log:
            log.seek(max(begin, size - 32_768))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


def indent(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)
