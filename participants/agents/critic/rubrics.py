"""By which rubric is an answer graded?"""

from __future__ import annotations

from collections.abc import Iterable

from bus.client import BusClient
from bus.envelope import Envelope
from bus.messages.ledger import ToolRecord
from bus.messages.tool import ToolSchema
from participants.agents.critic import prompts

_MOST_TOOLS = 256


class Rubrics:
    """What tools say of the answers that used them."""

    def __init__(self, bus: BusClient) -> None:
        self._bus = bus
        self._tools: dict[str, ToolSchema] = {}

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._bus.on(ToolSchema, self._on_schema)

    def _on_schema(self, schema: ToolSchema, _envelope: Envelope) -> None:
        """A tool that goes keeps its word: its answers may still be waiting. A name stays its first owner's."""
        known = self._tools.get(schema.tool)
        if schema.withdrawn or (known is not None and known.name != schema.name) or len(self._tools) >= _MOST_TOOLS:
            return
        self._tools[schema.tool] = schema

    def of(self, calls: Iterable[ToolRecord], default: str) -> str:
        """The rubric of the tool with the highest priority that an answer used."""
        used = [self._tools[call.tool] for call in calls if call.outcome == "ok" and call.tool in self._tools]
        wanted = [schema for schema in used if schema.critique_rubric_name in prompts.RUBRICS]
        if wanted:
            return max(wanted, key=lambda schema: schema.critique_priority).critique_rubric_name
        return default if default in prompts.RUBRICS else prompts.DEFAULT
