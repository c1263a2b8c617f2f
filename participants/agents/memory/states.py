"""In which states can a turn be for the memory, and what moves it?"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where one turn is: first its question, later its answer."""

    IDLE = "IDLE"
    RECALLING = "RECALLING"
    RECALLED = "RECALLED"
    INGESTING = "INGESTING"
    KEPT = "KEPT"
    SKIPPED = "SKIPPED"


class Action(StrEnum):
    """What happens to one turn."""

    RECALL = "RECALL"
    TELL = "TELL"
    """What was found is told; or, with a note, why nothing was looked up."""
    INGEST = "INGEST"
    KEEP = "KEEP"
    SKIP = "SKIP"
    """There is nothing in it to keep; the note says why."""
    REFINE = "REFINE"
    """A model has put it in better words."""
