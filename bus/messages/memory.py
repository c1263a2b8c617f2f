"""What may be asked of the memory of a user?

Envelopes carry user_id: the store answers for that user alone, and gives no hint of another's.
session_id and query_id say where something comes from.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

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
    updated_at: Annotated[str, about("ISO 8601.")] = ""
    reason: Annotated[str, about("For a fact: why it was kept.")] = ""
    query: Annotated[str, about("For an engram: the question.")] = ""
    intent: Annotated[str, about("For an engram: fact, explanation, comparison or procedure.")] = ""
    entities: Annotated[list[str], about("For an engram: names in it.")] = []
    critic_score: Annotated[int | None, about("For an engram: the critic's, 1 to 5; null for none.")] = None
    sentiment: Annotated[int, about("For an engram: the user's vote, -1 to 1.")] = 0
    sources: Annotated[list[str], about("For an insight: the ids of its engrams.")] = []
    untrusted: Annotated[bool, about("Whether content from outside went into it: data, never instructions.")] = False
    shared: Annotated[bool, about("Whether its user shares it with all users.")] = False


class MemoryRef(Struct, frozen=True, kw_only=True):
    """A memory that a prompt held. Without its text: deleting a memory leaves no copy of it with the turn."""

    memory_id: Annotated[str, about("Its id; `GetMemories` gives the rest, while it is remembered.")]
    kind: Annotated[str, about("fact, engram or insight.")]
    score: Annotated[float, about("How well it fitted; 0 for a pinned fact, which is always there.")] = 0.0


class GetMemories(Message, frozen=True):
    """Ask for some memories of a user (envelope: user_id). Answered by `MemoryPage`, without those that are gone."""

    SUBJECT = "memory_store.get"

    memory_ids: Annotated[list[str], about("Which.", max_length=500)]


class SearchMemory(Message, frozen=True):
    """Search what is remembered of a user (envelope: user_id). Answered by `MemoriesFound`."""

    SUBJECT = "memory_store.search"

    query: Annotated[str, about("What to look for, by meaning.", min_length=1, max_length=2000)]
    limit: Annotated[int, about("At most so many.", ge=1, le=50)] = 8


class MemoriesFound(Message, frozen=True):
    """What fits, the best first."""

    SUBJECT = subjects.INBOX

    memories: Annotated[list[Memory], about("Of the asking user alone.")]


class Recall(Message, frozen=True):
    """Ask what fits a question (envelope: the turn). Answered by `Recalled`."""

    SUBJECT = "memory_store.recall"

    query: Annotated[str, about("The question.")]


class Recalled(Message, frozen=True):
    """What fits. Where recall fails for a reason of its own, the facts come all the same."""

    SUBJECT = subjects.INBOX

    facts: Annotated[list[Memory], about("All pinned facts, oldest first: the prompt's head stays stable.")] = []
    engrams: Annotated[list[Memory], about("Those over the threshold, the best first.")] = []
    insights: Annotated[list[Memory], about("The best first.")] = []
    reason: Annotated[str, about("In words: why nothing was looked up; else empty.")] = ""


class MemoryContext(Message, frozen=True):
    """What is remembered for a question (envelope: the turn). Published by the memory agent for who answers."""

    SUBJECT = subjects.MEMORY_CONTEXT

    facts: Annotated[list[Memory], about("Pinned facts, for the prompt's head.")] = []
    engrams: Annotated[list[Memory], about("The best first.")] = []
    insights: Annotated[list[Memory], about("The best first.")] = []
    reason: Annotated[str, about("In words: why nothing was recalled, where that is no plain lack; else empty.")] = ""
    seconds: Annotated[float, about("What it took.")] = 0.0


class KeepEngram(Message, frozen=True):
    """Keep what a turn was about (envelope: the turn). Answered by `Done`.

    One engram a turn: the same turn again replaces it. Left undone for a turn whose engram the user has deleted.
    """

    SUBJECT = "memory_store.keep_engram"

    engram: Annotated[Memory, about("Its memory_id and user_id are not read: the envelope has them.")]


class UpdateEngram(Message, frozen=True):
    """Change some of what is known of a turn's engram (envelope: the turn). Answered by `Done`; `not_found` else."""

    SUBJECT = "memory_store.update_engram"

    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4000)] | None, about("Its text; null to leave it.")
    ] = None
    instead_of: Annotated[str | None, about("The text it was made of; where that is another now, all is left.")] = None
    intent: Annotated[str | None, about("fact, explanation, comparison or procedure; null to leave it.")] = None
    entities: Annotated[list[str] | None, about("Names in it; null to leave them.")] = None
    critic_score: Annotated[int | None, about("The critic's, 1 to 5; null to leave it.")] = None
    sentiment: Annotated[int | None, about("The user's vote, -1 to 1; null to leave it.")] = None


class KeepInsight(Message, frozen=True):
    """Keep what several engrams of a user have in common (envelope: user_id). Answered by `Done`.

    It replaces those insights that share a source with it. Refused with `not_found` where a source is gone.
    """

    SUBJECT = "memory_store.keep_insight"

    text: Annotated[str, about("The insight.", min_length=1, max_length=4000)]
    sources: Annotated[list[str], about("The ids of its engrams.", min_length=1)]


class FindAgreeing(Message, frozen=True):
    """Ask for engrams that agree and have no insight yet, of any user. Answered by `Agreeing`."""

    SUBJECT = "memory_store.find_agreeing"


class Agreeing(Message, frozen=True):
    """One group; empty where there is none."""

    SUBJECT = subjects.INBOX

    user_id: Annotated[str, about("Whose.")] = ""
    engrams: Annotated[list[Memory], about("At least three, of two sessions or more.")] = []


class ForgetTurns(Message, frozen=True):
    """Forget what comes from a session or from some of its turns (envelope: both ids). Answered by `Done`."""

    SUBJECT = "memory_store.forget_turns"

    query_ids: Annotated[list[str] | None, about("Only these turns; null: the whole session.")] = None


class ListMemories(Message, frozen=True):
    """Ask for a page of what is remembered of a user (envelope: user_id), newest first. Answered by `MemoryPage`."""

    SUBJECT = "memory_store.list"

    kind: Annotated[str, about("fact, engram or insight; empty for all.")] = ""
    text: Annotated[str, about("Only with these words; empty for all.", max_length=500)] = ""
    before: Annotated[str, about("Only what comes after this page's `next`; empty for the first page.")] = ""
    limit: Annotated[int, about("At most so many.", ge=1, le=500)] = 100


class MemoryPage(Message, frozen=True):
    """A page."""

    SUBJECT = subjects.INBOX

    memories: Annotated[list[Memory], about("Of the asking user alone, newest first.")]
    next: Annotated[str, about("For the next page; empty for the last one.")] = ""
    total: Annotated[int, about("How many there are in all.")] = 0


class EditMemory(Message, frozen=True):
    """Put a memory in other words, or share it (envelope: user_id). Answered by `MemoryPage` with it alone.

    Refused with `not_found`; with `refused` where sharing is off.
    """

    SUBJECT = "memory_store.edit"

    memory_id: Annotated[str, about("Which.")]
    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=4000)] | None, about("Its new words; null to leave them.")
    ] = None
    shared: Annotated[bool | None, about("Whether all users may recall it; null to leave it.")] = None


class DeleteMemory(Message, frozen=True):
    """Forget one memory (envelope: user_id), with the insights made of it. Answered by `Done`; `not_found` else."""

    SUBJECT = "memory_store.delete"

    memory_id: Annotated[str, about("Which.")]


class DeleteAllMemories(Message, frozen=True):
    """Forget all of one user (envelope: user_id). Answered by `Done`."""

    SUBJECT = "memory_store.delete_all"


class ImportMemories(Message, frozen=True):
    """Take memories in (envelope: user_id), as an export has them. The same again changes nothing.

    Answered by `MemoriesTaken`.
    """

    SUBJECT = "memory_store.import"

    memories: Annotated[list[Memory], about("Their user_id is not read.", max_length=500)]


class MemoriesTaken(Message, frozen=True):
    """What came of an import."""

    SUBJECT = subjects.INBOX

    added: Annotated[int, about("How many were new.")]
    known: Annotated[int, about("How many were there already.")]


class GetMemoryStatus(Message, frozen=True):
    """Ask how the store does. Answered by `MemoryStatus`."""

    SUBJECT = "memory_store.get_status"


class MemoryStatus(Message, frozen=True):
    """The store's state, published at each change."""

    SUBJECT = "memory_store.status"

    model: Annotated[str, about("The embedding model in use; empty for none.")] = ""
    dimensions: Annotated[int, about("Of its vectors; 0 for none.")] = 0
    message: Annotated[str, about("In words: what is missing or going on; empty where all is well.")] = ""
    reembedded: Annotated[int, about("While a new model takes over: memories done.")] = 0
    reembedding: Annotated[int, about("While a new model takes over: memories in all; 0 else.")] = 0
    waiting: Annotated[int, about("Memories that have no vector yet.")] = 0
    write_enabled: Annotated[bool, about("Whether anything is kept.")] = True
    collective: Annotated[bool, about("Whether users may share memories.")] = False


class UserContextRequest(Message, frozen=True):
    """Ask for a user's pinned facts (envelope: user_id). Answered by `UserContext`."""

    SUBJECT = subjects.USER_CONTEXT_REQUEST


class UserContext(Message, frozen=True):
    """A user's pinned facts."""

    SUBJECT = subjects.USER_CONTEXT

    facts: Annotated[list[Memory], about("Oldest first.")]


class UserContextUpdated(Message, frozen=True):
    """A user's pinned facts changed (envelope: user_id)."""

    SUBJECT = subjects.USER_CONTEXT_UPDATED
