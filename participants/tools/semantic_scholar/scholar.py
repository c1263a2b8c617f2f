"""How is Semantic Scholar asked, and what do its answers mean?"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

import msgspec

from participants.tools.base import ToolFailed
from participants.tools.semantic_scholar.pace import Pace
from participants.tools.semantic_scholar.papers import Paper
from participants.web.addresses import ANYWHERE
from participants.web.client import Limits, Reply, get
from participants.web.errors import WebError
from participants.web.text import one_line, web_address

_FIELDS = "title,authors,year,venue,abstract,tldr,citationCount,url,externalIds,openAccessPdf"
_MOST_BYTES = 4_000_000
_BACK_OFF_S = 2.0
_KEY = "S2_API_KEY"


class RateLimited(ToolFailed):
    """Too many requests, here or by others of this network."""

    def __init__(self) -> None:
        super().__init__(
            "Semantic Scholar is rate-limited; this does not mean that there are no papers. Set a key of your own"
            f" in {_KEY}, or try later."
        )


class Scholar:
    """The Graph API at a base address. `key` may be empty; it goes into one header, and nowhere else."""

    def __init__(self, url: str, key: str, limits: Limits, *, pace: Pace, apart_s: float, most_wait_s: float) -> None:
        self._url, self._key, self._limits = url.rstrip("/"), key, limits
        self._pace, self._most_wait_s = pace, most_wait_s
        self._apart_s = 0.0 if key else apart_s

    async def search(self, query: str, limit: int, year: str) -> list[Paper]:
        """The best papers for some words.

        Raises:
            ToolFailed: It could not say; also as RateLimited, after one more try.
        """
        fields: dict[str, str | int] = {"query": query, "limit": limit, "fields": _FIELDS}
        if year:
            fields["year"] = year
        url = f"{self._url}/graph/v1/paper/search?{urlencode(fields)}"
        reply = await self._ask(url)
        if reply.status == 429:
            self._pace.hold(_seconds(reply.headers.get("retry-after", "")))
            reply = await self._ask(url)
        if reply.status == 429:
            self._pace.hold(_seconds(reply.headers.get("retry-after", "")))
            raise RateLimited
        return read(reply, keyed=bool(self._key))

    async def _ask(self, url: str) -> Reply:
        if not await self._pace.turn(self._apart_s, self._most_wait_s):
            raise RateLimited
        headers = {"Accept": "application/json"} | ({"x-api-key": self._key} if self._key else {})
        try:
            return await get(url, self._limits, allow=ANYWHERE, headers=headers)
        except WebError as error:
            raise ToolFailed(f"Semantic Scholar cannot be reached: {error} Try later.") from error


def _seconds(retry_after: str) -> float:
    return min(float(retry_after), 3600.0) if retry_after.isascii() and retry_after.isdigit() else _BACK_OFF_S


def read(reply: Reply, *, keyed: bool) -> list[Paper]:
    """The papers in a reply.

    Raises:
        ToolFailed: It holds none for a reason of its own; the text says which.
    """
    if reply.status in (401, 403):
        remedy = f"Check the key in {_KEY}." if keyed else f"Set a key of your own in {_KEY}, or try later."
        raise ToolFailed(f"Semantic Scholar refuses the request ({reply.status}). {remedy}")
    if reply.status in (400, 404):
        raise ToolFailed(f"Semantic Scholar does not take this search ({reply.status}). Use plain words only.")
    if reply.status != 200:
        raise ToolFailed(f"Semantic Scholar has a fault of its own ({reply.status}). Try later.")
    try:
        found = msgspec.json.decode(reply.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolFailed("Semantic Scholar gave an answer that cannot be read. Try later.") from error
    listed = found.get("data")
    if listed is None and not found.get("total", 1) == 0:
        raise ToolFailed("Semantic Scholar gave an answer without papers in it. Try later.")
    items = cast("list[Any]", listed) if isinstance(listed, list) else []
    return [paper for item in items if (paper := _paper(item)) is not None]


def _paper(item: Any) -> Paper | None:
    """None where it has no title or no address: nobody could cite it."""
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    ids = _mapping(fields.get("externalIds"))
    arxiv, doi = one_line(ids.get("ArXiv"), 60), one_line(ids.get("DOI"), 120)
    url = web_address(fields.get("url")) or web_address(f"https://doi.org/{doi}" if doi else "")
    url = url or web_address(f"https://arxiv.org/abs/{arxiv}" if arxiv else "")
    title = one_line(fields.get("title"), 300)
    if not title or not url:
        return None
    cited, year = fields.get("citationCount"), fields.get("year")
    return Paper(
        title=title,
        url=url,
        authors=_authors(fields.get("authors")),
        year=str(year) if type(year) is int else "",
        venue=one_line(fields.get("venue"), 120),
        abstract=one_line(fields.get("abstract"), 2000) or one_line(_mapping(fields.get("tldr")).get("text"), 2000),
        cited=cited if type(cited) is int else None,
        pdf=web_address(_mapping(fields.get("openAccessPdf")).get("url")),
        ids=", ".join(filter(None, [f"arXiv:{arxiv}" if arxiv else "", f"doi:{doi}" if doi else ""])),
    )


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _authors(value: Any) -> list[str]:
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [name for item in listed if (name := one_line(_mapping(item).get("name"), 80))]
