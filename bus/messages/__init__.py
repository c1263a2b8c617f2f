"""All messages on the bus, one module a step of the turn."""

from __future__ import annotations

from bus.messages import (
    approval,
    compaction,
    control,
    critique,
    generation,
    ledger,
    library,
    memory,
    persona,
    query,
    tool,
)
from bus.messages.base import Message, message_types, read

__all__ = [
    "Message",
    "approval",
    "compaction",
    "control",
    "critique",
    "generation",
    "ledger",
    "library",
    "memory",
    "message_types",
    "persona",
    "query",
    "read",
    "tool",
]
