"""Which scientific papers are there on something? Asks Semantic Scholar, and arXiv where that cannot answer."""

from __future__ import annotations

import os
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from bus.config import Section
from participants.tools.base import BaseTool, Found, ToolConfig, ToolFailed
from participants.tools.semantic_scholar.pace import Pace

_MOST_PAPERS = 10
_MOST_BYTES = 4_000_000
_ADDRESS = "^https?://[^\\s/?#@]+(/[^\\s?#]*)?$"


class SemanticScholarConfig(ToolConfig, frozen=True, kw_only=True):
    """semantic_scholar.yaml."""

    url: Annotated[str, Meta(description="Where Semantic Scholar's API answers.", pattern=_ADDRESS)] = (
        "https://api.semanticscholar.org"
    )
    arxiv_url: Annotated[str, Meta(description="Where arXiv's API answers.", pattern=_ADDRESS)] = (
        "https://export.arxiv.org"
    )
    max_results: Annotated[
        int, Meta(description="Papers given to the model, unless it asks for fewer.", ge=1, le=10)
    ] = 5
    timeout_s: Annotated[float, Meta(description="Seconds for one request.", gt=0, le=60)] = 8.0
    apart_s: Annotated[float, Meta(description="Seconds between two requests without a key.", ge=0)] = 1.2
    most_wait_s: Annotated[float, Meta(description="Seconds that a call waits for its turn at most.", ge=0)] = 5.0


class SemanticScholarTool(BaseTool):
    """search_papers."""

    CONFIG_NAME: ClassVar[str] = "semantic_scholar"
    Config: ClassVar[type[Section]] = SemanticScholarConfig
    config: SemanticScholarConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def setup(self) -> None:
        """Called once before the bus opens."""
        await super().setup()
        self._pace = Pace()

    async def run_call(self, args: dict[str, Any]) -> Found:
        """Args: `query`, words or an arXiv number; `limit`; `year`."""
        from participants.tools.semantic_scholar.arxiv import Arxiv, id_in  # httpx: 130 ms
        from participants.tools.semantic_scholar.papers import told
        from participants.web.client import Limits
        from participants.web.text import one_line

        query = one_line(args["query"], 300)
        if not query:
            raise ToolFailed("query: expected words, a title or an arXiv number.")
        limits = Limits(seconds=self.config.timeout_s, max_bytes=_MOST_BYTES)
        arxiv = Arxiv(self.config.arxiv_url, limits)
        number = id_in(query)
        if number:
            return told(number, await arxiv.paper(number), "arXiv", [])
        limit = min(args.get("limit") or self.config.max_results, _MOST_PAPERS)
        return await self._search(query, limit, args.get("year", ""), arxiv, limits)

    async def _search(self, query: str, limit: int, year: str, arxiv: Any, limits: Any) -> Found:
        from participants.tools.semantic_scholar.papers import told
        from participants.tools.semantic_scholar.scholar import Scholar

        config = self.config
        key = os.environ.get("S2_API_KEY", "").strip()
        scholar = Scholar(
            config.url, key, limits, pace=self._pace, apart_s=config.apart_s, most_wait_s=config.most_wait_s
        )
        try:
            return told(query, await scholar.search(query, limit, year), "Semantic Scholar", [])
        except ToolFailed as error:
            return await self._instead(query, limit, arxiv, error)

    async def _instead(self, query: str, limit: int, arxiv: Any, failed: ToolFailed) -> Found:
        """What arXiv has; where that is nothing, the reason why the better source was silent counts."""
        from participants.tools.semantic_scholar.papers import told

        try:
            papers = await arxiv.search(query, limit)
        except ToolFailed as error:
            raise ToolFailed(f"{failed} arXiv could not help either: {error}") from failed
        if not papers:
            raise ToolFailed(f"{failed} arXiv, asked instead, covers some fields only and gave nothing.") from failed
        return told(query, papers, "arXiv", [f"asked instead, which covers some fields only. {failed}"])
