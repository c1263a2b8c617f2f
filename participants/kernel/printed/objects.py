"""Which tool calls does a JSON value stand for?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from participants.kernel.printed.known import Known, PrintedCall

NAMES = (
    "name",
    "tool",
    "function",
    "tool_name",
    "function_name",
    "toolName",
    "functionName",
    "action",
    "recipient_name",
)
ARGUMENTS = ("arguments", "parameters", "args", "input", "kwargs", "params", "tool_input", "action_input", "tool_args")
LISTS = ("tool_calls", "function_calls", "toolCalls", "calls", "tool_uses")
INNER = ("function", "function_call", "tool_call", "tool_use", "functionCall")
BESIDE = frozenset({"id", "type", "index", "call_id", "tool_call_id", "thought", "thoughts", "reasoning"})
AROUND = frozenset({"role", "content", "refusal"})
TYPES = frozenset({"function", "tool_call", "function_call", "tool_use", "tool"})
KEYS = frozenset({*NAMES, *ARGUMENTS, *LISTS, *INNER, *BESIDE, *AROUND})
_PLAIN_NAMES = frozenset({"name", "action"})
"""Keys that ordinary data has, too: without arguments beside them they make no call."""
_DEEPEST = 4
Fields = dict[str, Any]


def calls_of(value: Any, known: Known, *, strong: bool, depth: int = 0) -> list[PrintedCall]:
    """The calls that a value is, in order; empty where any part of it is something else.

    Args:
        value: What was read.
        known: The announced tools.
        strong: Whether the text around it says that it is a call: then the name may be wrong, too.
        depth: How far inside another one it stands.
    """
    if isinstance(value, list):
        return _all(cast("list[Any]", value), known, strong, depth)
    if not isinstance(value, dict) or depth > _DEEPEST:
        return []
    fields = cast("Fields", value)
    for word in LISTS:
        if isinstance(fields.get(word), list) and fields.keys() <= {word, *BESIDE, *AROUND}:
            return _all(fields[word], known, strong, depth)
    for word in INNER:
        if isinstance(fields.get(word), dict) and fields.keys() <= {word, *BESIDE, *AROUND}:
            return calls_of(fields[word], known, strong=strong, depth=depth + 1)
    return _one(fields, known, strong=strong)


def _all(items: Iterable[Any], known: Known, strong: bool, depth: int) -> list[PrintedCall]:
    found = [calls_of(item, known, strong=strong, depth=depth + 1) for item in items]
    return [call for calls in found for call in calls] if all(found) else []


def _one(fields: Fields, known: Known, *, strong: bool) -> list[PrintedCall]:
    """A call by its name; or the tool's name as the only key."""
    word = next((word for word in NAMES if isinstance(fields.get(word), str)), "")
    call = _named(fields, word, known, strong=strong) if word else _keyed(fields, known)
    if call is None or not (strong or known.tool(call.name)):
        return []
    return [] if known.is_schema(call.name, call.arguments) else [call]


def _named(fields: Fields, word: str, known: Known, *, strong: bool) -> PrintedCall | None:
    name = fields[word]
    rest = {key: item for key, item in fields.items() if key != word and key not in BESIDE}
    if fields.get("type", "function") not in TYPES:
        return None
    if not rest:
        certain = strong or word not in _PLAIN_NAMES or "type" in fields
        return PrintedCall(name, {}) if certain else None
    if len(rest) == 1 and (key := next(iter(rest))) in ARGUMENTS:
        arguments = known.arguments(name, rest[key])
        return PrintedCall(name, arguments) if isinstance(arguments, dict) or arguments is None or strong else None
    beside = PrintedCall(name, rest)
    return beside if known.takes(beside) else None


def _keyed(fields: Fields, known: Known) -> PrintedCall | None:
    if len(fields) != 1:
        return None
    ((name, arguments),) = fields.items()
    call = PrintedCall(name, arguments)
    return call if name in known.spellings and isinstance(arguments, dict) and known.takes(call) else None
