"""How are passages of documents shown to a model, and cited?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import structlog

from bus.messages.library import Passage

log = structlog.get_logger()


def readable(passages: Iterable[Passage], user_id: str) -> list[Passage]:
    """Those that the user may read, each once, in their order: a store that gives another's is at fault."""
    given = {passage.passage_id: passage for passage in passages}
    own = [passage for passage in given.values() if passage.owner in ("", user_id)]
    if len(own) < len(given):
        log.error("foreign_passage", dropped=len(given) - len(own))
    return own


def place_of(passage: Passage) -> str:
    """Where it stands: title, page, heading."""
    page = f"page {passage.page}" if passage.page is not None else ""
    return ", ".join(" ".join(part.split()) for part in (passage.title, page, passage.heading) if part)


def numbered(passages: Sequence[Passage], longest: int) -> str:
    """Passages with their places, numbered from 1; a longer one than `longest` characters is cut, with a mark."""
    return "\n\n".join(
        f"[{number}] {place_of(passage)}\n{_cut(passage.text.strip(), longest)}"
        for number, passage in enumerate(passages, 1)
    )


def sources(passages: Iterable[Passage]) -> list[dict[str, Any]]:
    """What the page needs to open each passage; in the order of the numbers."""
    return [
        {
            "title": place_of(passage),
            "url": "",
            "document_id": passage.document_id,
            "passage_id": passage.passage_id,
            "collection": passage.collection,
            "page": passage.page,
            "position": passage.position,
        }
        for passage in passages
    ]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} [cut here]"
