"""How are samples summed up and shown?"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from statistics import median


def percentile(samples: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the samples lie, between neighbours in a straight line."""
    ordered = sorted(samples)
    place = (len(ordered) - 1) * share
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass
class Row:
    """One measure."""

    name: str
    unit: str
    ours: list[float]
    bare: list[float] = field(default_factory=list)
    goal: str = ""


class Report:
    """All measures of a run."""

    def __init__(self) -> None:
        self._rows: list[Row] = []

    def add(self, name: str, unit: str, ours: list[float], bare: list[float] | None = None, goal: str = "") -> None:
        """Add a measure; `bare` is the same without our parts."""
        self._rows.append(Row(name, unit, ours, bare or [], goal))

    def samples(self) -> list[dict[str, object]]:
        """Everything that was measured."""
        return [vars(row) for row in self._rows]

    def table(self) -> str:
        """A table of medians, p95 and the bare figures."""
        head = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        lines = [head, f"{'measure':44} {'unit':9} {'p50':>9} {'p95':>9} {'bare p50':>9} {'n':>5}  goal"]
        for row in self._rows:
            if not row.ours:
                lines.append(f"{row.name:44} {row.unit:9} nothing measured")
                continue
            bare = f"{median(row.bare):9.2f}" if row.bare else f"{'':9}"
            p50, p95 = percentile(row.ours, 0.5), percentile(row.ours, 0.95)
            lines.append(f"{row.name:44} {row.unit:9} {p50:9.2f} {p95:9.2f} {bare} {len(row.ours):5}  {row.goal}")
        return "\n".join(lines)
