"""What does the web say about some words? Asks a search provider; by default the user's own SearXNG."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from bus.config import Section
from participants.tools.base import BaseTool, Found, ToolConfig, ToolFailed

_NOT_SET_UP = (
    "The search failed: no search engine is set up. `local2 searxng up` starts one; or put a SearXNG's address into url"
    " in web_search.yaml."
)
SAFE_SEARCH = {"off": 0, "moderate": 1, "strict": 2}


class WebSearchConfig(ToolConfig, frozen=True, kw_only=True):
    """web_search.yaml."""

    provider: Annotated[Literal["searxng"], Meta(description="Who searches.")] = "searxng"
    url: Annotated[
        str,
        Meta(
            description="Where SearXNG answers; empty where there is none yet: `local2 searxng up` starts one and sets"
            " this.",
            pattern="^(https?://[^\\s/?#@]+(/[^\\s?#]*)?)?$",
        ),
    ] = ""
    max_results: Annotated[int, Meta(description="Results given to the model at most.", ge=1, le=20)] = 6
    timeout_s: Annotated[float, Meta(description="Seconds for one search.", gt=0, le=60)] = 12.0
    language: Annotated[
        str,
        Meta(description="Language of the results, such as `en` or `de-AT`; `auto` or `all`.", pattern="^[a-zA-Z-]+$"),
    ] = "auto"
    safe_search: Annotated[Literal["off", "moderate", "strict"], Meta(description="What is left out.")] = "moderate"


class WebSearchTool(BaseTool):
    """web_search."""

    CONFIG_NAME: ClassVar[str] = "web_search"
    Config: ClassVar[type[Section]] = WebSearchConfig
    config: WebSearchConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def run_call(self, args: dict[str, Any]) -> Found:
        """Args: `query`, and where given `max_results`, `time_range`."""
        from participants.tools.web_search.provider import Query
        from participants.tools.web_search.results import merged, told
        from participants.tools.web_search.searxng import SearxNG  # httpx: 130 ms, once it is needed
        from participants.web.text import one_line

        words = one_line(args["query"], 400)
        if not words:
            raise ToolFailed("query: expected words to search for.")
        if not self.config.url:
            raise ToolFailed(_NOT_SET_UP)
        query = Query(
            words=words,
            language=self.config.language,
            safe_search=SAFE_SEARCH[self.config.safe_search],
            time_range=args.get("time_range", ""),
        )
        answer = await SearxNG(self.config.url, self.config.timeout_s).search(query)
        most = min(args.get("max_results") or self.config.max_results, self.config.max_results)
        return told(words, merged(answer.results, most), answer.notes)
