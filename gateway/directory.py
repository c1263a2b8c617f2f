"""Which participants have been heard, and is the stack healthy? (GET /health)"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, replace
from typing import Any

from bus.client import BusClient
from bus.envelope import Envelope
from bus.errors import EnvelopeError, RequestFailed, RequestTimeout
from bus.messages.control import OpsProcess, Presence, PresenceRequest
from bus.messages.persona import NO_PERSONA, GetPersonas, Personas, folded
from bus.messages.tool import ToolSchema, ToolSchemaRequest
from bus.process import process_lives

ESSENTIAL = ("conversation", "generator")
"""Without these no question is answered."""
_STARTING_S = 30.0
"""So long after our own start a missing participant is late, not lost."""
_DOWN = {"died": "died", "fatal": "fatal", "stopped": "stopped"}


@dataclass(frozen=True)
class Known:
    """What a participant said last, or what ops said of it."""

    name: str
    kind: str
    sender_id: str
    state: str
    pid: int
    instance: str
    note: str = ""
    down: str = ""
    """How ops says that it ended. Believed where its process is gone, or cannot be looked for."""


class Directory:
    """The presence table.

    Args:
        bus: For listening.
        instance: This machine's name on the bus: pids of others mean nothing here.
    """

    def __init__(self, bus: BusClient, instance: str) -> None:
        self._bus, self._instance = bus, instance
        self._known: dict[str, Known] = {}
        self._tools: dict[str, str] = {}
        self._personas: Personas | None = None
        self._since = time.monotonic()

    def listen(self) -> None:
        """Register with the bus."""
        self._bus.on(Presence, self.heard)
        self._bus.on(OpsProcess, self.told)
        self._bus.on(ToolSchema, self._on_schema)
        self._bus.on(Personas, self._on_personas)

    def ask(self) -> None:
        """Everybody, say who you are: called whenever the bus is (again) there."""
        self._bus.publish(PresenceRequest())
        self._bus.publish(ToolSchemaRequest())
        self._bus.spawn(self._ask_for_personas(), name="ask for personas")

    def heard(self, message: Presence, envelope: Envelope) -> None:
        """A participant says its state."""
        self._known[message.name] = Known(
            name=message.name,
            kind=message.kind,
            sender_id=envelope.sender_id,
            state=message.state,
            pid=message.pid,
            instance=message.instance,
            note=message.note,
        )

    def told(self, message: OpsProcess, _envelope: Envelope) -> None:
        """Ops saw a process die: it cannot say so itself. News of an earlier process comes too late to matter."""
        known = self._known.get(message.name)
        if known is not None and message.event in _DOWN and message.pid in (0, known.pid):
            self._known[message.name] = replace(known, down=_DOWN[message.event])

    def _on_schema(self, message: ToolSchema, _envelope: Envelope) -> None:
        if not message.withdrawn:
            self._tools[message.name] = message.tool

    def tool_of(self, name: str) -> str | None:
        """The tool that this program serves, if it is one."""
        return self._tools.get(name)

    def _on_personas(self, message: Personas, _envelope: Envelope) -> None:
        self._personas = message

    async def _ask_for_personas(self) -> None:
        with contextlib.suppress(RequestTimeout, RequestFailed, EnvelopeError):
            self._personas = await self._bus.request(GetPersonas(), Personas)

    def persona_fault(self, name: str) -> str:
        """Why a question cannot be answered in this persona; empty where it can, or where nobody knows yet."""
        known = self._personas
        if known is None or folded(name) in NO_PERSONA or known.named(name) is not None:
            return ""
        return f"There is no persona {name[:80]!r}. There are: {known.names}, or default for none."

    def participants(self) -> list[Known]:
        """All that were heard, by name, as they are now."""
        return [self._now(self._known[name]) for name in sorted(self._known)]

    def _now(self, known: Known) -> Known:
        here = known.instance == self._instance
        if here and process_lives(known.pid):
            return known
        died = "died" if here and known.state in ("starting", "ready", "draining") else known.state
        return replace(known, state=known.down or died)

    def health(self, version: str) -> dict[str, Any]:
        """The body of GET /health."""
        states = {known.name: known.state for known in self.participants()}
        age_s = time.monotonic() - self._since
        return {
            "status": status_of(self._bus.ready, states, age_s),
            "version": version,
            "participants": states,
            "bus": self._bus.ready,
            "missing": missing_of(states),
        }


def missing_of(states: dict[str, str]) -> list[str]:
    """The essential participants that are not ready."""
    return [name for name in ESSENTIAL if states.get(name) != "ready"]


def status_of(bus: bool, states: dict[str, str], age_s: float) -> str:
    """ok, starting or degraded.

    Args:
        bus: Whether the bus can be reached.
        states: What each participant said last.
        age_s: Seconds since the gateway started.
    """
    if bus and not missing_of(states):
        return "ok"
    never_heard = all(states.get(name, "starting") in ("starting", "ready") for name in ESSENTIAL)
    return "starting" if never_heard and age_s < _STARTING_S else "degraded"
