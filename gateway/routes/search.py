"""`/api/search`: which of the user's turns hold some words?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.messages.ledger import SearchTurns, TurnsFound
from gateway.routes.replies import user

User = Annotated[str, Depends(user)]
_LONGEST_TEXT = 500


class MarkView(BaseModel):
    """A place in a text, in characters: from `start` up to `end`."""

    model_config = ConfigDict(from_attributes=True)

    start: int
    end: int


class HitView(BaseModel):
    """A turn that holds the words; `marks` are places in the snippet."""

    model_config = ConfigDict(from_attributes=True)

    session_id: str
    title: str
    query_id: str
    created_at: str
    snippet: str
    marks: list[MarkView]


class Hits(BaseModel):
    """The best first."""

    model_config = ConfigDict(from_attributes=True)

    hits: list[HitView]


def router(bus: BusClient) -> APIRouter:
    """The route; it is answered by the turn ledger."""
    routes = APIRouter()

    @routes.get("/api/search")
    async def search(
        who: User,
        q: Annotated[str, Query(max_length=_LONGEST_TEXT)],
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> Hits:
        answer = await bus.request(SearchTurns(text=q, limit=limit), TurnsFound, turn=TurnRef(user_id=who))
        return Hits.model_validate(answer)

    return routes
