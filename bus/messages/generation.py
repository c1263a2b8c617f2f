"""What does the generator say while it answers, and when it is done?"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about
from bus.messages.ledger import ToolRecord, TurnEnd


class Token(Message, frozen=True):
    """A piece of the answer."""

    SUBJECT = subjects.GENERATION_TOKEN

    text: Annotated[str, about("The text to append.")]
    attempt: Annotated[int, about("From 1; a new attempt starts the text anew.")]
    n: Annotated[int, about("Counts the pieces of thinking and answer together, from 0.")]


class Thinking(Message, frozen=True):
    """A piece of the thinking."""

    SUBJECT = subjects.GENERATION_THINKING

    text: Annotated[str, about("The text to append.")]
    attempt: Annotated[int, about("From 1.")]
    n: Annotated[int, about("Counts the pieces of thinking and answer together, from 0.")]
    retract: Annotated[bool, about("The answer so far ends with this text, and it was thinking: take it off.")] = False


class CancelGeneration(Message, frozen=True):
    """Stop answering a turn (envelope: query_id): sent by the ledger, which remembers it."""

    SUBJECT = subjects.GENERATION_CANCEL


class ResponseGeneration(Message, frozen=True):
    """A turn is over and committed. Sent by who committed it."""

    SUBJECT = subjects.RESPONSE_GENERATION

    query: Annotated[str, about("The question.")]
    end: Annotated[TurnEnd, about("The answer and its figures.")]


class AnswerDialog(Message, frozen=True):
    """Question and answer alone, for observers."""

    SUBJECT = subjects.ANSWER_DIALOG

    query: Annotated[str, about("The question.")]
    answer: Annotated[str, about("The answer.")]


class GetSnapshot(Message, frozen=True):
    """Ask the generator for a running turn (envelope: query_id).

    Answered by `TurnSnapshot`; refused with `not_found` when it has none.
    """

    SUBJECT = "generator.snapshot"


class TurnSnapshot(Message, frozen=True):
    """A running turn, whole: chunks go on at n + 1."""

    SUBJECT = subjects.INBOX

    state: Annotated[str, about("The generator's state for it.")]
    attempt: Annotated[int, about("The running attempt.")]
    n: Annotated[int, about("The last chunk number in the text; -1 for none.")]
    thinking: Annotated[str, about("The thinking so far.")]
    answer: Annotated[str, about("The answer so far.")]
    tool_calls: Annotated[list[ToolRecord], about("In request order.")] = []


class RoleInfo(Struct, frozen=True, kw_only=True):
    """One role and the model that fills it."""

    role: Annotated[str, about("default, quality, vision…")]
    model: Annotated[str, about("The model's name.")]
    available: Annotated[bool, about("Whether the backend has it.")]
    hint: Annotated[str, about("The command that brings it; empty when it is there.")] = ""


class ModelInfo(Struct, frozen=True, kw_only=True):
    """One model that the backend has."""

    name: Annotated[str, about("As the backend names it.")]
    size_bytes: Annotated[int, about("On disk.")] = 0


class BackendInfo(Struct, frozen=True, kw_only=True):
    """Who answers."""

    kind: Annotated[str, about("ollama, embedded or none.")]
    url: Annotated[str, about("Its address; empty for none.")] = ""
    demo: Annotated[bool, about("Whether it is the small embedded demo model.")] = False
    state: Annotated[str, about("ready, loading, absent, unreachable…")] = ""
    message: Annotated[str, about("In words: what this means and how to get a better one.")] = ""


class CommandInfo(Struct, frozen=True, kw_only=True):
    """One slash command that the user may type."""

    name: Annotated[str, about("The word after the slash.")]
    usage: Annotated[str, about("The whole line, such as `/search <query>`.")]
    help: Annotated[str, about("What it does.")]
    tool: Annotated[str, about("The tool that it calls; empty for the kernel's own.")] = ""


class RefusedTool(Struct, frozen=True, kw_only=True):
    """A tool that was announced and that the model is not told of."""

    tool: Annotated[str, about("The name that the model would call.")]
    name: Annotated[str, about("The program's name.")]
    reason: Annotated[str, about("What is wrong, in words.")]


class GetStatus(Message, frozen=True):
    """Ask the generator for its state. Answered by `GeneratorStatus`."""

    SUBJECT = "generator.get_status"


class GeneratorStatus(Message, frozen=True):
    """The generator's whole state, published at each change."""

    SUBJECT = subjects.GENERATOR_STATUS

    backend: Annotated[BackendInfo, about("Who answers.")]
    roles: Annotated[list[RoleInfo], about("Roles and their models.")]
    models: Annotated[list[ModelInfo], about("What the backend has.")]
    tools: Annotated[list[str], about("Tools that the model is told of, by name.")]
    turns: Annotated[dict[str, str], about("Running turns: query_id to state.")]
    max_turns: Annotated[int, about("How many turns it takes at once.")] = 1
    history_chars: Annotated[
        int | None, about("More characters of a conversation than these can not fit into a prompt.")
    ] = None
    options: Annotated[dict[str, Any], about("Model options, such as num_ctx.")] = {}
    commands: Annotated[list[CommandInfo], about("Slash commands, by name.")] = []
    refused: Annotated[list[RefusedTool], about("Tools that cannot be used, with the reason.")] = []
    counts: Annotated[dict[str, int], about("What happened since the start, such as `loops_cut`.")] = {}
