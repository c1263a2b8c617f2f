"""How does a bus message about a turn become a frame for its watchers?

Pure functions. An `Event` is a frame already encoded, with what `Gate` needs to know of it, so that
a chunk is encoded once, however many sockets watch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bus.envelope import Envelope
from bus.messages.approval import ApprovalInfo, ApprovalRequest, ApprovalResult
from bus.messages.control import AgentTransition
from bus.messages.critique import CritiqueResult, UserFeedback
from bus.messages.generation import ResponseGeneration, Thinking, Token, TurnSnapshot
from bus.messages.ledger import ToolRecord, TurnEnd, TurnInfo
from bus.messages.memory import MemoryRef
from bus.messages.query import TurnQueued
from bus.messages.tool import ToolActivity
from gateway import wire

OPEN = frozenset({"received", "claimed", "waiting"})
_STATES = {"received": "QUEUED", "waiting": "AWAITING_APPROVAL"}
"""What a turn does, by its status, as far as the ledger knows."""
_WITH_TEXT = ("stop", "length", "incomplete", "cancelled")


class Event(NamedTuple):
    """One frame of one turn.

    Args:
        kind: The frame's type.
        text: The frame, encoded.
        attempt: For chunks and snapshots.
        n: For chunks and snapshots.
        key: For tool frames the call's id, for an agent's state `agent/state`, for a snapshot its state.
        calls: For a snapshot: call id to outcome.
    """

    kind: str
    text: str
    attempt: int = 0
    n: int = -1
    key: str = ""
    calls: dict[str, str] = {}

    @property
    def terminal(self) -> bool:
        """Whether the turn is over with it."""
        return self.kind in ("response", "error")


def encode(frame: wire.ServerEvent) -> str:
    """A frame as text."""
    return wire.encode(frame).decode()


def chunk(message: Token | Thinking, envelope: Envelope) -> Event:
    """A piece of text."""
    ids = {"query_id": envelope.query_id, "session_id": envelope.session_id}
    text, attempt, n = message.text, message.attempt, message.n
    if isinstance(message, Token):
        return Event("answer_chunk", encode(wire.AnswerChunk(**ids, chunk=text, attempt=attempt, n=n)), attempt, n)
    thinking = wire.ThinkingChunk(**ids, chunk=text, attempt=attempt, n=n, retract=message.retract)
    return Event("thinking_chunk", encode(thinking), attempt, n)


def agent_state(message: AgentTransition, envelope: Envelope) -> Event:
    """An agent's state."""
    frame = wire.AgentState(
        query_id=envelope.query_id,
        session_id=envelope.session_id,
        agent=message.agent,
        state=message.after,
        note=message.note,
    )
    return Event("agent_state", encode(frame), key=f"{message.agent}/{message.after}")


def tool(message: ToolActivity, envelope: Envelope) -> Event | None:
    """The start or the end of a tool call; None for what is between."""
    ids = {"query_id": envelope.query_id, "session_id": envelope.session_id}
    call = {"call_id": message.call_id, "tool": message.tool}
    if message.event == "dispatched":
        start = wire.ToolStart(**ids, **call, args=message.args)
        return Event("tool_start", encode(start), key=message.call_id)
    if message.event == "ended":
        result = wire.ToolResultFrame(
            **ids,
            **call,
            outcome=message.outcome,
            result=message.result,
            sources=message.sources,
            untrusted=message.untrusted,
            seconds=message.seconds,
        )
        return Event("tool_result", encode(result), key=message.call_id)
    return None


def approval_view(approval: ApprovalInfo) -> wire.ApprovalView:
    """A request for approval as clients see it."""
    return wire.ApprovalView(
        approval_id=approval.approval_id,
        call_id=approval.call_id,
        tool=approval.tool,
        args=approval.args,
        reason=approval.reason,
        expires=approval.expires,
        state=approval.state,
    )


def approval_request(message: ApprovalRequest, envelope: Envelope) -> Event:
    """A tool asks before it acts."""
    asked = message.approval
    frame = wire.ApprovalRequest(
        query_id=envelope.query_id,
        session_id=envelope.session_id,
        approval_id=asked.approval_id,
        call_id=asked.call_id,
        tool=asked.tool,
        args=asked.args,
        reason=asked.reason,
        expires=asked.expires,
    )
    return Event("approval_request", encode(frame))


def approval_result(message: ApprovalResult, envelope: Envelope) -> Event:
    """An answer, whoever gave it."""
    frame = wire.ApprovalResult(
        query_id=envelope.query_id,
        session_id=envelope.session_id,
        approval_id=message.approval_id,
        state=message.state,
    )
    return Event("approval_result", encode(frame))


def queued(position: int, query_id: str, session_id: str) -> Event:
    """How many turns come first."""
    return Event("queued", encode(wire.Queued(query_id=query_id, session_id=session_id, position=position)))


def queue_moved(message: TurnQueued, envelope: Envelope) -> Event | None:
    """A new position; None once nothing comes first, since the turn's own frames say so."""
    return queued(message.position, envelope.query_id, envelope.session_id) if message.position else None


def accepted(query_id: str, session_id: str, query: str, created_at: str) -> Event:
    """The turn is committed."""
    frame = wire.Accepted(query_id=query_id, session_id=session_id, query=query, created_at=created_at)
    return Event("accepted", encode(frame))


def ended(end: TurnEnd, query_id: str, session_id: str) -> Event:
    """The turn's one last frame: an `error` where it failed with nothing to show for it, else the `response`."""
    shown = end.finish_reason in _WITH_TEXT and bool(end.answer)
    if end.status == "failed" and not shown:
        return failed(
            end.code or "failed", end.reason or "The turn failed; ask again.", end.retryable, query_id, session_id
        )
    frame = wire.Response(
        query_id=query_id,
        session_id=session_id,
        answer=end.answer,
        thinking=end.thinking,
        tool_calls=views(end.tool_calls),
        model=end.model,
        finish_reason=end.finish_reason,
        reason=end.reason,
        demo=end.demo,
        prompt_tokens=end.prompt_tokens,
        answer_tokens=end.answer_tokens,
        num_ctx=end.num_ctx,
        left_out=end.left_out,
        first_token_s=end.first_token_s,
        seconds=end.seconds,
        facts=memory_uses(end.facts),
        recalled=memory_uses(end.recalled),
        not_recalled=end.not_recalled,
        groundedness=end.groundedness,
    )
    return Event("response", encode(frame))


def memory_uses(memories: Sequence[MemoryRef]) -> list[wire.MemoryUse]:
    """The memories that a prompt held, as clients see them."""
    return [wire.MemoryUse(memory.memory_id, memory.kind, memory.score) for memory in memories]


def critique(message: CritiqueResult, envelope: Envelope) -> wire.Critique:
    """The critic's grade of an answer."""
    grade = message.grade
    return wire.Critique(
        query_id=envelope.query_id,
        session_id=envelope.session_id,
        score=grade.score,
        rubric_name=grade.rubric_name,
        feedback=grade.feedback,
        reason=grade.reason,
        model=grade.model,
    )


def vote(message: UserFeedback, envelope: Envelope) -> wire.Vote:
    """The user's thumb for an answer."""
    return wire.Vote(query_id=envelope.query_id, session_id=envelope.session_id, sentiment=message.sentiment)


def failed(code: str, message: str, retryable: bool, query_id: str, session_id: str | None) -> Event:
    """The turn failed, or was not accepted."""
    return Event("error", encode(wire.Error(code, message, retryable, query_id, session_id)))


def response(message: ResponseGeneration, envelope: Envelope) -> Event:
    """The turn's last frame."""
    return ended(message.end, envelope.query_id, envelope.session_id)


def views(records: Sequence[ToolRecord]) -> list[wire.ToolCallView]:
    """Tool calls as clients see them."""
    return [
        wire.ToolCallView(
            call_id=r.call_id,
            tool=r.tool,
            args=r.args,
            outcome=r.outcome,
            result=r.result,
            sources=r.sources,
            seconds=r.seconds,
            untrusted=r.untrusted,
        )
        for r in records
    ]


def snapshot(turn: TurnInfo, live: TurnSnapshot | None) -> Event:
    """An open turn, whole: from the generator where it has it, else as far as the ledger's journal goes."""
    if live is None:
        live = TurnSnapshot(
            state=_STATES.get(turn.status, "RECEIVING"),
            attempt=turn.attempt,
            n=turn.n,
            thinking=turn.end.thinking,
            answer=turn.end.answer,
            tool_calls=turn.end.tool_calls,
        )
    frame = wire.Snapshot(
        query_id=turn.query_id,
        session_id=turn.session_id,
        query=turn.query,
        created_at=turn.created_at,
        state=live.state,
        attempt=live.attempt,
        n=live.n,
        thinking=live.thinking,
        answer=live.answer,
        tool_calls=views(live.tool_calls),
        after=turn.after,
        approvals=[approval_view(approval) for approval in turn.approvals],
    )
    calls = {call.call_id: call.outcome for call in live.tool_calls}
    return Event("snapshot", encode(frame), live.attempt, live.n, f"generator/{live.state}", calls)
