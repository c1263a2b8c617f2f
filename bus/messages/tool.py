"""How is a tool announced, called and answered?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about

OUTCOMES = (
    "ok",
    "unknown",
    "disabled",
    "unavailable",
    "invalid_arguments",
    "denied",
    "timeout",
    "crashed",
    "cancelled",
    "failed",
)
"""Every way in which a tool call can end."""


class Confirm(Struct, frozen=True, kw_only=True):
    """When a call waits for the user's approval: each condition that is given has to hold."""

    when: Annotated[dict[str, list[Any]], about("Argument to values: the call has one of them. Empty: any call.")] = {}
    after_untrusted: Annotated[
        bool,
        about("Only while the model has content from outside before it: read in this turn, or in one it still sees."),
    ] = False


class Command(Struct, frozen=True, kw_only=True):
    """A slash command of the user that calls the tool: `/search rain boots`."""

    name: Annotated[str, about("The word after the slash.", pattern="^[a-z][a-z0-9_-]*$", max_length=32)]
    help: Annotated[str, about("What it does, in a few words.", min_length=1, max_length=120)]
    argument: Annotated[str, about("The parameter that takes the rest of the line; empty for none.")] = ""
    fill: Annotated[bool, about("Whether the model may fill in required arguments that are left open.")] = False


class Policies(Struct, frozen=True, kw_only=True):
    """How a tool wants to be run."""

    enabled: Annotated[bool, about("Whether the model is told of it.")] = True
    web: Annotated[bool, about("Whether it reaches the web: it stays off until the user turns the web on.")] = False
    needs: Annotated[list[str], about("Programs without which it cannot work: hidden while one is away.")] = []
    risk: Annotated[
        Literal["read", "write", "destroy"], about("What a call can do: nothing, add or change something, lose it.")
    ] = "read"
    confirm: Annotated[list[Confirm], about("A call that fits one of these asks the user first.")] = []
    continuation: Annotated[
        Literal["model", "terminal"], about("Whether a result goes back to the model, or is the answer itself.")
    ] = "model"
    timeout_s: Annotated[float | None, about("Seconds; null for the dispatcher's default.")] = None
    idempotent: Annotated[bool, about("Whether running it twice does no harm.")] = False
    concurrency: Annotated[int, about("Calls at once in its process.", ge=1)] = 4
    offloaded: Annotated[bool, about("Whether it blocks, and so runs in the worker pool of its process.")] = False
    max_result_chars: Annotated[int, about("A longer result is cut, with a mark.", ge=100)] = 20_000
    untrusted: Annotated[bool, about("Whether its results come from outside.")] = False
    aliases: Annotated[list[str], about("Other names that a model may use for it.")] = []


class ToolSchema(Message, frozen=True):
    """A tool announces itself, or withdraws."""

    SUBJECT = subjects.TOOL_SCHEMA

    tool: Annotated[str, about("The name that the model calls.", min_length=1, max_length=64)]
    name: Annotated[str, about("The program's name.")]
    description: Annotated[str, about("What it does and when to call it, for the model.")]
    parameters: Annotated[dict[str, Any], about("A JSON schema of type object.")]
    policies: Annotated[Policies, about("How it wants to be run.")] = Policies()
    commands: Annotated[list[Command], about("Slash commands that call it.")] = []
    critique_rubric_name: Annotated[str, about("The rubric for answers that used it; empty for the default.")] = ""
    critique_priority: Annotated[int, about("Of several tools' rubrics the highest counts.")] = 0
    withdrawn: Annotated[bool, about("It goes: the model is told of it no longer.")] = False
    pid: Annotated[int, about("The tool's process id, so that its death withdraws it.")] = 0
    boot: Annotated[str, about("The process's id on the bus, which no other one ever has.")] = ""


class ToolSchemaRequest(Message, frozen=True):
    """All tools, announce yourselves."""

    SUBJECT = subjects.TOOL_SCHEMA_REQUEST


class ToolCall(Message, frozen=True):
    """Run a tool. Answered once on `tool.result.NAME`, with this message's id as correlation id."""

    SUBJECT = subjects.TOOL_CALL
    KEY = "tool"

    tool: Annotated[str, about("The tool's name.")]
    call_id: Annotated[str, about("The call's id: the same id twice runs once in one process.")]
    args: Annotated[dict[str, Any], about("The arguments, validated.")]
    timeout_s: Annotated[float, about("Seconds after which nobody waits any more.")] = 20.0
    boot: Annotated[
        str, about("The process meant: another one leaves the call alone. Empty: whoever serves the tool.")
    ] = ""


class ToolResult(Message, frozen=True):
    """How a call ended."""

    SUBJECT = subjects.TOOL_RESULT
    KEY = "tool"

    tool: Annotated[str, about("The tool's name.")]
    call_id: Annotated[str, about("The call's id.")]
    outcome: Annotated[str, about("One of the outcomes.")]
    result: Annotated[str, about("What the model is told: the result, or what went wrong and what to do.")] = ""
    sources: Annotated[list[dict[str, Any]], about("Each {title, url}, or {title, memory_id} of a memory.")] = []
    untrusted: Annotated[bool, about("Whether this result came from outside; where the policy says so, all did.")] = (
        False
    )


class ToolActivity(Message, frozen=True):
    """What happens to a call, for the dispatcher and for observers."""

    SUBJECT = subjects.TOOL_ACTIVITY
    KEY = "tool"

    tool: Annotated[str, about("The tool's name.")]
    call_id: Annotated[str, about("The call's id.")]
    event: Annotated[str, about("dispatched, running or ended.")]
    args: Annotated[dict[str, Any], about("With `dispatched`: the arguments.")] = {}
    outcome: Annotated[str, about("With `ended`: the outcome.")] = ""
    result: Annotated[str, about("With `ended`: what the model is told.")] = ""
    sources: Annotated[list[dict[str, Any]], about("With `ended`.")] = []
    untrusted: Annotated[bool, about("With `ended`: whether the result came from outside.")] = False
    seconds: Annotated[float, about("With `ended`: how long it took.")] = 0.0
    pid: Annotated[int, about("With `running`: the tool's process.")] = 0


class CancelTool(Message, frozen=True):
    """Stop a call: nobody waits for it any more."""

    SUBJECT = "tool.cancel"
    KEY = "tool"

    tool: Annotated[str, about("The tool's name.")]
    call_id: Annotated[str, about("The call's id.")]
