"""What do the processes take of the machine?"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

import psutil

from participants.services.ops.decide import Usage

_FRESH_S = 0.5


class _Reading(NamedTuple):
    at: float
    cpu_s: float
    usage: Usage


class Sampler:
    """CPU and memory of some processes. `sample` blocks: it belongs into the offload pool."""

    def __init__(self) -> None:
        self._readings: dict[int, _Reading] = {}

    def sample(self, pids: Iterable[int]) -> None:
        """Read them all; one that was read just now is not read again."""
        fresh: dict[int, _Reading] = {}
        for pid in pids:
            before = self._readings.get(pid)
            reading = before if before and time.time() - before.at < _FRESH_S else _read(pid, before)
            if reading is not None:
                fresh[pid] = reading
        self._readings = fresh

    def usage(self, pid: int) -> Usage | None:
        """The last reading: CPU since the one before, at first since the process started."""
        reading = self._readings.get(pid)
        return reading.usage if reading else None


def _read(pid: int, before: _Reading | None) -> _Reading | None:
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            times, memory, created = process.cpu_times(), process.memory_info(), process.create_time()
    except psutil.Error:
        return None
    now, cpu_s = time.time(), times.user + times.system
    since, cpu_then = (before.at, before.cpu_s) if before else (created, 0.0)
    percent = 100 * (cpu_s - cpu_then) / max(now - since, 0.01)
    return _Reading(now, cpu_s, Usage(round(max(0.0, percent), 2), memory.rss))
