"""How good was an answer, in the critic's and in the user's eyes?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from bus import subjects
from bus.messages.base import Message, about

Score = Annotated[int, Meta(ge=1, le=5)]
Sentiment = Annotated[int, about("1 for good, -1 for bad, 0 for no vote or one that was taken back.", ge=-1, le=1)]


class Grade(Struct, frozen=True, kw_only=True):
    """A grade, or why there is none."""

    score: Annotated[Score | None, about("1 to 5; null for not graded.")] = None
    rubric_name: Annotated[str, about("The rubric; empty where none was used.")] = ""
    feedback: Annotated[str, about("The critic's words.")] = ""
    reason: Annotated[str, about("Why it was not graded; else empty.")] = ""
    model: Annotated[str, about("The model that graded; empty for none.")] = ""


class CritiqueResult(Message, frozen=True):
    """An answer was graded, or was found not to be gradable, and the ledger has it (envelope: the turn)."""

    SUBJECT = subjects.CRITIQUE_RESULT

    grade: Annotated[Grade, about("The grade.")]


class UserFeedback(Message, frozen=True):
    """The user voted on an answer, and the ledger has it (envelope: the turn). Sent by the ledger."""

    SUBJECT = subjects.USER_FEEDBACK

    sentiment: Sentiment


class RewardEvent(Message, frozen=True):
    """What an answer was worth, by all that is known of it now (envelope: the turn)."""

    SUBJECT = subjects.REWARD_EVENT

    source: Annotated[str, about("What changed it: user or critic.")]
    sentiment: Sentiment
    score: Annotated[Score | None, about("The critic's, 1 to 5; null for none.")] = None
    reward: Annotated[float, about("Both in one figure, from -1 to 1; 0 says nothing.", ge=-1, le=1)] = 0.0
