"""What is lost when participants are killed at random while people ask?

Some sessions ask without pause. Every two seconds one participant gets SIGKILL, every tenth time all of them at
once. At the end each accepted question is looked up in the ledger. `python -m tests.support.chaos --help`
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx

from tests.support.chaos_asker import Asked, Asker
from tests.support.chaos_report import Kill, Verdict, judge
from tests.support.scripted_ollama import Default, ScriptedOllama
from tests.support.stack import Stack, alive

_WORD_S = 0.04
_LAST_TURNS_S = 90.0
_PADDING = "one two three four five six seven eight nine ten eleven twelve"


@dataclass(frozen=True)
class Plan:
    """How wild a run is.

    Attributes:
        seconds: How long participants are killed.
        seed: Chooses victims and questions.
        sessions: How many clients ask.
        every_s: Between two kills.
        all_every: Each so many kills all participants die at once.
    """

    seconds: float
    seed: int = 1
    sessions: int = 8
    every_s: float = 2.0
    all_every: int = 10


async def run(stack: Stack, plan: Plan) -> Verdict:
    """Ask and kill, then wait for the last answers and judge."""
    stop = asyncio.Event()
    askers = [Asker(stack.port, f"chaos-{number}", plan.seed, _PADDING) for number in range(plan.sessions)]
    talks = [asyncio.create_task(asker.run(stop)) for asker in askers]
    kills = await _kill(stack, plan, askers)
    stop.set()
    _, unfinished = await asyncio.wait(talks, timeout=_LAST_TURNS_S)
    for talk in unfinished:
        talk.cancel()
    await asyncio.gather(*talks, return_exceptions=bool(unfinished))
    await stack.healthy()
    saved = {asker.session_id: await _session(stack, asker.session_id) for asker in askers}
    return judge(askers, kills, saved)


async def _kill(stack: Stack, plan: Plan, askers: list[Asker]) -> list[Kill]:
    random, kills = Random(plan.seed), list[Kill]()  # noqa: S311  repeatable on purpose
    until = time.monotonic() + plan.seconds
    while time.monotonic() + plan.every_s < until:
        await asyncio.sleep(plan.every_s)
        pids = await _pids(stack)
        everyone = len(kills) % plan.all_every == plan.all_every - 1
        victims = sorted(pids) if everyone else [random.choice(sorted(pids))]
        kill = Kill("all" if everyone else victims[0], time.monotonic(), _open(askers))
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[victim], signal.SIGKILL)
        kills.append(kill)
    return kills


def _open(askers: list[Asker]) -> list[Asked]:
    """The questions that wait for an answer now."""
    return [asker.asked[-1] for asker in askers if asker.asked and not asker.asked[-1].ended_at]


async def _pids(stack: Stack) -> dict[str, int]:
    """Of all that run now; the gateway, which tells, may be on its way back."""
    while True:
        try:
            return {name: pid for name, pid in (await stack.pids()).items() if pid and alive([pid])}
        except (httpx.HTTPError, OSError):
            await asyncio.sleep(0.05)


async def _session(stack: Stack, session_id: str) -> list[dict[str, Any]]:
    return list((await stack.get(f"/api/sessions/{session_id}"))["turns"])


async def alone(plan: Plan, home: Path) -> Verdict:
    """A run with a stack and a model server of its own."""
    async with ScriptedOllama() as model:
        model.reply(Default(every_s=_WORD_S, echo=True), times=None)
        async with Stack.started(home, model.url) as stack:
            return await run(stack, plan)


def main() -> int:
    """Run as long as asked; 1 where something was lost, double or misplaced."""
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1, help="the same seed kills in the same order")
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--home", type=Path, help="keep the logs and the store here; a folder that does not exist")
    given = parser.parse_args()
    plan = Plan(given.minutes * 60, given.seed, given.sessions)
    with tempfile.TemporaryDirectory(prefix="local2-chaos-") as scratch:
        verdict = asyncio.run(alone(plan, given.home or Path(scratch)))
    sys.stdout.write(f"{verdict.table()}\n")
    return 0 if verdict.clean else 1


if __name__ == "__main__":
    sys.exit(main())
