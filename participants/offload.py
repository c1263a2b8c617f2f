"""Where does blocking work go, so that the event loop stays free?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class OffloadPool:
    """A few threads, made when first needed.

    Args:
        name: Shown in thread names.
        workers: Calls at once; further ones wait.
    """

    def __init__(self, name: str, workers: int = 4) -> None:
        self._name, self.workers = name, workers
        self._pool: ThreadPoolExecutor | None = None
        self.running = 0

    async def run(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`work(*args, **kwargs)` in a thread; its value, or its exception."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix=self._name)
        self.running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))
        finally:
            self.running -= 1

    def close(self) -> None:
        """Take no more work; what has not started is dropped, what runs is not waited for."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
