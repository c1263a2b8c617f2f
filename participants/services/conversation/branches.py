"""Which turns of a session are shown, and what else was said in their place?

Each turn knows the one that it follows. Turns with the same one before them are versions of each other: a question
asked again, or put in other words. Decisions only: a session's links in, ids out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Link(NamedTuple):
    """A turn and the one that it follows; empty for the first."""

    query_id: str
    parent_id: str


def line(links: Sequence[Link], head: str) -> list[str]:
    """The turns up to `head`, oldest first; up to the newest turn where there is no such head."""
    parents = {link.query_id: link.parent_id for link in links}
    at = head if head in parents or not links else links[-1].query_id
    out: list[str] = []
    while at in parents:
        out.append(at)
        at = parents.pop(at)
    out.reverse()
    return out


def versions(links: Sequence[Link]) -> dict[str, list[str]]:
    """For each turn those that follow it, oldest first: they stand in one place."""
    out: dict[str, list[str]] = {}
    for link in links:
        out.setdefault(link.parent_id, []).append(link.query_id)
    return out


def with_all_after(links: Sequence[Link], query_id: str) -> list[str]:
    """A turn and whatever follows it on any branch, oldest first."""
    gone = {query_id}
    for link in links:  # who follows is newer
        if link.parent_id in gone:
            gone.add(link.query_id)
    return [link.query_id for link in links if link.query_id in gone]


def newest_end(links: Sequence[Link], query_id: str) -> str:
    """Where the conversation went on after a turn, last of all."""
    return with_all_after(links, query_id)[-1]
