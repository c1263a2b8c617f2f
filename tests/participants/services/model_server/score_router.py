"""How often does the router choose the right tool? Prints the figure for each set of router_questions.yaml."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from participants.services.model_server import router
from participants.services.model_server.chat import gather
from participants.services.model_server.engine import LlamaEngine
from participants.services.model_server.llama import LlamaConfig
from participants.services.model_server.router import Decision, Tool
from participants.services.model_server.weights import resolve

HERE = Path(__file__).parent
CONFIG = HERE.parents[3] / "config"


def tools_of(group: dict[str, Any]) -> list[Tool]:
    """The tools of router_tools.yaml that a group names, or those of config/ as they are installed."""
    if "installed" in group:
        return [_installed(name) for name in group["installed"]]
    known = yaml.safe_load((HERE / "router_tools.yaml").read_text(encoding="utf-8"))
    return [_tool(name, known[name]) for name in group["tools"]]


def _installed(program: str) -> Tool:
    known = yaml.safe_load((CONFIG / f"{program}.yaml").read_text(encoding="utf-8"))
    return Tool(known["tool"], known["description"], known["parameters"])


def _tool(name: str, known: dict[str, Any]) -> Tool:
    properties = {argument.rstrip("?"): schema for argument, schema in known["arguments"].items()}
    required = [argument for argument in known["arguments"] if not argument.endswith("?")]
    return Tool(name, known["description"], {"type": "object", "properties": properties, "required": required})


def messages_of(question: dict[str, Any]) -> list[dict[str, str]]:
    """The conversation that ends in the question."""
    roles = ("user", "assistant")
    before = [{"role": role, "content": text} for role, text in zip(roles, question.get("before", ()), strict=False)]
    return [*before, {"role": "user", "content": question["ask"]}]


def is_right(decision: Decision, question: dict[str, Any]) -> bool:
    """Whether tool and arguments are what the question needs."""
    if decision.tool != (question["tool"] or ""):
        return False
    wanted = question.get("arguments", {})
    return all(part in str(decision.arguments.get(name, "")).lower() for name, part in wanted.items())


async def score(choice: str, wanted: str) -> None:
    """Ask everything (of the groups whose name holds `wanted`), and print what went wrong."""
    engine = LlamaEngine(LlamaConfig(resolve(choice).path, 8192, 3, 128), lambda _state, _reason: None)
    for group in yaml.safe_load((HERE / "router_questions.yaml").read_text(encoding="utf-8")):
        if wanted not in group["name"]:
            continue
        tools = tools_of(group)
        began = time.monotonic()
        await engine.run([router.warm_up(tools)])
        warm_s, right, seconds = time.monotonic() - began, 0, list[float]()
        for question in group["questions"]:
            started = time.monotonic()
            reply, _done = await gather(engine, router.routing(tools, messages_of(question)))
            seconds.append(time.monotonic() - started)
            decision = router.decision_of(reply, tools)
            right += is_right(decision, question)
            if not is_right(decision, question):
                sys.stdout.write(f"  {question['ask']!r}: {reply}\n")
        figures = f"{right}/{len(seconds)} right, {median(seconds):.2f} s each, head {warm_s:.1f} s"
        sys.stdout.write(f"{group['name']}: {figures}\n")
    await engine.close()


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    asyncio.run(score(given.get(0, "default"), given.get(1, "")))
