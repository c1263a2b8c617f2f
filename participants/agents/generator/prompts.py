"""Which messages does the model get, and how do they fit its context?

Pure functions: a claimed turn in, messages out. The order keeps the prompt's head stable for the
model server's prefix cache: system prompt, earlier turns oldest first, what was recalled, the question, this turn's
steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bus.envelope import encode_payload
from bus.messages.ledger import PastTurn, Step, Summary, ToolRecord
from bus.messages.persona import PersonaInfo
from bus.messages.tool import ToolSchema
from participants.kernel.resolve import spoken
from participants.kernel.untrusted import framed, neutral

ChatMessage = dict[str, Any]
_MESSAGE_TOKENS = 6
"""What a chat template adds around each message."""
NO_MORE_TOOLS = "[No tool can be called any more in this turn. Answer the user now with what there is.]"
"""Where a turn has called enough: without it some models go on calling."""
BYTES_PER_TOKEN = 3.2
"""The first guess, on the careful side; the server's own counts correct it."""
MOST_BYTES_PER_TOKEN = 6.0
"""No correction goes beyond."""


class Prompt(NamedTuple):
    """Messages that fit.

    Attributes:
        messages: For the model, in order.
        tokens: The estimate.
        left_out: Earlier turns that did not fit.
    """

    messages: list[ChatMessage]
    tokens: int
    left_out: int


class PromptTooLong(Exception):
    """The question alone does not fit.

    Args:
        tokens: What it needs, estimated.
        limit: What there is.
    """

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(f"{tokens} tokens do not fit into {limit}")
        self.tokens, self.limit = tokens, limit


def system(text: str, persona: PersonaInfo | None, facts: str = "", summary: Summary | None = None) -> str:
    """The prompt's head. It changes seldom, and what changes most stands last: the server's prefix cache keeps it.

    Args:
        text: The system prompt.
        persona: Who answers; None for no persona.
        facts: What the user had pinned; empty for nothing.
        summary: What stands for the oldest turns.
    """
    parts = [text]
    if persona is not None:
        chosen = f'The user has chosen the persona "{persona.name}" for this conversation. Answer as it says:'
        parts.append(f"{chosen}\n{persona.seed}")
    if facts:
        parts.append(facts)
    if summary is not None:
        parts.append(f"[SUMMARY] What was said in this conversation so far, summed up:\n{neutral(summary.text)}")
    return "\n\n".join(parts)


def call_message(step: Step) -> ChatMessage:
    """A round's calls as the assistant's message."""
    calls = [{"function": {"name": spoken(call.tool), "arguments": call.args}} for call in step.calls]
    return {"role": "assistant", "content": step.text, "tool_calls": calls}


def result_message(call: ToolRecord) -> ChatMessage:
    """A call's result as the tool's message."""
    found = framed(call)
    text = found if call.outcome == "ok" else f"[{call.outcome}] {found}"
    return {"role": "tool", "content": text, "tool_name": spoken(call.tool)}


def filling(schema: ToolSchema, line: str) -> list[ChatMessage]:
    """The prompt that asks for the arguments of a user's command."""
    words = (
        f"The user typed a command that calls the tool {spoken(schema.tool)}: {schema.description}\n"
        "Reply with one JSON object, its arguments. Use only what the user typed."
    )
    return [{"role": "system", "content": words}, {"role": "user", "content": line}]


def step_messages(steps: Sequence[Step]) -> list[ChatMessage]:
    """Journalled steps as messages."""
    out: list[ChatMessage] = []
    for step in steps:
        out += [call_message(step)] if step.kind == "round" else [result_message(call) for call in step.calls]
    return out


def past_messages(turn: PastTurn, *, with_steps: bool) -> list[ChatMessage]:
    """An earlier turn. One that was stopped says so, so that the model does not take it for whole."""
    steps = step_messages(turn.steps) if with_steps else []
    answer = turn.answer if turn.status == "answered" else f"{turn.answer}\n[stopped here]".lstrip()
    return [{"role": "user", "content": turn.query}, *steps, {"role": "assistant", "content": answer}]


def estimate(messages: Sequence[ChatMessage], bytes_per_token: float = BYTES_PER_TOKEN) -> int:
    """Tokens that the messages take, by their size in UTF-8."""
    size = sum(len(_text_of(message).encode("utf-8", "replace")) for message in messages)
    return int(size / bytes_per_token) + _MESSAGE_TOKENS * len(messages)


def _text_of(message: ChatMessage) -> str:
    calls = message.get("tool_calls")
    return message["content"] + (_json(calls) if calls else "")


def _json(value: Any) -> str:
    return bytes(encode_payload(value)).decode()


def fit(
    *,
    system: str,
    history: Sequence[PastTurn],
    query: str,
    steps: Sequence[Step],
    tools: Sequence[dict[str, Any]],
    limit: int,
    bytes_per_token: float = BYTES_PER_TOKEN,
    closing: str = "",
    notes: str = "",
) -> Prompt:
    """The prompt, with as many of the newest earlier turns as fit.

    An earlier turn loses its tool steps before it is left out.

    Args:
        system: The system prompt, always kept.
        history: Earlier turns, oldest first.
        query: The question, always kept.
        steps: This turn's steps so far, always kept.
        tools: The tools' definitions, which take room too.
        limit: Tokens that the prompt may take.
        bytes_per_token: What the model's tokens hold on average.
        closing: Put after the last result, if there is one.
        notes: What was recalled; stands before the question.

    Raises:
        PromptTooLong: What is always kept does not fit.
    """
    head = [{"role": "system", "content": system}]
    recalled = [{"role": "system", "content": notes}] if notes else []
    tail = [*recalled, {"role": "user", "content": query}, *step_messages(steps)]
    if closing and tail[-1]["role"] == "tool":
        tail[-1]["content"] += f"\n\n{closing}"
    tool_text = [{"content": _json(tool)} for tool in tools]
    used = estimate([*head, *tail, *tool_text], bytes_per_token)
    if used > limit:
        raise PromptTooLong(used, limit)
    kept: list[list[ChatMessage]] = []
    for turn in reversed(history):
        form, cost = _fitting_form(turn, limit - used, bytes_per_token)
        if not form:
            break
        used += cost
        kept.append(form)
    middle = [message for form in reversed(kept) for message in form]
    return Prompt([*head, *middle, *tail], used, len(history) - len(kept))


def _fitting_form(turn: PastTurn, room: int, bytes_per_token: float) -> tuple[list[ChatMessage], int]:
    """An earlier turn with its tool steps, else without, and its tokens; empty where neither fits."""
    for with_steps in (True, False) if turn.steps else (False,):
        form = past_messages(turn, with_steps=with_steps)
        cost = estimate(form, bytes_per_token)
        if cost <= room:
            return form, cost
    return [], 0
