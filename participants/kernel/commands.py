"""Is what the user typed a slash command, and what does it ask for?

Pure functions over the announced schemas. A line resolves without a model first: the rest of the line is the command's
argument, and `key=value` at its end are others. Only a command that exists counts: a path such as /etc/hosts, or a
word that no tool has, is a question like any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from bus.messages.generation import CommandInfo
from bus.messages.tool import Command, ToolSchema
from participants.kernel.registry import Registry, how_to_enable
from participants.kernel.validate import InvalidArguments, fit

HELP = CommandInfo(name="help", usage="/help", help="List the commands")
_LINE = re.compile(r"\s*/([A-Za-z][A-Za-z0-9_-]{0,31})(?:\s+(.*?))?\s*", re.DOTALL)
_OPTION = re.compile(r"(?:(.*?)\s+)?([A-Za-z][A-Za-z0-9_-]*)=(\S+)", re.DOTALL)


class Typed(NamedTuple):
    """A command of a tool."""

    command: Command
    schema: ToolSchema


class Asked(NamedTuple):
    """What a command comes to.

    Attributes:
        words: The answer itself, where no tool is called.
        schema: The tool to call.
        arguments: For it.
        fill: Whether required ones are open that the model may fill in.
        usage: How the command is written, for when that fails.
    """

    words: str = ""
    schema: ToolSchema | None = None
    arguments: dict[str, Any] = {}
    fill: bool = False
    usage: str = ""


def listed(registry: Registry) -> list[CommandInfo]:
    """The commands that can be used now, by name."""
    usable = {schema.tool for schema in registry.enabled()}
    own = [_info(typed) for typed in _commands(registry).values() if typed.schema.tool in usable]
    return sorted([*own, HELP], key=lambda info: info.name)


def may_be(line: str) -> bool:
    """Whether a line is written like a command."""
    return _LINE.fullmatch(line) is not None


def read(line: str, registry: Registry) -> Asked | None:
    """What a line asks for; None where it is no command."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    name, rest = found[1].casefold(), found[2] or ""
    if name == HELP.name:
        return Asked(words=_help(registry, rest))
    typed = _commands(registry).get(name)
    return _asked(typed, rest, registry) if typed else None


def _commands(registry: Registry) -> dict[str, Typed]:
    """By name. Of two tools with the same command the one that came first has it; /help is nobody's."""
    out: dict[str, Typed] = {}
    for schema in registry.in_order():
        for command in schema.commands:
            if command.name != HELP.name:
                out.setdefault(command.name, Typed(command, schema))
    return out


def _asked(typed: Typed, rest: str, registry: Registry) -> Asked:
    found = registry.find(typed.schema.tool)
    if found.outcome == "disabled":
        return Asked(words=f"/{typed.command.name} is turned off. {how_to_enable(typed.schema)}")
    if found.schema is None:
        why = _reason(typed.schema, registry)
        return Asked(words=f"/{typed.command.name} cannot be used now: {why}. See: local2 status")
    usage = f"Usage: `{usage_of(typed)}`: {typed.command.help}."
    arguments = _arguments(typed, rest)
    if arguments is None:
        return Asked(words=f"/{typed.command.name} takes nothing after it. {usage}")
    open_ones = [name for name in _required(typed.schema) if name not in arguments]
    if open_ones and (not typed.command.fill or not rest):
        return Asked(words=f"/{typed.command.name} needs {_listed(open_ones)}. {usage}")
    if open_ones:
        return Asked(schema=typed.schema, arguments=arguments, fill=True, usage=usage)
    try:
        return Asked(schema=typed.schema, arguments=fit(arguments, typed.schema.parameters), usage=usage)
    except InvalidArguments as error:
        return Asked(words=f"/{typed.command.name} does not understand that: {error}. {usage}")


def filled(asked: Asked, given: Any) -> Asked:
    """The command with what the model filled in; what the user typed stays as it is."""
    assert asked.schema is not None  # noqa: S101  for the type checker: only a tool's command is filled in
    try:
        own = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
        return asked._replace(arguments=fit({**own, **asked.arguments}, asked.schema.parameters), fill=False)
    except InvalidArguments as error:
        return Asked(words=f"That is not enough to go on: {error}. {asked.usage}")


def _arguments(typed: Typed, rest: str) -> dict[str, Any] | None:
    """The line as arguments; None where the command takes none."""
    options: dict[str, str] = {}
    others = _properties(typed.schema).keys() - {typed.command.argument}
    while (found := _OPTION.fullmatch(rest)) and found[2] in others and found[2] not in options:
        rest, options[found[2]] = found[1] or "", found[3]
    if rest and not typed.command.argument:
        return None
    return {**({typed.command.argument: rest} if rest else {}), **options}


# ---------------------------------------------------------------------- words


def usage_of(typed: Typed) -> str:
    """The whole line, such as `/search <query>`; what may be left out in brackets."""
    required, words = _required(typed.schema), [f"/{typed.command.name}"]
    first = typed.command.argument
    if first:
        words.append(f"<{first}>" if first in required else f"[{first}]")
    words += [f"{name}=…" for name in required if name != first and not typed.command.fill]
    return " ".join(words)


def _info(typed: Typed) -> CommandInfo:
    command, schema = typed
    return CommandInfo(name=command.name, usage=usage_of(typed), help=command.help, tool=schema.tool)


def _help(registry: Registry, wanted: str) -> str:
    """All commands, or the one that is asked about."""
    known = {info.name: info for info in listed(registry)}
    one = known.get(wanted.strip().lstrip("/").casefold())
    lines = [f"- `{info.usage}`: {info.help}" for info in ([one] if one else known.values())]
    off = {name: typed for name, typed in _commands(registry).items() if name not in known}
    lines += [f"- `/{name}` is off: {_off(off[name].schema, registry)}" for name in sorted(off) if not one]
    return "\n".join(lines)


def _off(schema: ToolSchema, registry: Registry) -> str:
    return _reason(schema, registry) if schema.policies.enabled else how_to_enable(schema)


def _reason(schema: ToolSchema, registry: Registry) -> str:
    missing = registry.missing(schema)
    return f"{_listed(missing)} is not running" if missing else f"{schema.name} is not running"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


def _properties(schema: ToolSchema) -> dict[str, Any]:
    properties = schema.parameters.get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}


def _required(schema: ToolSchema) -> list[str]:
    required = schema.parameters.get("required")
    return cast("list[str]", required) if isinstance(required, list) else []
