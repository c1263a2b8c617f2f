"""What is remembered of the user that fits a question?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import structlog
from msgspec import Meta

from bus.config import Section
from bus.messages.memory import MemoriesFound, Memory, SearchMemory
from participants.kernel.recalled import is_from_outside, origin
from participants.participant import main
from participants.tools import arguments
from participants.tools.base import BaseTool, Found, ToolConfig

log = structlog.get_logger()
_LONGEST = 500
_TITLE_CHARS = 80


class SearchMemoryConfig(ToolConfig, frozen=True, kw_only=True):
    """search_memory.yaml."""

    limit: Annotated[int, Meta(description="How many memories the model is told at most.", ge=1, le=50)] = 8
    max_memory_chars: Annotated[int, Meta(description="A longer memory is cut, with a mark.", ge=100)] = 1000


class SearchMemoryTool(BaseTool):
    """search_memory."""

    CONFIG_NAME: ClassVar[str] = "search_memory"
    Config: ClassVar[type[Section]] = SearchMemoryConfig
    config: SearchMemoryConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def run_call(self, args: dict[str, Any]) -> Found:
        """Args: `query`."""
        wish = SearchMemory(query=arguments.text(args, "query", _LONGEST), limit=self.config.limit)
        found = await self.ask(wish, MemoriesFound, who="The memory")
        readable = readable_of(found.memories, self.turn.user_id)[: self.config.limit]
        return told(readable, self.config.max_memory_chars, self.turn.user_id)


def readable_of(memories: Sequence[Memory], user_id: str) -> list[Memory]:
    """What the user may read: a store that gives more is at fault, and nobody is to read it for that."""
    readable = [memory for memory in memories if memory.user_id == user_id or memory.shared]
    if len(readable) < len(memories):
        log.error("foreign_memory", dropped=len(memories) - len(readable))
    return readable


def told(memories: Sequence[Memory], longest: int, user_id: str) -> Found:
    """Memories as numbered text, with where each comes from."""
    if not memories:
        return Found(text="Nothing about that is remembered.")
    return Found(
        text="\n".join(f"[{number}] {_line(memory, longest, user_id)}" for number, memory in enumerate(memories, 1)),
        sources=[_source(memory) for memory in memories],
        untrusted=any(is_from_outside(memory, user_id) for memory in memories),
    )


def _line(memory: Memory, longest: int, user_id: str) -> str:
    text = " ".join(memory.text.split())
    text = text if len(text) <= longest else f"{text[:longest]} [cut here]"
    day = memory.created_at[:10]
    return f"({memory.kind}{f', {day}' if day else ''}) {text}{origin(memory, user_id)}"


def _source(memory: Memory) -> dict[str, Any]:
    title = " ".join(memory.text.split())
    return {
        "title": title if len(title) <= _TITLE_CHARS else f"{title[:_TITLE_CHARS]}…",
        "url": "",
        "memory_id": memory.memory_id,
        "session_id": memory.session_id,
        "query_id": memory.query_id,
    }


if __name__ == "__main__":
    sys.exit(main(SearchMemoryTool))
