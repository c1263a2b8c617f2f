"""`/api/sessions`: the user's conversations."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.ledger import (
    CreateSession,
    DeleteSession,
    DeleteTurn,
    GetSession,
    ListSessions,
    RenameSession,
    Session,
    SessionInfo,
    Sessions,
    ShowBranch,
    TurnInfo,
)
from gateway.auth import is_id
from gateway.frames import LONGEST_ID
from gateway.routes.replies import user

User = Annotated[str, Depends(user)]


class _View(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class SessionView(_View):
    """One conversation in a list."""

    session_id: str
    title: str
    created_at: str
    updated_at: str
    turns: int
    running: bool
    persona: str
    incognito: bool


class SessionList(_View):
    """Newest first."""

    sessions: list[SessionView]


class ToolCallView(_View):
    """One tool call."""

    call_id: str
    tool: str
    args: dict[str, Any]
    outcome: str
    result: str
    sources: list[dict[str, Any]]
    seconds: float
    untrusted: bool


class ApprovalView(_View):
    """One request for approval of an open turn."""

    approval_id: str
    call_id: str
    tool: str
    args: dict[str, Any]
    reason: str
    expires: str
    state: str


class MemoryUseView(_View):
    """A memory that the prompt held; its text is looked up, while it is remembered."""

    memory_id: str
    kind: str
    score: float


class GradeView(_View):
    """The critic's grade, or why there is none."""

    score: int | None
    rubric_name: str
    feedback: str
    reason: str
    model: str


class TurnView(_View):
    """One turn; for an open one the text is what was journalled so far."""

    query_id: str
    query: str
    created_at: str
    status: Literal["received", "claimed", "waiting", "answered", "failed", "cancelled"]
    position: int
    finish_reason: str
    reason: str
    code: str
    retryable: bool
    answer: str
    thinking: str
    tool_calls: list[ToolCallView]
    approvals: list[ApprovalView]
    model: str
    demo: bool
    prompt_tokens: int | None
    answer_tokens: int | None
    num_ctx: int | None
    left_out: int
    first_token_s: float | None
    seconds: float | None
    facts: list[MemoryUseView]
    recalled: list[MemoryUseView]
    not_recalled: str
    groundedness: str
    grade: GradeView | None
    sentiment: int
    after: str
    versions: list[str]


class SummaryView(_View):
    """What stands in the prompt for the oldest turns, up to `upto`."""

    text: str
    upto: str
    turns: int
    created_at: str


class SessionDetail(_View):
    """A conversation with the turns of the branch that is shown, oldest first."""

    session: SessionView
    turns: list[TurnView]
    summary: SummaryView | None


class NewSession(BaseModel):
    """The body of POST; all of it may be left out."""

    session_id: str | None = None
    title: Annotated[str, Field(max_length=200)] = ""
    incognito: bool = False


class Shown(BaseModel):
    """The body of PUT /shown: a turn of the branch to show."""

    query_id: str = Field(min_length=1, max_length=LONGEST_ID)


class Rename(BaseModel):
    """The body of PATCH."""

    title: str = Field(min_length=1, max_length=200)


def turn_view(turn: TurnInfo) -> TurnView:
    """The ledger's turn and its end as one flat object."""
    apart = ("status", "tool_calls", "facts", "recalled")
    end = {name: getattr(turn.end, name) for name in turn.end.__struct_fields__ if name not in apart}
    calls = [ToolCallView.model_validate(call) for call in turn.end.tool_calls]
    return TurnView(
        query_id=turn.query_id,
        query=turn.query,
        created_at=turn.created_at,
        status=cast("Any", turn.status),
        position=turn.position,
        tool_calls=calls,
        after=turn.after,
        versions=turn.versions,
        approvals=[ApprovalView.model_validate(approval) for approval in turn.approvals],
        facts=[MemoryUseView.model_validate(memory) for memory in turn.end.facts],
        recalled=[MemoryUseView.model_validate(memory) for memory in turn.end.recalled],
        grade=None if turn.grade is None else GradeView.model_validate(turn.grade),
        sentiment=turn.sentiment,
        **end,
    )


def router(bus: BusClient) -> APIRouter:
    """The routes; all are answered by the turn ledger."""
    routes = APIRouter(prefix="/api/sessions")

    @routes.get("")
    async def list_sessions(
        who: User, limit: Annotated[int, Query(ge=1, le=1000)] = 200, before: str = ""
    ) -> SessionList:
        answer = await bus.request(ListSessions(limit=limit, before=before), Sessions, turn=TurnRef(user_id=who))
        return SessionList.model_validate(answer)

    @routes.post("", status_code=201)
    async def create_session(who: User, body: NewSession | None = None) -> SessionView:
        wanted = body or NewSession()
        turn = TurnRef(_checked(wanted.session_id), who, "")
        wish = CreateSession(title=wanted.title, incognito=wanted.incognito)
        answer = await bus.request(wish, Session, turn=turn)
        return _summary(answer.session)

    @routes.get("/{session_id}")
    async def get_session(session_id: str, who: User) -> SessionDetail:
        answer = await bus.request(GetSession(), Session, turn=TurnRef(session_id, who, ""))
        return _detail(answer)

    @routes.put("/{session_id}/shown")
    async def show_branch(session_id: str, body: Shown, who: User) -> SessionDetail:
        return _detail(await bus.request(ShowBranch(), Session, turn=TurnRef(session_id, who, body.query_id)))

    @routes.delete("/{session_id}/turns/{query_id}", status_code=204)
    async def delete_turn(session_id: str, query_id: str, who: User) -> Response:
        await bus.request(DeleteTurn(), Done, turn=TurnRef(session_id, who, query_id))
        return Response(status_code=204)

    @routes.patch("/{session_id}", status_code=204)
    async def rename_session(session_id: str, body: Rename, who: User) -> Response:
        await bus.request(RenameSession(title=body.title), Done, turn=TurnRef(session_id, who, ""))
        return Response(status_code=204)

    @routes.delete("/{session_id}", status_code=204)
    async def delete_session(session_id: str, who: User) -> Response:
        await bus.request(DeleteSession(), Done, turn=TurnRef(session_id, who, ""))
        return Response(status_code=204)

    return routes


def _detail(answer: Session) -> SessionDetail:
    return SessionDetail(
        session=_summary(answer.session),
        turns=[turn_view(turn) for turn in answer.turns],
        summary=None if answer.summary is None else SummaryView.model_validate(answer.summary),
    )


def _summary(session: SessionInfo) -> SessionView:
    return SessionView.model_validate(session)


def _checked(session_id: str | None) -> str:
    """An id that may be used, or nothing: the ledger then makes one."""
    return session_id if session_id is not None and is_id(session_id, LONGEST_ID) else ""
