"""The pool for blocking work."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from participants.offload import OffloadPool


async def test_values_and_exceptions_come_back() -> None:
    pool = OffloadPool("test")
    assert await pool.run(max, 1, 2) == 2
    assert await pool.run(sorted, [2, 1], reverse=True) == [2, 1]
    with pytest.raises(ValueError, match="invalid literal"):
        await pool.run(int, "x")
    assert pool.load == 0
    pool.close()


async def test_a_thread_knows_for_whom_it_works() -> None:
    whose = ContextVar("whose", default="nobody's")
    pool = OffloadPool("test")

    async def work(user: str) -> str:
        whose.set(user)
        return await pool.run(whose.get)

    assert await asyncio.gather(*[asyncio.create_task(work(user)) for user in ("ann", "bob")]) == ["ann", "bob"]
    pool.close()


def leave() -> None:
    raise SystemExit(3)


async def test_a_library_that_ends_the_process_ends_its_work_alone() -> None:
    pool = OffloadPool("test")
    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        await pool.run(leave)
    pool.close()


async def test_it_runs_elsewhere_and_only_so_many_at_once() -> None:
    pool = OffloadPool("test", workers=2)
    go, lock = threading.Event(), threading.Lock()
    inside: list[int] = [0, 0]
    two_inside = threading.Event()

    def work() -> str:
        with lock:
            inside[0] += 1
            inside[1] = max(inside)
        if inside[0] == 2:
            two_inside.set()
        go.wait(10)
        with lock:
            inside[0] -= 1
        return threading.current_thread().name

    tasks = [asyncio.create_task(pool.run(work)) for _ in range(6)]
    await asyncio.to_thread(two_inside.wait, 10)
    assert (pool.load, pool.running, pool.waiting) == (6, 2, 4)
    go.set()
    names = await asyncio.gather(*tasks)
    assert inside == [0, 2]
    assert all(name.startswith("test") for name in names)
    pool.close()


async def test_after_closing_no_work_is_taken() -> None:
    pool = OffloadPool("test")
    await pool.run(int)
    pool.close()
    with pytest.raises(RuntimeError):
        await pool.run(int)
    OffloadPool("never used").close()
