"""What may be asked of the memory of a user?

Envelopes carry user_id: the store answers for that user alone, and gives no hint of another's.
session_id and query_id say where something comes from.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about


class RememberFact(Message, frozen=True):
    """Pin a fact for a user (envelope: user_id; session_id and query_id as its source). Answered by `FactKept`.

    A fact that means the same as one that is there is merged with it.
    """

    SUBJECT = "memory_store.remember"

    fact: Annotated[str, about("The fact, in a sentence.", min_length=1, max_length=2000)]
    reason: Annotated[str, about("Why it is worth keeping; may be empty.", max_length=2000)] = ""


class FactKept(Message, frozen=True):
    """The fact is stored; the user's next turn has it."""

    SUBJECT = subjects.INBOX

    fact_id: Annotated[str, about("Its id.")]
    fact: Annotated[str, about("As it is kept now.")]
    merged: Annotated[bool, about("Whether it was known already, in these words or others.")] = False


class SearchMemory(Message, frozen=True):
    """Search what is remembered of a user (envelope: user_id). Answered by `MemoriesFound`."""

    SUBJECT = "memory_store.search"

    query: Annotated[str, about("What to look for, by meaning.", min_length=1, max_length=2000)]
    limit: Annotated[int, about("At most so many.", ge=1, le=50)] = 8


class Memory(Struct, frozen=True, kw_only=True):
    """One thing that is remembered."""

    memory_id: Annotated[str, about("Its id.")]
    user_id: Annotated[str, about("Whose it is: who asks checks it again.")]
    kind: Annotated[str, about("fact (pinned), engram (of a turn) or insight (of several).")]
    text: Annotated[str, about("What is remembered.")]
    created_at: Annotated[str, about("ISO 8601.")] = ""
    session_id: Annotated[str, about("The conversation that it comes from; empty for none or several.")] = ""
    query_id: Annotated[str, about("The turn that it comes from; empty for none or several.")] = ""
    score: Annotated[float, about("How well it fits; higher is better.")] = 0.0


class MemoriesFound(Message, frozen=True):
    """What fits, the best first."""

    SUBJECT = subjects.INBOX

    memories: Annotated[list[Memory], about("Of the asking user alone.")]
