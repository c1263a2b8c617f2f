"""Which benchmarks are there, and what do they print?

Every figure of ours stands beside the same thing done without our parts, measured in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
from pathlib import Path

from scripts.benchmarks.report import Report

NAMES = ("turns", "tools", "ledger", "processes", "helpers", "model", "memory")


def main() -> None:
    """Run the chosen benchmarks and print one table."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"{', '.join(NAMES)}; all but the last two where left out"
    )
    parser.add_argument("--json", type=Path, help="also write all samples to this file")
    chosen = parser.parse_args()
    names = chosen.names or NAMES[:-2]
    if unknown := set(names) - set(NAMES):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}: there are {', '.join(NAMES)}")
    report = Report()
    for name in names:
        asyncio.run(importlib.import_module(f"scripts.benchmarks.{name}").run(report))
    print(report.table())
    if chosen.json:
        chosen.json.write_text(json.dumps(report.samples()), encoding="utf-8")


main()
