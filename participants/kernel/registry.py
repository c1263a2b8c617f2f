"""Which tools are there now, which of them is the model told of, and why not of the others?

A name belongs to its first live announcer: what is dropped in later cannot take over another
tool's name. The kernel compares no tool's name with a constant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import structlog

from bus.messages.generation import RefusedTool
from bus.messages.tool import ToolSchema
from bus.process import process_lives
from participants.kernel.resolve import nearest, resolve, spoken
from participants.kernel.schemas import fault

log = structlog.get_logger()
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9_])?")
_LONGEST_DESCRIPTION = 4_000
_MOST_TOOLS = 128
_MOST_REMEMBERED = 256
_WITHOUT = "Go on without it, and say so."
WEB_OFF = "Turn the web on in Settings or with: local2 setup --web on"


class Found(NamedTuple):
    """What a name stands for.

    Attributes:
        schema: The tool, if it may be called.
        outcome: Else why not: unknown, disabled or unavailable.
        words: Then what the model (or the user of a command) is told.
        tool: The tool's own name where it is known.
    """

    schema: ToolSchema | None
    outcome: Literal["", "unknown", "disabled", "unavailable"] = ""
    words: str = ""
    tool: str = ""


class Registry:
    """Definitions by tool name, and the programs that are there.

    Args:
        lives: Whether a process of this machine is there.
    """

    def __init__(self, lives: Callable[[int], bool] = process_lives) -> None:
        self._lives = lives
        self._tools: dict[str, ToolSchema] = {}
        self._away: dict[str, ToolSchema] = {}
        self._programs: dict[str, int] = {}
        self._refused: dict[tuple[str, str], RefusedTool] = {}
        """By program and tool: what is wrong with the last announcement."""

    # ------------------------------------------------------------------ coming and going

    def announce(self, schema: ToolSchema) -> bool:
        """Take or withdraw a definition. Returns whether the tools changed; `reason` tells why one was refused."""
        held = self._tools.get(schema.tool)
        if schema.withdrawn:
            mine = held is not None and held.name == schema.name and held.pid in (0, schema.pid)
            return mine and self._drop(schema.tool)
        if held is not None and held.name == schema.name and held.pid != schema.pid and self._lives(held.pid):
            log.warning("second_announcer", tool=schema.tool, name=schema.name, pid=schema.pid, held_by=held.pid)
            return False
        reason = self._fault(schema, held)
        if reason:
            return self._refuse(schema, reason, ours=held is not None and held.name == schema.name)
        cleared = self._refused.pop((schema.name, schema.tool), None) is not None
        self._tools[schema.tool] = schema
        self._away.pop(schema.tool, None)
        return held != schema or cleared

    def _refuse(self, schema: ToolSchema, reason: str, *, ours: bool) -> bool:
        """What a program says now counts: the definition that it had before does not fit it any more."""
        self._refused[schema.name, schema.tool] = RefusedTool(tool=schema.tool, name=schema.name, reason=reason)
        _bound(self._refused)
        return ours and self._drop(schema.tool)

    def _fault(self, schema: ToolSchema, held: ToolSchema | None) -> str:
        if held is not None and held.name != schema.name:
            return f"the name {schema.tool!r} belongs to {held.name!r}"
        if not _NAME.fullmatch(schema.tool):
            return "tool: expected letters, digits, _, - and dots"
        like = [s for s in self._tools.values() if spoken(s.tool) == spoken(schema.tool) and s.tool != schema.tool]
        if like:
            return f"the name {schema.tool!r} cannot be told from {like[0].tool!r}"
        if held is None and len(self._tools) >= _MOST_TOOLS:
            return f"there are {_MOST_TOOLS} tools already"
        if len(schema.description) > _LONGEST_DESCRIPTION:
            return f"description: {len(schema.description)} characters; at most {_LONGEST_DESCRIPTION}"
        return fault(schema.parameters)

    def process_gone(self, name: str, pid: int = 0) -> bool:
        """Drop what a program announced; with `pid` only if that process did. Returns whether anything changed."""
        if pid in (0, self._programs.get(name)):
            self._programs.pop(name, None)
        for key in [key for key in self._refused if key[0] == name]:
            del self._refused[key]
        gone = [tool for tool, schema in self._tools.items() if schema.name == name and pid in (0, schema.pid)]
        needed = any(name in schema.policies.needs for schema in self._tools.values())
        for tool in gone:
            self._drop(tool)
        return bool(gone) or needed

    def program_here(self, name: str, pid: int) -> bool:
        """A program is ready. Returns whether that changes what the model is told of."""
        before = self._programs.get(name)
        self._programs[name] = pid
        return before is None and any(name in schema.policies.needs for schema in self._tools.values())

    def _drop(self, tool: str) -> bool:
        self._away[tool] = self._tools.pop(tool)
        _bound(self._away)
        return True

    # ------------------------------------------------------------------ what there is

    def find(self, name: str) -> Found:
        """What a model means by `name`, whether it may be called or not."""
        schema = resolve(name, self._tools) or resolve(name, self._away)
        if schema is None:
            names = ", ".join(self.nearest(name)) or "none"
            return Found(None, "unknown", f"There is no tool called {name[:64]!r}. The tools are: {names}.")
        tool = schema.tool
        if not schema.policies.enabled:
            return Found(None, "disabled", f"{tool} is turned off. {how_to_enable(schema)} {_WITHOUT}", tool)
        if tool not in self._tools:
            return Found(None, "unavailable", f"{tool} is not running at present. {_WITHOUT}", tool)
        if missing := self.missing(schema):
            words = f"{tool} needs {', '.join(missing)}, not running at present. {_WITHOUT}"
            return Found(None, "unavailable", words, tool)
        return Found(schema, tool=tool)

    def get(self, name: str) -> ToolSchema | None:
        """The tool that a model means by `name`, if it may be called."""
        return self.find(name).schema

    def missing(self, schema: ToolSchema) -> list[str]:
        """The programs that a tool needs and that are away."""
        return [name for name in schema.policies.needs if name not in self._programs]

    def known(self) -> list[ToolSchema]:
        """All definitions, by name; also of tools that are off or lack a program."""
        return [self._tools[name] for name in sorted(self._tools)]

    def in_order(self) -> list[ToolSchema]:
        """All definitions, also of those that are away now, in the order in which they came."""
        return [*self._tools.values(), *self._away.values()]

    def enabled(self) -> list[ToolSchema]:
        """What the model is told of, by name: a stable order keeps the prompt's head stable."""
        return [s for s in self.known() if s.policies.enabled and not self.missing(s)]

    def definitions(self, tools: Sequence[ToolSchema] | None = None) -> list[dict[str, Any]]:
        """The enabled tools (or those given) as a chat request's `tools`."""
        return [
            {
                "type": "function",
                "function": {"name": spoken(s.tool), "description": s.description, "parameters": s.parameters},
            }
            for s in (self.enabled() if tools is None else tools)
        ]

    @property
    def refused(self) -> list[RefusedTool]:
        """What was announced and cannot be used, and what lacks a program, each with its reason."""
        lacking = [
            RefusedTool(tool=s.tool, name=s.name, reason=f"needs {', '.join(self.missing(s))}, which is not running")
            for s in self.known()
            if s.policies.enabled and self.missing(s)
        ]
        return sorted([*self._refused.values(), *lacking], key=lambda one: (one.tool, one.name))

    def reason(self, schema: ToolSchema) -> str:
        """Why this announcement was refused; empty where it was not."""
        told = self._refused.get((schema.name, schema.tool))
        return told.reason if told else ""

    def nearest(self, name: str) -> list[str]:
        """All enabled names, as models are given them, the most similar to `name` first."""
        return nearest(name, [spoken(schema.tool) for schema in self.enabled()])


def _bound(remembered: dict[Any, Any]) -> None:
    while len(remembered) > _MOST_REMEMBERED:
        remembered.pop(next(iter(remembered)))


def how_to_enable(schema: ToolSchema) -> str:
    """What turns a tool on."""
    if schema.policies.web:
        return f"{WEB_OFF}."
    return f"Turn it on in Settings, or set policies.enabled in {schema.name}.yaml."
