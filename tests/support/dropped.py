"""Tools for a test, dropped into a running stack: each notes every run, and then does what it is told.

The argument `do` is a list with one word a run: `ok` answers, `kill`, `stop`, `exit` and `block` do that to
the process, `hang` never answers, and `wait` answers once `let_go` was called. The last word repeats.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from tests.support.stack import Stack

_MODULE = """
import asyncio, json, os, signal, sys, time
from pathlib import Path

from participants.participant import main
from participants.tools.base import BaseTool

HERE, NAME = Path(__file__).parent, sys.argv[1]
SOURCE = [{"title": "A page", "url": "https://example.org/a"}]


class Actor(BaseTool):
    CONFIG_NAME = NAME

    async def run_call(self, args):
        notes = HERE / f"{NAME}.runs"
        with notes.open("a") as out:
            out.write(json.dumps(args) + "\\n")
        before = notes.read_text().splitlines()[:-1]
        same = sum(json.loads(line) == args for line in before)
        words = args.get("do", ["ok"])
        return await getattr(self, words[min(same, len(words) - 1)])(args)

    async def ok(self, args):
        return args.get("text", "done")

    async def kill(self, args):
        os.kill(os.getpid(), signal.SIGKILL)

    async def stop(self, args):
        os.kill(os.getpid(), signal.SIGSTOP)
        return "late"

    async def exit(self, args):
        os._exit(1)

    async def block(self, args):
        time.sleep(3600)

    async def hang(self, args):
        await asyncio.Event().wait()

    async def wait(self, args):
        while not (HERE / f"{NAME}.{args.get('n', 0)}").exists():
            await asyncio.sleep(0.02)
        return "waited"


sys.exit(main(Actor))
"""
_PROGRAM = """
[program:{name}]
command="{python}" "%(here)s/actor.py" {name}
autostart=false
autorestart=true
startsecs=0
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile=%(ENV_HOME)s/{name}.log
"""


async def drop(stack: Stack, **tools: dict[str, Any]) -> None:
    """Write tools, each with its policies, and have the running stack take them up."""
    folder = stack.home / "participants"
    folder.mkdir(exist_ok=True)
    (folder / "actor.py").write_text(_MODULE)
    for name, policies in tools.items():
        values = {
            "id": f"{name}_tool",
            "tool": name,
            "description": f"{name} for tests.",
            "parameters": {"type": "object"},
            "policies": policies,
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(values))
        program = _PROGRAM.format(name=name, python=sys.executable).replace("%(ENV_HOME)s", "%(here)s")
        (folder / f"{name}.conf").write_text(program)
    await stack.command("reload")


def runs(stack: Stack, tool: str) -> list[dict[str, Any]]:
    """The arguments of each run so far, also of those that never ended."""
    notes: Path = stack.home / "participants" / f"{tool}.runs"
    return [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []


async def ran(stack: Stack, tool: str, times: int = 1) -> None:
    """Wait until so many runs have begun."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if len(runs(stack, tool)) >= times:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{tool} did not run {times} times")


def let_go(stack: Stack, tool: str, n: int = 0) -> None:
    """The call of this tool with that `n` may answer."""
    (stack.home / "participants" / f"{tool}.{n}").touch()
