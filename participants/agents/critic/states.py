"""In which states can an answer be for the critic, and what moves it?"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where one answer is."""

    IDLE = "IDLE"
    GRADING = "GRADING"
    GRADED = "GRADED"
    SKIPPED = "SKIPPED"


class Action(StrEnum):
    """What happens to one answer."""

    GRADE = "GRADE"
    RETRY = "RETRY"
    FINISH = "FINISH"
    """There is a score."""
    SKIP = "SKIP"
    """There is none; the note says why."""
