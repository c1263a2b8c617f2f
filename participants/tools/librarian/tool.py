"""What do the user's documents say about a question that one search does not settle?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import Annotated, Any, ClassVar

import structlog
from msgspec import Meta

from bus.config import Section
from bus.messages.library import Passage, PassagesFound, SearchDocuments
from participants.tools import arguments
from participants.tools.agent_tool import AgentToolConfig, BaseAgentTool, Model, ModelFailed
from participants.tools.base import Found
from participants.tools.citations import numbered, place_of, readable, sources
from participants.tools.librarian import prompts

log = structlog.get_logger()
_LONGEST = 1000
_NAME_CHARS = 200
_PLAN_TOKENS = 200


class LibrarianConfig(AgentToolConfig, frozen=True, kw_only=True):
    """librarian.yaml."""

    searches: Annotated[
        int, Meta(description="Searches for one question, the question itself included.", ge=1, le=8)
    ] = 4
    limit: Annotated[int, Meta(description="Passages that one search may give.", ge=1, le=50)] = 5
    passages: Annotated[int, Meta(description="Passages that are summed up at most.", ge=1, le=50)] = 8
    max_passage_chars: Annotated[int, Meta(description="A longer passage is cut, with a mark.", ge=100)] = 2000
    answer_tokens: Annotated[int, Meta(description="How long the summary may be.", ge=64)] = 600


class LibraryAgentTool(BaseAgentTool):
    """consult_librarian."""

    CONFIG_NAME: ClassVar[str] = "librarian"
    Config: ClassVar[type[Section]] = LibrarianConfig
    config: LibrarianConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def run_call(self, args: dict[str, Any]) -> Found:
        """Args: `question`, `collection`."""
        question = arguments.text(args, "question", _LONGEST)
        collection = arguments.text(args, "collection", _NAME_CHARS, required=False)
        model = await self.model()
        queries = await self._queries(model, question)
        passages = await self._search(queries, collection)
        if not passages:
            searched = "; ".join(queries)
            return Found(text=f"The library holds nothing about that. Searched for: {searched}")
        return await self._told(model, question, passages)

    async def _queries(self, model: Model | None, question: str) -> list[str]:
        if model is None or self.config.searches == 1:
            return [question]
        most = self.config.searches
        try:
            schema = prompts.plan_schema(most - 1)
            reply = await self.complete(model, prompts.plan(question, most - 1), tokens=_PLAN_TOKENS, schema=schema)
        except ModelFailed as error:
            log.warning("plan_failed", reason=str(error))
            return [question]
        return prompts.queries_of(reply, question, most)

    async def _search(self, queries: Sequence[str], collection: str) -> list[Passage]:
        """All searches side by side; the best of each come first."""
        wishes = [SearchDocuments(query=query, collection=collection, limit=self.config.limit) for query in queries]
        found = await asyncio.gather(*[self.ask(wish, PassagesFound, who="The library") for wish in wishes])
        by_rank = chain.from_iterable(zip_longest(*[answer.passages for answer in found]))
        ranked = [passage for passage in by_rank if passage is not None]
        return readable(ranked, self.turn.user_id)[: self.config.passages]

    async def _told(self, model: Model | None, question: str, passages: list[Passage]) -> Found:
        """The summary with its sources; the passages themselves where there is no summary."""
        longest = self.config.max_passage_chars
        shown = prompts.fitting(passages, model.num_ctx - self.config.answer_tokens, longest) if model else []
        summary = await self._summary(model, question, shown) if model and shown else ""
        if not summary:
            return Found(text=numbered(passages, longest), sources=sources(passages))
        places = "\n".join(f"[{number}] {place_of(passage)}" for number, passage in enumerate(shown, 1))
        return Found(text=f"{summary}\n\nSources:\n{places}", sources=sources(shown))

    async def _summary(self, model: Model, question: str, passages: list[Passage]) -> str:
        chat = prompts.sum_up(question, passages, self.config.max_passage_chars)
        try:
            reply = await self.complete(model, chat, tokens=self.config.answer_tokens)
        except ModelFailed as error:
            log.warning("summary_failed", reason=str(error))
            return ""
        return prompts.cited(reply, len(passages))
