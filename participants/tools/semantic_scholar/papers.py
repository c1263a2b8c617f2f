"""How does a list of papers read, whoever found them?"""

from __future__ import annotations

from msgspec import Struct

from participants.tools.base import Found
from participants.web.text import shorten

_ABSTRACT = 600
_AUTHORS = 4


class Paper(Struct, frozen=True, kw_only=True):
    """One paper; plain text of one line each, empty where it is not known."""

    title: str
    url: str
    authors: list[str] = []
    year: str = ""
    venue: str = ""
    abstract: str = ""
    cited: int | None = None
    pdf: str = ""
    ids: str = ""


def told(query: str, papers: list[Paper], source: str, notes: list[str]) -> Found:
    """Papers for the model, numbered."""
    if papers:
        head = f"{len(papers)} papers for {query!r}, from {source}."
    else:
        head = f"{source} has no papers for {query!r}. Try fewer or other words."
    parts = [head, *(f"Note: {note}" for note in notes)]
    parts += [f"\n{number}. {_one(paper)}" for number, paper in enumerate(papers, 1)]
    return Found(text="\n".join(parts), sources=[{"title": each.title, "url": each.url} for each in papers])


def _one(paper: Paper) -> str:
    cited = "" if paper.cited is None else f"cited {paper.cited} times"
    about = ", ".join(filter(None, [_names(paper.authors), paper.venue, paper.year, cited]))
    lines = [paper.title, about, paper.ids, paper.url, f"PDF: {paper.pdf}" if paper.pdf else ""]
    return "\n".join(filter(None, [*lines, shorten(paper.abstract, _ABSTRACT)]))


def _names(authors: list[str]) -> str:
    if len(authors) <= _AUTHORS:
        return ", ".join(authors)
    return f"{', '.join(authors[: _AUTHORS - 1])} and {len(authors) - _AUTHORS + 1} others"
