"""What do a chat client and the gateway say to each other over `/ws/chat`?

Every frame is one JSON object with a `type`. The TypeScript types of the web UI and
docs/architecture/protocol.md are generated from the structs of this file.
Times are seconds, timestamps ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct


def about(text: str, **limits: Any) -> Meta:
    """A field's description, as it appears in the generated reference."""
    return Meta(description=text, **limits)


# --------------------------------------------------------------------------- client to server


class Query(Struct, frozen=True, tag="query"):
    """Ask a question. `type` may be left out of this frame."""

    query: Annotated[str, about("The question, as typed.", min_length=1)]
    session_id: Annotated[str | None, about("The conversation; the one in the URL where left out, else a new one.")] = (
        None
    )
    user_id: Annotated[str | None, about("Who asks, where there are no accounts; `default` where left out.")] = None
    after: Annotated[
        str | None,
        about("The turn that this one follows, to ask again or in other words; empty: none. Else the last one shown."),
    ] = None
    attachments: Annotated[list[dict[str, Any]], about("Refused with words until the library can read them.")] = []
    query_id: Annotated[str | None, about("The client's own id of this turn: the same id twice is one turn.")] = None
    persona: Annotated[str | None, about("A persona's name, for this session from here on; `default` for none.")] = None
    model: Annotated[str | None, about("A role (`default`, `quality`) or a model's name, for this turn.")] = None
    incognito: Annotated[
        bool, about("For a new conversation: nothing of it is remembered, and nothing is recalled in it.")
    ] = False


class Stop(Struct, frozen=True, tag="stop"):
    """Stop a turn: the model's connection closes, the text so far is kept."""

    query_id: Annotated[str, about("The turn to stop.")]


class Position(Struct, frozen=True):
    """The last chunk that a client has seen."""

    query_id: Annotated[str, about("The turn.")]
    attempt: Annotated[int, about("The turn's attempt that the number belongs to.")] = 0
    n: Annotated[int, about("The last chunk number seen; -1 for none.")] = -1


class Resume(Struct, frozen=True, tag="resume"):
    """Watch a session (after a reconnect, in a second tab): answered by a `snapshot` of each open turn."""

    session_id: Annotated[str, about("The conversation to watch.")]
    after: Annotated[Position | None, about("The last chunk this client has.")] = None


class Approve(Struct, frozen=True, tag="approve"):
    """Answer an `approval_request`; the first answer wins."""

    approval_id: Annotated[str, about("The request's id.")]
    approved: Annotated[bool, about("Whether the call may run with exactly the arguments shown.")]


class Feedback(Struct, frozen=True, tag="feedback"):
    """A thumb for an answer."""

    query_id: Annotated[str, about("The answered turn.")]
    sentiment: Annotated[int, about("1, -1, or 0 to take the vote back.", ge=-1, le=1)]


class Compact(Struct, frozen=True, tag="compact"):
    """Summarise the older part of a session's prompt."""

    session_id: Annotated[str, about("The conversation.")]


class Ping(Struct, frozen=True, tag="ping"):
    """Answered by `pong`."""


ClientFrame = Query | Stop | Resume | Approve | Feedback | Compact | Ping


# --------------------------------------------------------------------------- server to client


class ServerFrame(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """What every frame about a turn carries."""

    query_id: Annotated[str, about("The turn that this frame is about.")]
    session_id: Annotated[str, about("The conversation of that turn.")]


class Accepted(ServerFrame, frozen=True, tag="accepted"):
    """The turn is committed: it will be answered, whatever is restarted from here on."""

    query: Annotated[str, about("The question, so that other tabs can show it.")]
    created_at: Annotated[str, about("When it was accepted.")]


class Queued(ServerFrame, frozen=True, tag="queued"):
    """Another turn of this session, or the limit of turns at once, comes first."""

    position: Annotated[int, about("How many turns come before this one.")]


class AgentState(ServerFrame, frozen=True, tag="agent_state"):
    """An agent's state machine moved."""

    agent: Annotated[str, about("The participant, such as `generator`.")]
    state: Annotated[str, about("The new state, such as `GENERATING`.")]
    note: Annotated[str, about("Words for the user, such as why it waits; may be empty.")] = ""


class ToolCallView(Struct, frozen=True):
    """One tool call of a turn, finished or not."""

    call_id: Annotated[str, about("The call's id.")]
    tool: Annotated[str, about("The tool's name, as the model calls it.")]
    args: Annotated[dict[str, Any], about("The arguments after validation.")] = {}
    outcome: Annotated[str, about("`running`, or one of the outcomes of `tool_result`.")] = "running"
    result: Annotated[str, about("What the model was told.")] = ""
    sources: Annotated[list[dict[str, Any]], about("Each {title, url}, or {title, memory_id} of a memory.")] = []
    untrusted: Annotated[bool, about("Whether the result is content from outside: data, never instructions.")] = False
    seconds: Annotated[float, about("How long the call took.")] = 0.0


class ApprovalView(Struct, frozen=True):
    """One request for approval of an open turn."""

    approval_id: Annotated[str, about("What `approve` names.")]
    call_id: Annotated[str, about("The call that waits for it.")]
    tool: Annotated[str, about("The tool's name.")]
    args: Annotated[dict[str, Any], about("The exact arguments.")]
    reason: Annotated[str, about("Why it asks, in words.")]
    expires: Annotated[str, about("When it counts as denied.")]
    state: Annotated[str, about("open, or as in `approval_result`.")]


class Snapshot(ServerFrame, frozen=True, tag="snapshot"):
    """The whole state of an open turn; chunks that follow continue it at `n` + 1 of `attempt`."""

    query: Annotated[str, about("The question.")]
    created_at: Annotated[str, about("When it was accepted.")]
    state: Annotated[str, about("The generator's state for this turn, or `QUEUED`.")]
    attempt: Annotated[int, about("The running attempt, from 1; 0 before the first.")]
    n: Annotated[int, about("The last chunk number that the text below holds; -1 for none.")]
    thinking: Annotated[str, about("The thinking so far.")]
    answer: Annotated[str, about("The answer so far.")]
    tool_calls: Annotated[list[ToolCallView], about("The tool calls so far, in request order.")] = []
    after: Annotated[str, about("The turn that it follows; empty for the first.")] = ""
    approvals: Annotated[list[ApprovalView], about("What the user was asked in this turn, oldest first.")] = []


class Chunk(ServerFrame, frozen=True):
    """A piece of streamed text.

    `n` runs from 0 through thinking and answer together; a new `attempt` starts the text anew.
    """

    chunk: Annotated[str, about("The text to append.")]
    attempt: Annotated[int, about("The attempt, from 1.")]
    n: Annotated[int, about("The chunk's number in that attempt.")]


class ThinkingChunk(Chunk, frozen=True, tag="thinking_chunk"):
    """A piece of the model's thinking."""

    retract: Annotated[
        bool, about("The answer so far ends with this chunk, and it was thinking: take it off there.")
    ] = False


class AnswerChunk(Chunk, frozen=True, tag="answer_chunk"):
    """A piece of the answer."""


class ToolStart(ServerFrame, frozen=True, tag="tool_start"):
    """A tool was called."""

    call_id: Annotated[str, about("The call's id.")]
    tool: Annotated[str, about("The tool's name, as the model calls it.")]
    args: Annotated[dict[str, Any], about("The arguments after validation.")]


class ToolResultFrame(ServerFrame, frozen=True, tag="tool_result"):
    """A tool call ended."""

    call_id: Annotated[str, about("The call's id.")]
    tool: Annotated[str, about("The tool's name.")]
    outcome: Annotated[
        str,
        about("ok, unknown, disabled, unavailable, invalid_arguments, denied, timeout, crashed, cancelled or failed."),
    ]
    result: Annotated[str, about("What the model is told.")]
    sources: Annotated[list[dict[str, Any]], about("Each {title, url}, or {title, memory_id} of a memory.")]
    untrusted: Annotated[bool, about("Whether the result is content from outside: data, never instructions.")]
    seconds: Annotated[float, about("How long the call took.")]


class ApprovalRequest(ServerFrame, frozen=True, tag="approval_request"):
    """A tool asks before it acts. It may come more than once."""

    approval_id: Annotated[str, about("What `approve` names.")]
    call_id: Annotated[str, about("The call that waits for it.")]
    tool: Annotated[str, about("The tool's name.")]
    args: Annotated[dict[str, Any], about("The exact arguments.")]
    reason: Annotated[str, about("Why it asks, in words.")]
    expires: Annotated[str, about("When it counts as denied.")]


class ApprovalResult(ServerFrame, frozen=True, tag="approval_result"):
    """What stands: the answer to `approve`, and word of an answer that was given elsewhere."""

    approval_id: Annotated[str, about("The request's id.")]
    state: Annotated[
        str,
        about("approved, taken (approved, and the call was sent), denied, expired, or void (it needs no answer)."),
    ]


class MemoryUse(Struct, frozen=True):
    """A memory that the prompt held. Its text is looked up (`GET /api/memory/items`), while it is remembered."""

    memory_id: Annotated[str, about("Its id.")]
    kind: Annotated[str, about("fact, engram or insight.")]
    score: Annotated[float, about("How well it fitted; 0 for a pinned fact, which is always there.")] = 0.0


class Response(ServerFrame, frozen=True, tag="response"):
    """The turn is over and its answer is saved."""

    answer: Annotated[str, about("The whole answer.")]
    thinking: Annotated[str, about("The whole thinking.")]
    tool_calls: Annotated[list[ToolCallView], about("The tool calls, in request order.")]
    model: Annotated[str, about("The model that answered.")]
    finish_reason: Annotated[str, about("stop, length, incomplete, cancelled or error.")]
    reason: Annotated[str, about("In words, where finish_reason is not stop; else empty.")] = ""
    demo: Annotated[bool, about("Whether the small embedded demo model answered.")] = False
    prompt_tokens: Annotated[
        int | None, about("Prompt tokens of the last model round, as the server counted them.")
    ] = None
    answer_tokens: Annotated[int | None, about("Tokens generated in all rounds.")] = None
    num_ctx: Annotated[int | None, about("The context size that the prompt was fitted to, in tokens.")] = None
    left_out: Annotated[int, about("How many older messages did not fit into the prompt.")] = 0
    first_token_s: Annotated[float | None, about("From the claim of the turn to its first token, in seconds.")] = None
    seconds: Annotated[float | None, about("From the claim of the turn to its end, in seconds.")] = None
    facts: Annotated[list[MemoryUse], about("Pinned facts that the prompt held.")] = []
    recalled: Annotated[list[MemoryUse], about("Engrams and insights that the prompt held, the best first.")] = []
    not_recalled: Annotated[str, about("In words: why nothing was recalled, where that is no plain lack.")] = ""
    groundedness: Annotated[
        str, about("web (sources from outside), grounded (memory, documents or tools) or knowledge (the model's own).")
    ] = "knowledge"


class Critique(ServerFrame, frozen=True, tag="critique"):
    """The critic's grade of an answer."""

    score: Annotated[int | None, about("1 to 5, or null for not graded.")]
    rubric_name: Annotated[str, about("The rubric.")]
    feedback: Annotated[str, about("The critic's words.")]
    reason: Annotated[str, about("Why it was not graded; else empty.")] = ""
    model: Annotated[str, about("The model that graded; empty for none.")] = ""


class Vote(ServerFrame, frozen=True, tag="vote"):
    """The user's thumb for an answer, and it is saved: the answer to `feedback`, and word of one given elsewhere."""

    sentiment: Annotated[int, about("1, -1, or 0 for none.")]


class ContextUpdated(Struct, frozen=True, tag="context_updated"):
    """The user's pinned facts changed."""

    user_id: Annotated[str, about("Whose facts.")]


class Compaction(Struct, frozen=True, tag="compaction"):
    """Progress or result of a compaction."""

    session_id: Annotated[str, about("The conversation.")]
    state: Annotated[str, about("started, done, refused or failed.")]
    message: Annotated[str, about("In words.")] = ""
    upto: Annotated[str, about("When done: the last turn that the summary stands for.")] = ""


class SessionChanged(Struct, frozen=True, tag="session_changed"):
    """One of the user's sessions was made, renamed or deleted, or something in it changed: the list is stale."""

    session_id: Annotated[str, about("The conversation.")]
    change: Annotated[
        str,
        about("created, renamed, deleted, turns (a turn was deleted, or another branch is shown), or updated."),
    ]


class Pong(Struct, frozen=True, tag="pong"):
    """The answer to `ping`."""


class Error(Struct, frozen=True, tag="error"):
    """Something could not be done. The socket stays open.

    With a query_id it ends that turn (it failed, or was not accepted); without one it is a notice.
    """

    code: Annotated[str, about("A stable code, such as `bad_frame` or `model_unreachable`.")]
    message: Annotated[str, about("What happened, and what to do about it.")]
    retryable: Annotated[bool, about("Whether asking again may help.")]
    query_id: Annotated[str | None, about("The turn, where one is meant.")] = None
    session_id: Annotated[str | None, about("The conversation, where one is meant.")] = None


ServerEvent = (
    Accepted
    | Queued
    | AgentState
    | Snapshot
    | ThinkingChunk
    | AnswerChunk
    | ToolStart
    | ToolResultFrame
    | ApprovalRequest
    | ApprovalResult
    | Response
    | Critique
    | Vote
    | ContextUpdated
    | Compaction
    | SessionChanged
    | Pong
    | Error
)

decode_client_frame = msgspec.json.Decoder(ClientFrame)
encode = msgspec.json.Encoder().encode
