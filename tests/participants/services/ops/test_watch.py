"""Ends of real processes, noticed with and without pidfds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from participants.services.ops.watch import PidWatcher, lives


class Ended:
    """Collects what a watcher says."""

    def __init__(self) -> None:
        self.said: list[tuple[str, int]] = []
        self.came = asyncio.Event()

    def __call__(self, name: str, pid: int) -> None:
        self.said.append((name, pid))
        self.came.set()


@pytest.fixture
async def process() -> AsyncIterator[asyncio.subprocess.Process]:
    started = await asyncio.create_subprocess_exec("sleep", "1000")
    yield started
    if started.returncode is None:
        started.kill()
    await started.wait()


@pytest.mark.parametrize("pidfds", [True, False])
async def test_an_end_is_told_once(process: asyncio.subprocess.Process, pidfds: bool) -> None:
    ended = Ended()
    watcher = PidWatcher(ended, pidfds=pidfds)
    watcher.watch("web", process.pid)
    watcher.watch("web", process.pid)
    process.kill()
    await asyncio.wait_for(ended.came.wait(), 10)
    await process.wait()
    watcher.close()
    assert ended.said == [("web", process.pid)]


@pytest.mark.parametrize("pidfds", [True, False])
async def test_a_process_that_is_gone_already_is_told(process: asyncio.subprocess.Process, pidfds: bool) -> None:
    ended = Ended()
    process.kill()
    await process.wait()
    watcher = PidWatcher(ended, pidfds=pidfds)
    watcher.watch("web", process.pid)
    await asyncio.wait_for(ended.came.wait(), 10)
    watcher.close()
    assert ended.said == [("web", process.pid)]


async def test_what_is_forgotten_is_not_told(process: asyncio.subprocess.Process) -> None:
    ended = Ended()
    watcher = PidWatcher(ended)
    watcher.watch("old", process.pid)
    watcher.forget("old")
    watcher.watch("new", process.pid)
    process.kill()
    await asyncio.wait_for(ended.came.wait(), 10)
    watcher.close()
    assert ended.said == [("new", process.pid)]


async def test_a_process_lives_until_it_is_dead(process: asyncio.subprocess.Process) -> None:
    assert lives(process.pid)
    process.kill()
    await process.wait()
    assert not lives(process.pid)
