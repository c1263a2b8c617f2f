"""What does somebody who searches the web owe the tool?"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from participants.tools.web_search.results import Result


class Query(Struct, frozen=True, kw_only=True):
    """What to search for."""

    words: str
    language: str
    safe_search: int
    time_range: str = ""
    """day, week, month, year, or empty for any time."""


class Answer(Struct, frozen=True, kw_only=True):
    """What was found, and what the model should know of how."""

    results: list[Result]
    notes: list[str] = []


class Provider(Protocol):
    """Somebody who searches."""

    async def search(self, query: Query) -> Answer:
        """Search once.

        Raises:
            ToolFailed: The search itself failed. Having found nothing is an answer.
        """
        ...
