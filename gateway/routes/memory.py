"""`/api/memory`: what is remembered of the user, to read, correct, delete, and carry away."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.memory import (
    DeleteAllMemories,
    DeleteMemory,
    EditMemory,
    FactKept,
    GetMemories,
    GetMemoryStatus,
    ImportMemories,
    ListMemories,
    MemoriesFound,
    MemoriesTaken,
    Memory,
    MemoryPage,
    MemoryStatus,
    RememberFact,
    SearchMemory,
)
from gateway.routes.replies import user

User = Annotated[str, Depends(user)]
_PAGE = 200
_SEARCH_LIMIT = 50
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Memory).decode


class _View(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class MemoryView(_View):
    """One thing that is remembered: a pinned fact, an engram (of one turn), or an insight (of several)."""

    memory_id: str
    kind: str
    text: str
    created_at: str
    updated_at: str
    session_id: str
    query_id: str
    score: float
    reason: str
    query: str
    intent: str
    entities: list[str]
    critic_score: int | None
    sentiment: int
    sources: list[str]
    untrusted: bool
    shared: bool
    own: bool


class MemoryList(_View):
    """A page, newest first; `next` names the one after it, empty for none."""

    memories: list[MemoryView]
    next: str
    total: int


class MemoriesView(_View):
    """Some memories."""

    memories: list[MemoryView]


class MemoryStatusView(_View):
    """How the memory does."""

    model: str
    dimensions: int
    message: str
    reembedded: int
    reembedding: int
    waiting: int
    write_enabled: bool
    collective: bool


class NewFact(BaseModel):
    """The body of POST: a fact to pin."""

    fact: str = Field(min_length=1, max_length=2000)
    reason: Annotated[str, Field(max_length=2000)] = ""


class FactView(_View):
    """What was pinned; `merged` where it was known already."""

    fact_id: str
    fact: str
    merged: bool


class MemoryEdit(BaseModel):
    """The body of PATCH: other words, or whether all users of this machine may recall it."""

    text: Annotated[str | None, Field(min_length=1, max_length=4000)] = None
    shared: bool | None = None


class Imported(_View):
    """What came of an import."""

    added: int
    known: int


def router(bus: BusClient) -> APIRouter:
    """The routes; all are answered by the memory's store."""
    routes = APIRouter(prefix="/api/memory")

    @routes.get("")
    async def list_memories(
        who: User,
        kind: Annotated[str, Query(max_length=20)] = "",
        text: Annotated[str, Query(max_length=500)] = "",
        before: Annotated[str, Query(max_length=40)] = "",
        limit: Annotated[int, Query(ge=1, le=500)] = 100,
    ) -> MemoryList:
        wish = ListMemories(kind=kind, text=text, before=before, limit=limit)
        page = await bus.request(wish, MemoryPage, turn=TurnRef(user_id=who))
        return MemoryList(memories=_views(page.memories, who), next=page.next, total=page.total)

    @routes.get("/search")
    async def search(who: User, q: Annotated[str, Query(min_length=1, max_length=500)]) -> MemoriesView:
        wish = SearchMemory(query=q, limit=_SEARCH_LIMIT)
        found = await bus.request(wish, MemoriesFound, turn=TurnRef(user_id=who))
        return MemoriesView(memories=_views(found.memories, who))

    @routes.get("/items")
    async def items(who: User, id: Annotated[list[str], Query(max_length=_PAGE)]) -> MemoriesView:  # noqa: A002
        found = await bus.request(GetMemories(memory_ids=id), MemoryPage, turn=TurnRef(user_id=who))
        return MemoriesView(memories=_views(found.memories, who))

    @routes.get("/status")
    async def status(_who: User) -> MemoryStatusView:
        return MemoryStatusView.model_validate(await bus.request(GetMemoryStatus(), MemoryStatus))

    @routes.get("/export")
    async def export(who: User) -> StreamingResponse:
        first = await _page(bus, who, "")
        headers = {"content-disposition": 'attachment; filename="local2-memory.jsonl"'}
        return StreamingResponse(_lines(bus, who, first), media_type="application/x-ndjson", headers=headers)

    @routes.post("/import")
    async def take_in(who: User, request: Request, first: Annotated[int, Query(ge=1)] = 1) -> Imported:
        lines = (await request.body()).splitlines()
        memories = [_read(number, line, first) for number, line in enumerate(lines, first)]
        wanted = [memory for memory in memories if memory is not None]
        added = known = 0
        for start in range(0, len(wanted), _PAGE):
            some = ImportMemories(memories=wanted[start : start + _PAGE])
            taken = await bus.request(some, MemoriesTaken, turn=TurnRef(user_id=who))
            added, known = added + taken.added, known + taken.known
        return Imported(added=added, known=known)

    @routes.post("/facts", status_code=201)
    async def pin(who: User, body: NewFact) -> FactView:
        wish = RememberFact(fact=body.fact, reason=body.reason)
        return FactView.model_validate(await bus.request(wish, FactKept, turn=TurnRef(user_id=who)))

    @routes.patch("/{memory_id}")
    async def edit(memory_id: str, body: MemoryEdit, who: User) -> MemoryView:
        wish = EditMemory(memory_id=memory_id, text=body.text, shared=body.shared)
        page = await bus.request(wish, MemoryPage, turn=TurnRef(user_id=who))
        return _views(page.memories, who)[0]

    @routes.delete("/{memory_id}", status_code=204)
    async def delete(memory_id: str, who: User) -> Response:
        await bus.request(DeleteMemory(memory_id=memory_id), Done, turn=TurnRef(user_id=who))
        return Response(status_code=204)

    @routes.delete("", status_code=204)
    async def delete_all(who: User) -> Response:
        await bus.request(DeleteAllMemories(), Done, turn=TurnRef(user_id=who))
        return Response(status_code=204)

    return routes


def _views(memories: Sequence[Memory], who: str) -> list[MemoryView]:
    return [MemoryView(**asdict(memory), own=memory.user_id == who) for memory in memories]


async def _page(bus: BusClient, who: str, before: str) -> MemoryPage:
    return await bus.request(ListMemories(before=before, limit=_PAGE), MemoryPage, turn=TurnRef(user_id=who))


async def _lines(bus: BusClient, who: str, page: MemoryPage) -> AsyncIterator[bytes]:
    while True:
        for memory in page.memories:
            yield _encode(memory) + b"\n"
        if not page.next:
            return
        page = await _page(bus, who, page.next)


def _read(number: int, line: bytes, first: int) -> Memory | None:
    """A line of an export; None for an empty one. A long file comes in parts: this one begins at line `first`.

    Raises:
        RequestFailed: `bad_request`: it is no memory.
    """
    if not line.strip():
        return None
    try:
        return _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        words = f"Line {number} is no memory of an export ({error}); nothing from line {first} on was taken in."
        raise RequestFailed("bad_request", words) from error
