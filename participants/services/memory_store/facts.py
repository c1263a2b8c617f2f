"""Which pinned fact says the same as a new one?

Decisions only. A wrong "the same" would lose a fact, so what differs in a name, a number or a "not" never is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from bus.messages.memory import Memory
from participants.services.memory_store import ranking

SAME_FACT = 0.93
"""The cosine from which on two facts mean the same."""


def plain(text: str) -> str:
    """A text's letters and digits alone: case, accents, spaces and points make no other fact."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in folded if c.isalnum())


def same_words(facts: Sequence[Memory], text: str) -> Memory | None:
    """A fact that says this in the same words."""
    return next((fact for fact in facts if plain(fact.text) == plain(text)), None)


def same_meaning(facts: Sequence[Memory], text: str, vector: Any, vectors: Mapping[str, Any]) -> Memory | None:
    """The fact that means the same.

    Args:
        facts: Those that there are.
        text: The new one.
        vector: Its vector.
        vectors: Theirs, by id, as far as they have any.
    """
    near = [(ranking.nearness(vectors.get(fact.memory_id), vector), fact) for fact in facts]
    same = [(cosine, fact) for cosine, fact in near if cosine >= SAME_FACT and ranking.same_details(fact.text, text)]
    return max(same, key=lambda pair: pair[0])[1] if same else None
