"""What is remembered of a user, for those who ask?

Each answer is checked once more for its user before it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from msgspec.structs import replace

from bus.envelope import Envelope
from bus.errors import RequestFailed
from bus.messages.memory import (
    Agreeing,
    FindAgreeing,
    GetMemories,
    ListMemories,
    MemoriesFound,
    Memory,
    MemoryPage,
    Recall,
    Recalled,
    SearchMemory,
    UserContext,
    UserContextRequest,
)
from participants.services.memory_store import agreeing, checks
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.meaning import Meaning
from participants.services.memory_store.ranking import Candidate
from participants.services.memory_store.recall import Recaller
from participants.services.memory_store.store import Store

log = structlog.get_logger()
_NEWEST = 2**62
_SEARCH_SHARE = 0.6
"""Whoever searches by hand wants to see more than what a prompt gets: so much of the threshold is enough."""
_LOOKED_AT_ONCE = 20
_NEIGHBOURS = 30


class Looking:
    """Requests that change nothing of what is remembered.

    Args:
        store: The record.
        meaning: The vectors.
        recaller: Finds what fits.
        config: memory_store.yaml as it is now.
    """

    def __init__(
        self, store: Store, meaning: Meaning, recaller: Recaller, config: Callable[[], MemoryStoreConfig]
    ) -> None:
        self._store, self._meaning, self._recaller, self._config = store, meaning, recaller, config

    async def recall(self, message: Recall, request: Envelope) -> Recalled:
        """What fits a question; the facts come in any case."""
        user_id = checks.user(request)
        facts = self._store.of_kind(user_id, "fact")
        config = self._config()
        limits = {"engram": config.recall_limit, "insight": config.insight_limit}
        shared = {"fact": config.recall_limit} if config.collective else {}
        found, reason = await self._recaller.find(user_id, checks.clean(message.query), limits | shared)
        others = [fact for fact in found.get("fact", []) if fact.user_id != user_id]
        engrams = sorted([*found["engram"], *others], key=lambda memory: -memory.score)[: config.recall_limit]
        return Recalled(
            facts=_own(facts, user_id),
            engrams=_own(engrams, user_id),
            insights=_own(found["insight"], user_id),
            reason=reason,
        )

    async def search(self, message: SearchMemory, request: Envelope) -> MemoriesFound:
        """What fits, of all kinds, best first."""
        user_id = checks.user(request)
        limits = {kind: message.limit for kind in checks.KINDS}
        found, _ = await self._recaller.find(user_id, checks.clean(message.query), limits, _SEARCH_SHARE)
        best = sorted((memory for some in found.values() for memory in some), key=lambda memory: -memory.score)
        return MemoriesFound(memories=_own(best, user_id)[: message.limit])

    def list_(self, message: ListMemories, request: Envelope) -> MemoryPage:
        """A page of all."""
        user_id, kind = checks.user(request), checks.kind(message.kind)
        rows = self._store.page(user_id, kind, checks.clean(message.text), _place(message.before), message.limit + 1)
        page = rows[: message.limit]
        return MemoryPage(
            memories=_own([memory for _, memory in page], user_id),
            next=str(page[-1][0]) if len(rows) > message.limit else "",
            total=self._store.count(user_id, kind),
        )

    def get(self, message: GetMemories, request: Envelope) -> MemoryPage:
        """Some, by id."""
        user_id = checks.user(request)
        found = _own(self._store.get(user_id, message.memory_ids), user_id)
        if self._config().collective:
            own = {memory.memory_id for memory in found}
            others = self._store.get_shared([one for one in message.memory_ids if one not in own])
            found += _own([memory for memory in others if memory.user_id != user_id], user_id)
        return MemoryPage(memories=found, total=len(found))

    def context(self, _message: UserContextRequest, request: Envelope) -> UserContext:
        """A user's pinned facts."""
        user_id = checks.user(request)
        return UserContext(facts=_own(self._store.of_kind(user_id, "fact"), user_id))

    async def agreeing(self, _message: FindAgreeing, _request: Envelope) -> Agreeing:
        """A group of engrams that agree. Each engram is looked at once after each change, a few a request."""
        for _ in range(_LOOKED_AT_ONCE):
            found = self._store.new_engram()
            if found is None:
                break
            model, engram = found
            group = await self._group(model, engram)
            self._store.looked_at(engram.memory_id)
            if group:
                return Agreeing(user_id=engram.user_id, engrams=group)
        return Agreeing()

    async def _group(self, model: str, engram: Memory) -> list[Memory]:
        user_id = engram.user_id
        own = await self._meaning.of(user_id, "engram", [model], [engram.memory_id])
        vector = own.get(engram.memory_id)
        if vector is None:
            return []
        near = await self._meaning.near(user_id, "engram", {model: list(vector)}, _NEIGHBOURS)
        by_id = {memory.memory_id: memory for memory in self._store.get(user_id, [one.memory_id for one in near])}
        neighbours = [
            Candidate(by_id[one.memory_id], one.similarity, one.vector) for one in near if one.memory_id in by_id
        ]
        group = agreeing.group(Candidate(engram, 1.0, vector), neighbours)
        return [] if group and self._has_insight(group) else group

    def _has_insight(self, group: Sequence[Memory]) -> bool:
        ids = {memory.memory_id for memory in group}
        insights = self._store.insights_of(list(ids))
        return any(ids <= set(self._store.sources_of(insight)) for insight in insights)


def _place(text: str) -> int:
    if not text:
        return _NEWEST
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise RequestFailed("bad_request", "before must be the `next` of another page.")
    return int(text)


def _own(memories: Sequence[Memory], user_id: str) -> list[Memory]:
    """What may be told to this user: whatever went wrong before, nobody reads another's memories.

    Of what another shares only the words are told, not in which of their chats they stand.
    """
    own = [
        memory if memory.user_id == user_id else replace(memory, session_id="", query_id="", sources=[])
        for memory in memories
        if memory.user_id == user_id or memory.shared
    ]
    if len(own) < len(memories):
        log.error("foreign_memory", dropped=len(memories) - len(own))
    return own
