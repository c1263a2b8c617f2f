"""Which passages of the user's documents fit a question?"""

from __future__ import annotations

import sys
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from bus.config import Section
from bus.messages.library import PassagesFound, SearchDocuments
from participants.participant import main
from participants.tools import arguments
from participants.tools.base import BaseTool, Found, ToolConfig
from participants.tools.citations import numbered, readable, sources

_LONGEST = 500
_NAME_CHARS = 200


class DocumentsConfig(ToolConfig, frozen=True, kw_only=True):
    """documents.yaml."""

    limit: Annotated[int, Meta(description="How many passages the model is told at most.", ge=1, le=50)] = 5
    max_passage_chars: Annotated[int, Meta(description="A longer passage is cut, with a mark.", ge=100)] = 2000


class SearchLibraryTool(BaseTool):
    """search_library."""

    CONFIG_NAME: ClassVar[str] = "documents"
    Config: ClassVar[type[Section]] = DocumentsConfig
    config: DocumentsConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def run_call(self, args: dict[str, Any]) -> Found:
        """Args: `query`, `collection`."""
        wish = SearchDocuments(
            query=arguments.text(args, "query", _LONGEST),
            collection=arguments.text(args, "collection", _NAME_CHARS, required=False),
            limit=self.config.limit,
        )
        found = await self.ask(wish, PassagesFound, who="The library")
        passages = readable(found.passages, self.turn.user_id)[: self.config.limit]
        if not passages:
            return Found(text="The library holds nothing about that.")
        return Found(text=numbered(passages, self.config.max_passage_chars), sources=sources(passages))


if __name__ == "__main__":
    sys.exit(main(SearchLibraryTool))
