"""`/health`, `/api/participants`, `/api/models` and `/api/personas`: what runs, and who answers."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter
from pydantic import BaseModel

from bus.client import BusClient
from bus.command import local2
from bus.errors import EnvelopeError, RequestFailed, RequestTimeout
from bus.messages.control import Processes, ProcessesRequest
from bus.messages.generation import GeneratorStatus, GetStatus
from bus.messages.persona import GetPersonas, Personas
from gateway.directory import Directory

_OPS_WAIT_S = 1.5
_GENERATOR_WAIT_S = 2.0


class Health(BaseModel):
    """The stack in one look."""

    status: str
    version: str
    participants: dict[str, str]
    bus: bool
    missing: list[str]
    command: str = "local2"
    """How this LoCAL2 is called on a command line."""


class ParticipantView(BaseModel):
    """One program; figures are null where only its own announcements are known."""

    name: str
    kind: str
    sender_id: str
    state: str
    pid: int | None
    uptime_s: float | None = None
    restarts: int = 0
    cpu_percent: float | None = None
    rss_bytes: int | None = None
    loop_lag_s: float | None = None
    queued: int | None = None
    pools: list[dict[str, Any]] = []
    sent: int | None = None
    received: int | None = None
    gaps: int | None = None
    dropped: int | None = None
    refused: int | None = None
    reason: str = ""
    tool: str | None = None


class Participants(BaseModel):
    """All programs by name."""

    participants: list[ParticipantView]
    supervisor: str
    source: str
    """`ops`, or `presence` where ops does not answer and only announcements are known."""


class PersonaView(BaseModel):
    """One persona."""

    name: str
    description: str


class PersonaList(BaseModel):
    """The personas that a conversation can take on."""

    personas: list[PersonaView]


class BackendView(BaseModel):
    """Who answers."""

    kind: str
    url: str
    demo: bool
    state: str
    message: str


class RoleView(BaseModel):
    """One role and the model that fills it."""

    role: str
    model: str
    available: bool
    hint: str


class ModelView(BaseModel):
    """One model that is installed; its size is 0 where nobody says."""

    name: str
    size_bytes: int


class CommandView(BaseModel):
    """One slash command that may be typed."""

    name: str
    usage: str
    help: str
    tool: str


class RefusedView(BaseModel):
    """One tool that was announced and cannot be used."""

    tool: str
    name: str
    reason: str


class Models(BaseModel):
    """What answers, and what can be asked of it."""

    backend: BackendView
    roles: list[RoleView]
    models: list[ModelView]
    options: dict[str, Any] = {}
    tools: list[str] = []
    commands: list[CommandView] = []
    refused: list[RefusedView] = []
    counts: dict[str, int] = {}


def router(bus: BusClient, directory: Directory, version: str) -> APIRouter:
    """The routes."""
    routes = APIRouter()

    @routes.get("/health")
    async def health() -> Health:
        return Health(**directory.health(version), command=local2())

    @routes.get("/api/participants")
    async def participants() -> Participants:
        try:
            answer = await bus.request(ProcessesRequest(), Processes, timeout_s=_OPS_WAIT_S)
        except (RequestTimeout, RequestFailed, EnvelopeError):
            return announced(directory)
        return watched(answer, directory)

    @routes.get("/api/models")
    async def models() -> Models:
        answer = await bus.request(GetStatus(), GeneratorStatus, timeout_s=_GENERATOR_WAIT_S)
        fields = msgspec.to_builtins(answer)
        return Models(**{name: fields[name] for name in Models.model_fields})

    @routes.get("/api/personas")
    async def personas() -> PersonaList:
        answer = await bus.request(GetPersonas(), Personas, timeout_s=_OPS_WAIT_S)
        return PersonaList.model_validate(answer, from_attributes=True)

    return routes


def watched(answer: Processes, directory: Directory) -> Participants:
    """What ops knows, with the tools' names."""
    views = [
        ParticipantView(**msgspec.to_builtins(process), tool=directory.tool_of(process.name))
        for process in answer.processes
    ]
    return Participants(participants=views, supervisor=answer.supervisor, source="ops")


def announced(directory: Directory) -> Participants:
    """What the participants said themselves."""
    views = [
        ParticipantView(
            name=known.name,
            kind=known.kind,
            sender_id=known.sender_id,
            state=known.state,
            pid=known.pid,
            reason=known.note,
            tool=directory.tool_of(known.name),
        )
        for known in directory.participants()
    ]
    words = "ops does not answer: these are the participants' own words, without figures"
    return Participants(participants=views, supervisor=words, source="presence")
