"""What do the processes cost, and how fast do they start and come back?"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from scripts.benchmarks.report import Report
from scripts.benchmarks.stamped_model import StampedModel
from tests.support.stack import Stack

KILLS = 5
TOOLS = ("datetime", "location", "personas", "remember_this", "search_memory", "documents", "librarian")
"""What holds no library of its own while it is idle."""
IDLE_S = 30.0


def pss_mb(pid: int) -> float:
    """Proportional memory of a process: shared pages count by their share."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_s(pid: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def run(report: Report) -> None:
    """Cold start, idle cost, and the return of each participant after kill -9."""
    with tempfile.TemporaryDirectory() as home:
        async with StampedModel() as model:
            await _cold_start(report, Path(home), model)
            async with Stack.started(Path(home), model.url) as stack:
                await asyncio.sleep(3)  # what starts late has settled
                await _idle(report, stack)
                await _kills(report, stack)


async def _cold_start(report: Report, home: Path, model: StampedModel) -> None:
    starts: list[float] = []
    for _ in range(3):
        begun = time.monotonic()
        async with Stack.started(home, model.url):
            starts.append(time.monotonic() - begun)
    report.add("cold start, installed", "s", starts, goal="<= 4")


async def _idle(report: Report, stack: Stack) -> None:
    pids = await stack.pids()
    before, begun = sum(map(cpu_s, pids.values())), time.monotonic()
    await asyncio.sleep(IDLE_S)
    used = sum(map(cpu_s, pids.values())) - before
    report.add("idle CPU of all, of one core", "%", [100 * used / (time.monotonic() - begun)], goal="< 1")
    for name, pid in sorted(pids.items()):
        report.add(f"memory of {name}", "MB PSS", [pss_mb(pid)], goal="<= 25" if name in TOOLS else "")
    report.add("memory of all", "MB PSS", [sum(map(pss_mb, pids.values()))])


async def _kills(report: Report, stack: Stack) -> None:
    for name in sorted(await stack.pids()):
        back: list[float] = []
        for _ in range(KILLS):
            await asyncio.sleep(1.5)  # a death within supervisord's startsecs waits longer, by its own rule
            pid = await stack.kill(name)
            begun = time.monotonic()
            await stack.replaced(name, pid)
            back.append(time.monotonic() - begun)
        report.add(f"{name} back after kill -9", "s", back)
