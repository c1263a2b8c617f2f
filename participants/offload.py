"""Where does blocking work go, so that the event loop stays free?"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def _contained(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """A library's `sys.exit`, or a panic in its Rust, is a fault of this work; on the loop it would end the process."""
    try:
        return work(*args, **kwargs)
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


class OffloadPool:
    """A few threads, made when first needed.

    Args:
        name: Shown in thread names and in heartbeats.
        workers: Calls at once; further ones wait.
    """

    def __init__(self, name: str, workers: int = 4) -> None:
        self.name, self.workers = name, workers
        self._pool: ThreadPoolExecutor | None = None
        self.load = 0
        """Calls that run or wait. One that nobody waits for any more counts until it ends: no thread can be stopped."""

    @property
    def used(self) -> bool:
        """Whether it was ever needed."""
        return self._pool is not None

    @property
    def running(self) -> int:
        """Calls that have a thread."""
        return min(self.load, self.workers)

    @property
    def waiting(self) -> int:
        """Calls that wait for a thread."""
        return self.load - self.running

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`work(*args, **kwargs)` in a thread; its value, or its exception."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix=self.name)
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()  # whose call it is, and what is bound to its log records
        future = self._pool.submit(lambda: context.run(_contained, work, *args, **kwargs))
        self.load += 1
        future.add_done_callback(lambda _future: self._tell_ended(loop))
        return await asyncio.wrap_future(future)

    def _tell_ended(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody counts any more
            loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        self.load -= 1

    def close(self) -> None:
        """Take no more work; what has not started is dropped, what runs is not waited for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
