"""How is arXiv asked, and what does its feed say?"""

from __future__ import annotations

import re
from urllib.parse import urlencode

from participants.tools.base import ToolFailed
from participants.tools.semantic_scholar.atom import Node, parse
from participants.tools.semantic_scholar.papers import Paper
from participants.web.addresses import ANYWHERE
from participants.web.client import Limits, Reply, get
from participants.web.errors import WebError
from participants.web.text import one_line, web_address

_ID = r"(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Za-z]{2})?/\d{7})(v\d+)?"
_WHOLE = re.compile(rf"(?:arxiv\s*:\s*)?{_ID}(?:\.pdf)?", re.IGNORECASE)
_WITHIN = re.compile(
    rf"(?:arxiv\s*:\s*|(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|format)/|10\.48550/arxiv\.){_ID}",
    re.IGNORECASE,
)


def id_in(query: str) -> str:
    """The arXiv number that somebody asks for; empty where the query is words."""
    found = _WHOLE.fullmatch(query.strip()) or _WITHIN.search(query)
    return (found[1] + (found[2] or "")).lower() if found else ""


class Arxiv:
    """arXiv's API at a base address."""

    def __init__(self, url: str, limits: Limits) -> None:
        self._url, self._limits = url.rstrip("/"), limits

    async def paper(self, number: str) -> list[Paper]:
        """The paper of that number; an empty list where there is none.

        Raises:
            ToolFailed: arXiv could not say.
        """
        return await self._ask({"id_list": number, "max_results": 1})

    async def search(self, query: str, limit: int) -> list[Paper]:
        """The best papers for some words.

        Raises:
            ToolFailed: arXiv could not say.
        """
        words = re.findall(r"[^\W_]+(?:[-'][^\W_]+)*", query)[:20]
        if not words:
            return []
        terms = " AND ".join(f"all:{word}" for word in words)
        return await self._ask({"search_query": terms, "max_results": limit, "sortBy": "relevance"})

    async def _ask(self, fields: dict[str, str | int]) -> list[Paper]:
        url = f"{self._url}/api/query?{urlencode(fields)}"
        try:
            reply = await get(url, self._limits, allow=ANYWHERE)
            return read(reply)
        except WebError as error:
            raise ToolFailed(f"arXiv gave no answer: {error}") from error


def read(reply: Reply) -> list[Paper]:
    """The papers in a reply.

    Raises:
        ToolFailed: arXiv says that it cannot answer.
        WebError: The reply is no feed.
    """
    if reply.status == 429:
        raise ToolFailed("arXiv is rate-limited. Try later.")
    if reply.status != 200 and not reply.body.lstrip().startswith(b"<?xml"):
        raise ToolFailed(f"arXiv answered {reply.status}. Try later.")
    entries = parse(reply.body).all("entry")
    for entry in entries:
        if "/api/errors" in entry.first("id"):
            raise ToolFailed(f"arXiv does not take this search: {one_line(entry.first('summary'), 200)}.")
    return [paper for entry in entries if (paper := _paper(entry)) is not None]


def _paper(entry: Node) -> Paper | None:
    url = web_address(re.sub(r"^http://(?=arxiv\.org/)", "https://", entry.first("id")))
    title = one_line(entry.first("title"), 300)
    if not url or not title:
        return None
    number = _WITHIN.search(url)
    pdf = next((link.attributes.get("href") for link in entry.all("link") if link.attributes.get("title") == "pdf"), "")
    return Paper(
        title=title,
        url=url,
        authors=[name for author in entry.all("author") if (name := one_line(author.first("name"), 80))],
        year=one_line(entry.first("published"), 40)[:4],
        venue=one_line(entry.first("journal_ref"), 120),
        abstract=one_line(entry.first("summary"), 2000),
        pdf=web_address(pdf),
        ids=f"arXiv:{number[1]}{number[2] or ''}" if number else "",
    )
