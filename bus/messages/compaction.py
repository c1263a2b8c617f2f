"""How does a long conversation become a short prompt?

The transcript stays whole: a summary stands for its older turns in the prompt alone.
"""

from __future__ import annotations

from typing import Annotated

from bus import subjects
from bus.messages.base import Message, about


class CompactSession(Message, frozen=True):
    """Ask to sum up a session's older turns (envelope: session_id, user_id). Answered by `Done` once it is begun.

    Refused with `not_found`, `running` (a turn of it runs), `short` (there is nothing to sum up) or
    `unavailable` (no model can do it). `CompactionResult` follows.
    """

    SUBJECT = subjects.COMPACTION_REQUEST


class CompactionResult(Message, frozen=True):
    """Where a compaction stands (envelope: session_id, user_id)."""

    SUBJECT = subjects.COMPACTION_RESULT

    state: Annotated[str, about("started, done, refused or failed; after the last three nothing follows.")]
    message: Annotated[str, about("In words.")] = ""
    upto: Annotated[str, about("When done: the last turn that the summary stands for.")] = ""
    turns: Annotated[int, about("When done: for how many turns it stands.")] = 0
