"""When does a process end that is not our child?

Linux tells by a pidfd, which becomes readable at that moment. Where there is none, we look five times
a second.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import psutil

_POLL_S = 0.2
Ended = Callable[[str, int], None]


class PidWatcher:
    """Calls `ended(name, pid)` once for each watched process that ends; of one name only the last is watched.

    Args:
        ended: Called on the loop.
        pidfds: False to poll, as on systems without pidfds.
    """

    def __init__(self, ended: Ended, *, pidfds: bool = hasattr(os, "pidfd_open")) -> None:
        self._ended, self._pidfds = ended, pidfds
        self._watched: dict[str, tuple[int, int]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def watch(self, name: str, pid: int) -> None:
        """Watch the process `pid` of `name` instead of any before it."""
        if self._watched.get(name, (0, 0))[0] == pid:
            return
        self.forget(name)
        try:
            fd = self._open(name, pid)
        except OSError:
            self._ended(name, pid)  # gone before we looked
            return
        self._watched[name] = pid, fd

    def forget(self, name: str) -> None:
        """Watch `name` no longer."""
        _pid, fd = self._watched.pop(name, (0, -1))
        if fd >= 0:
            asyncio.get_running_loop().remove_reader(fd)
            os.close(fd)

    def close(self) -> None:
        """Watch nothing any more."""
        for name in list(self._watched):
            self.forget(name)
        if self._timer is not None:
            self._timer.cancel()

    def _open(self, name: str, pid: int) -> int:
        if not self._pidfds:
            self._look_later()
            return -1
        fd = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(fd, self._over, name, pid)
        return fd

    def _over(self, name: str, pid: int) -> None:
        self.forget(name)
        self._ended(name, pid)

    def _look_later(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_POLL_S, self._look)

    def _look(self) -> None:
        self._timer = None
        for name, (pid, _fd) in list(self._watched.items()):
            if not lives(pid):
                self._over(name, pid)
        if self._watched:
            self._look_later()


def lives(pid: int) -> bool:
    """Whether a process runs. One that has ended and waits for its parent does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
