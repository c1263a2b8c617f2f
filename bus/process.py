"""What does every process of the stack owe its supervisor and its neighbours?"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
import time
import weakref
from functools import partial
from typing import IO

from bus import paths
from bus.command import local2
from bus.errors import BusUnavailable

_PARENT_POLL_S = 1.0


def take_lock(name: str) -> IO[str]:
    """Hold a name for this process; the lock ends with the process, however that ends.

    Raises:
        BusUnavailable: Another process has it; the text says which.
    """
    path = paths.private(paths.runtime_dir()) / f"{name}.lock"
    lock = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.seek(0)
        owner = lock.read().strip() or "another process"
        lock.close()
        raise BusUnavailable(f"{name} already runs on this home ({owner}); stop it first: {local2('down')}") from error
    os.register_at_fork(after_in_child=partial(_let_go, weakref.ref(lock)))
    lock.truncate(0)
    lock.write(f"pid {os.getpid()}")
    lock.flush()
    return lock


def _let_go(lock: weakref.ref[IO[str]]) -> None:
    """A forked child shares the lock, and may outlive us: our successor would wait for it."""
    held = lock()
    if held is not None:
        held.close()


def process_lives(pid: int) -> bool:
    """Whether a process of this machine is there."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def supervisor() -> int:
    """The process that started us; 0 where it was gone before we could look.

    Then process 1 has adopted us, and would never end: under supervisord it is the parent only where supervisord
    itself is process 1, as in a container, which its pid file says.
    """
    parent = os.getppid()
    if parent != 1 or not os.environ.get("SUPERVISOR_ENABLED"):
        return parent
    with contextlib.suppress(OSError, ValueError):
        recorded = (paths.runtime_dir() / "supervisord.pid").read_text(encoding="ascii")
        return parent if int(recorded) == parent else 0
    return 0


def end_with_parent(parent: int) -> None:
    """End this process when its supervisor dies: kill -9 of supervisord leaves children running."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_POLL_S)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
