"""What does the ledger say in words of its own: titles, and ends that no generator wrote?"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from bus.command import local2
from bus.messages.ledger import PastTurn, Step, ToolRecord, TurnEnd
from participants.services.conversation.states import State

_TITLE_CHARS = 60
UNTITLED = "New conversation"


class Draft(Struct, frozen=True):
    """What a holder journalled last."""

    attempt: int = 0
    n: int = -1
    answer: str = ""
    thinking: str = ""


# ---------------------------------------------------------------------- titles


def one_line(text: str) -> str:
    """`text` with all space as single blanks, and without what cannot be shown."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def title_of(query: str) -> str:
    """A conversation's title from its first question: the first line that says something, cut at a word."""
    lines = (one_line(line) for line in query[:10_000].splitlines())
    line = next((line for line in lines if line), UNTITLED)
    if len(line) <= _TITLE_CHARS:
        return line
    head, space, _ = line[: _TITLE_CHARS + 1].rpartition(" ")
    return f"{head if space else line[:_TITLE_CHARS]}…"


# ---------------------------------------------------------------------- ends


def tool_calls(steps: Iterable[Step], unfinished: str = "") -> list[ToolRecord]:
    """The calls of all steps in request order, each with its result where there is one.

    Args:
        steps: In order.
        unfinished: The outcome of calls without a result; empty to leave `running`.
    """
    calls: dict[str, ToolRecord] = {}
    for step in steps:
        for call in step.calls:
            calls[call.call_id] = call
    if not unfinished:
        return list(calls.values())
    return [replace(c, outcome=unfinished) if c.outcome == "running" else c for c in calls.values()]


def so_far(status: str, draft: Draft, steps: Iterable[Step]) -> TurnEnd:
    """An open turn's text, in the form of an end."""
    return TurnEnd(
        status=status, finish_reason="", answer=draft.answer, thinking=draft.thinking, tool_calls=tool_calls(steps)
    )


def stopped(draft: Draft, steps: Iterable[Step], reason: str = "Stopped.") -> TurnEnd:
    """The end of a turn that was stopped, and that its holder did not end itself."""
    calls = tool_calls(steps, "cancelled")
    return TurnEnd(
        status=State.CANCELLED,
        finish_reason="cancelled",
        reason=reason,
        answer=draft.answer,
        thinking=draft.thinking,
        tool_calls=calls,
        untrusted=any(call.untrusted for call in calls),
    )


def given_up(draft: Draft, steps: Iterable[Step], *, exhausted: bool) -> TurnEnd:
    """The end of a turn that nobody could answer; what there is of an answer is kept.

    Args:
        draft: The text so far.
        steps: The steps so far.
        exhausted: Whether its holders died, rather than that there was none.
    """
    died = "The generator died again and again while it answered this question."
    absent = "Nobody could answer this question: the generator does not run, or does not respond."
    calls = tool_calls(steps, "crashed")
    return TurnEnd(
        status=State.FAILED,
        finish_reason="incomplete" if draft.answer else "error",
        reason=f"{died if exhausted else absent} See what `{local2('status')}` says, then press Retry.",
        retryable=True,
        code="holder_died" if exhausted else "no_generator",
        answer=draft.answer,
        thinking=draft.thinking,
        tool_calls=calls,
        untrusted=any(call.untrusted for call in calls),
    )


# ---------------------------------------------------------------------- history


def in_history(past: PastTurn) -> bool:
    """Whether the model is to see it: what failed or was stopped before it said anything is left out."""
    return past.status == State.ANSWERED or bool(past.answer.strip())


def size_of(past: PastTurn) -> int:
    """Characters, roughly as the model will see them."""
    return (
        len(past.query)
        + len(past.answer)
        + sum(len(step.text) + sum(len(call.result) for call in step.calls) for step in past.steps)
    )


def fitting(newest_first: Iterable[PastTurn], chars: int) -> tuple[list[PastTurn], int | None]:
    """The newest turns that fit into `chars`, oldest first, and how many were read for it; None: all."""
    out: list[PastTurn] = []
    for read, past in enumerate(newest_first):
        if in_history(past):
            chars -= size_of(past)
            if chars < 0:
                return out[::-1], read
            out.append(past)
    return out[::-1], None
