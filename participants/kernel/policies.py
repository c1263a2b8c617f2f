"""May this call run, does its user decide, or is the answer no?

Rules only: a tool's policies, the call's arguments and what happened before in the turn, in; words, out.
They compare no tool's name. Where a rule could be read in two ways, the user is asked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, cast

from bus.messages.ledger import PastTurn, ToolRecord
from bus.messages.tool import Confirm, Policies, ToolSchema

_LONGEST_VALUE = 40
_RISKS = {
    "read": "It asks before each use.",
    "write": "It adds or changes something.",
    "destroy": "It can change or delete what cannot be brought back.",
}
_AFTER_UNTRUSTED = "Content from outside was read before, and may have led to this."


def canonical(tool: str, args: dict[str, Any]) -> str:
    """A call as text: equal for equal calls only, in whatever order its arguments stand."""
    return json.dumps([tool, args], sort_keys=True, separators=(",", ":"))


def approval_id(call_id: str, tool: str, args: dict[str, Any]) -> str:
    """The id of this call's approval: with other arguments it is another one."""
    return f"{call_id}-{hashlib.sha256(canonical(tool, args).encode()).hexdigest()[:16]}"


# ---------------------------------------------------------------------- asking


def reason_to_ask(policies: Policies, args: dict[str, Any], *, tainted: bool) -> str:
    """Why the user is asked before this call, in words; empty where it may run without.

    Args:
        policies: The tool's.
        args: The arguments, validated.
        tainted: Whether the model has content from outside before it.
    """
    for rule in policies.confirm:
        if (tainted or not rule.after_untrusted) and _fits(rule, args):
            return " ".join([*_because(rule, args), _RISKS[policies.risk]])
    return ""


def _fits(rule: Confirm, args: dict[str, Any]) -> bool:
    """Whether a call has, for each argument that the rule names, one of the values."""
    return all(_has_one(args.get(name), values) for name, values in rule.when.items())


def _has_one(given: Any, values: Iterable[Any]) -> bool:
    """An argument that is left out counts as null; a list as each of its items."""
    wanted = {_folded(value) for value in values}
    items: list[Any] = [given, *cast("list[Any]", given)] if isinstance(given, list) else [given]
    return any(_folded(item) in wanted for item in items)


def _folded(value: Any) -> str:
    """A value to compare by: for a person `Delete ` is `delete`."""
    return " ".join(value.casefold().split()) if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _because(rule: Confirm, args: dict[str, Any]) -> list[str]:
    named = [f"{name} is {json.dumps(args.get(name), ensure_ascii=False)[:_LONGEST_VALUE]}" for name in rule.when]
    conditions = [f"Here {' and '.join(named)}."] if named else []
    return conditions + ([_AFTER_UNTRUSTED] if rule.after_untrusted else [])


def tainted(calls: Iterable[ToolRecord], history: Iterable[PastTurn]) -> bool:
    """Whether the model has content from outside before it: read in this turn, or in one that it still sees."""
    earlier = list(history)
    read = [*calls, *(call for turn in earlier for step in turn.steps for call in step.calls)]
    return any(call.untrusted for call in read) or any(turn.untrusted for turn in earlier)


# ---------------------------------------------------------------------- refusing


def refusal(schema: ToolSchema, denied: Iterable[tuple[str, Policies | None]], *, asks: bool) -> str:
    """Why this call does not run after what the user denied in the turn, for the model; empty where it may.

    What was denied is not tried in another way: nothing that changes something runs any more, nothing that
    would have to ask, and nothing else that reaches the web where that was denied.

    Args:
        schema: The tool that is called.
        denied: The denied tools so far, each with its policies where they are known.
        asks: Whether the user would be asked about this call.
    """
    for tool, policies in denied:
        both_web = schema.policies.web and policies is not None and policies.web
        if schema.policies.risk != "read" or asks or both_web:
            return (
                f"Not run: {tool} was denied in this turn, and it is not tried in another way. "
                f"Do not look for one. Say what you wanted to do and why, and let the user decide."
            )
    return ""
