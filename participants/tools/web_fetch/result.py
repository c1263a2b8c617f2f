"""What came of reading a page? Crosses from the reading process to the tool; imports no parser."""

from __future__ import annotations

from msgspec import Struct


class Page(Struct, frozen=True, kw_only=True):
    """A page as text."""

    title: str = ""
    url: str = ""
    """Its canonical address where it names one of the same host, else the one it was fetched from."""
    text: str = ""
    notes: list[str] = []
    """What somebody who reads the text should know of how it came about."""
    problem: str = ""
    """Why there is no text, and what to do instead; empty where there is some."""
