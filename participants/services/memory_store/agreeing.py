"""Which engrams of a user say the same thing again and again?

Decisions only: an engram and its neighbours in, a group out.
"""

from __future__ import annotations

from collections.abc import Sequence

from bus.messages.memory import Memory
from participants.services.memory_store.ranking import Candidate, nearness

LEAST_ENGRAMS = 3
LEAST_SESSIONS = 2
LEAST_SCORE = 4.0
AGREE = 0.8
MOST_ENGRAMS = 12


def group(first: Candidate, neighbours: Sequence[Candidate]) -> list[Memory]:
    """The engrams that all agree with each other, `first` among them; empty where they are too few.

    Args:
        first: The engram that is looked at.
        neighbours: Engrams of the same user near it, nearest first.
    """
    agreed = [first]
    for one in neighbours:
        is_new = one.memory.memory_id != first.memory.memory_id
        if is_new and all(nearness(one.vector, other.vector) >= AGREE for other in agreed):
            agreed.append(one)
    memories = [one.memory for one in agreed[:MOST_ENGRAMS]]
    return memories if is_enough(memories) else []


def is_enough(memories: Sequence[Memory]) -> bool:
    """Whether these are many, of several conversations, good, and all our user's own."""
    scores = [memory.critic_score for memory in memories if memory.critic_score is not None]
    return (
        len(memories) >= LEAST_ENGRAMS
        and len({memory.session_id for memory in memories}) >= LEAST_SESSIONS
        and (not scores or sum(scores) / len(scores) >= LEAST_SCORE)
        and not any(memory.untrusted for memory in memories)
    )
