"""What is lost when participants are killed at random while people ask?

Some sessions ask without pause. Every two seconds one participant gets SIGKILL, every tenth time all of them at
once; and some more while, after the last question, answers are graded and memories put in better words. At the end
each accepted question is looked up in the ledger and in memory. `python -m tests.support.chaos --help`
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
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
from tests.support.chaos_report import SCORE, Kill, SavedTurns, Verdict, judge, unsettled
from tests.support.scripted_ollama import MODELS, Default, Say, ScriptedOllama
from tests.support.stack import Stack, alive

_WORD_S = 0.04
_LAST_TURNS_S = 90.0
_SETTLED_S = 240.0
_LATER = 0.2
"""So much of the time participants are killed again while there is no question: work that gives way to them runs."""
_CRITIC, _MEMORY = "scripted-critic:latest", "scripted-memory:latest"
_ENVIRONMENT = {
    "LOCAL2_CRITIC__ENABLED": "true",
    "LOCAL2_MEMORY__USE_MODEL": "true",
    "LOCAL2_MODELS__CRITIC": _CRITIC,
    "LOCAL2_MODELS__MEMORY": _MEMORY,
    "LOCAL2_MODELS__EMBEDDING": "scripted-embed",
}
_REFINED = {"summary": "In better words.", "intent": "fact", "entities": []}
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
    random = Random(plan.seed)  # noqa: S311  repeatable on purpose
    kills: list[Kill] = []
    await _kill(stack, plan, random, askers, kills, plan.seconds * (1 - _LATER))
    stop.set()
    _, unfinished = await asyncio.wait(talks, timeout=_LAST_TURNS_S)
    for talk in unfinished:
        talk.cancel()
    await asyncio.gather(*talks, return_exceptions=bool(unfinished))
    await _kill(stack, plan, random, askers, kills, plan.seconds * _LATER)
    await stack.healthy()
    return judge(askers, kills, *await _settled(stack, [asker.session_id for asker in askers]))


async def _settled(stack: Stack, sessions: list[str]) -> tuple[SavedTurns, list[dict[str, Any]]]:
    """What the ledger and the memory hold once nothing is left to grade and to keep, or after a long time."""
    until = time.monotonic() + _SETTLED_S
    while True:
        saved = {session_id: await _session(stack, session_id) for session_id in sessions}
        engrams = await _engrams(stack)
        if not unsettled(saved, engrams) or time.monotonic() > until:
            return saved, engrams
        await asyncio.sleep(1)


async def _kill(
    stack: Stack, plan: Plan, random: Random, askers: list[Asker], kills: list[Kill], seconds: float
) -> None:
    until = time.monotonic() + seconds
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


async def _engrams(stack: Stack) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False, base_url=stack.url, timeout=60) as client:
        lines = (await client.get("/api/memory/export")).raise_for_status().text.splitlines()
    memories = [json.loads(line) for line in lines]
    return [memory for memory in memories if memory["kind"] == "engram"]


async def alone(plan: Plan, home: Path) -> Verdict:
    """A run with a stack and a model server of its own."""
    async with ScriptedOllama(models=[*MODELS, _CRITIC, _MEMORY]) as model:
        model.reply(Say(f"Feedback: fine. [RESULT] {SCORE}"), model=_CRITIC, times=None)
        model.reply(Say(json.dumps(_REFINED)), model=_MEMORY, times=None)
        model.reply(Default(every_s=_WORD_S, echo=True, signed=True), times=None)
        async with Stack.started(home, model.url, environment=_ENVIRONMENT) as stack:
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
