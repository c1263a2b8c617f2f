"""How do search results read, whoever found them?"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from msgspec import Struct

from participants.tools.base import Found

_SNIPPET = 400


class Result(Struct, frozen=True, kw_only=True):
    """One page that was found; plain text of one line each, and a URL that may be linked."""

    title: str
    url: str
    snippet: str = ""
    date: str = ""


def merged(results: Iterable[Result], limit: int) -> list[Result]:
    """The first of each page, at most `limit`; of one found twice the longer snippet."""
    out: dict[str, Result] = {}
    for result in results:
        key = _page(result.url)
        known = out.get(key)
        if known is None:
            out[key] = result
        elif len(result.snippet) > len(known.snippet):
            out[key] = Result(title=known.title, url=known.url, snippet=result.snippet, date=known.date or result.date)
    return list(out.values())[:limit]


def _page(url: str) -> str:
    """What two addresses of one page have in common."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"


def told(query: str, results: list[Result], notes: list[str]) -> Found:
    """Results for the model, numbered, with what it should know of how they were found."""
    if not results:
        head = f"No results for {query!r}. Try fewer or other words."
    else:
        head = f"{len(results)} results for {query!r}. Read a page with web_fetch before you rely on it."
    parts = [head, *(f"Note: {note}." for note in notes)]
    for number, result in enumerate(results, 1):
        when = f" ({result.date})" if result.date else ""
        parts.append("\n".join(filter(None, [f"\n{number}. {result.title}{when}", result.url, result.snippet])))
    return Found(text="\n".join(parts), sources=[{"title": each.title, "url": each.url} for each in results])
