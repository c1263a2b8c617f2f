"""What fits a question, by meaning and by words?

Vectors find what is said in other words; words find names, numbers and codes that vectors blur, and what has no vector
yet. Each looks at a bounded number of memories, however many there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import structlog

from bus.messages.memory import Memory
from participants.backend.embed import NoVectors
from participants.services.memory_store import entities, ranking
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.meaning import Meaning, NoChroma
from participants.services.memory_store.ranking import Candidate
from participants.services.memory_store.store import Store
from participants.services.memory_store.vectors import Near

log = structlog.get_logger()
_NEAREST = 30
_MOST_WORDS = 12
_EACH_WORD = 20
_MOST_BY_WORDS = 20
_MINILM = "minilm"
"""In the name of the model inside LoCAL2, and of the same one on Ollama."""
_WORDS_ALONE = 0.5
"""What a memory without a vector counts that holds all words of a question; less where it holds fewer."""
SLOW = "The embedding model took too long: only words were looked for."


def threshold_of(config: MemoryStoreConfig, models: Iterable[str]) -> float:
    """The lowest threshold of the models that were asked: what fits has other figures in each."""
    each = [config.minilm_threshold if _MINILM in model else config.threshold for model in models]
    return min(each, default=config.threshold)


class Recaller:
    """Finds memories.

    Args:
        store: The record.
        meaning: The vectors.
        config: memory_store.yaml as it is now.
    """

    def __init__(self, store: Store, meaning: Meaning, config: Callable[[], MemoryStoreConfig]) -> None:
        self._store, self._meaning, self._config = store, meaning, config

    async def find(
        self, user_id: str, query: str, limits: dict[str, int], share: float = 1.0
    ) -> tuple[dict[str, list[Memory]], str]:
        """The best memories of each kind, and why vectors were not looked at, in words.

        Args:
            user_id: Whose.
            query: The question.
            limits: Kind to how many at most.
            share: What fits less than so much of the threshold is left out.
        """
        owners = [user_id, *self._sharers(user_id, list(limits))]
        vectors, reason = await self._vectors(query, owners, list(limits))
        threshold = share * threshold_of(self._config(), vectors)
        found: dict[str, list[Memory]] = {}
        for kind, limit in limits.items():
            candidates: list[Candidate] = []
            for owner in owners:
                candidates += await self._candidates(owner, user_id, kind, query, vectors)
            best = ranking.rank(candidates, query, datetime.now(UTC), threshold=threshold, limit=limit)
            found[kind] = [memory for memory in best if memory.user_id == user_id or memory.shared]
        return found, reason

    def _sharers(self, user_id: str, kinds: Sequence[str]) -> list[str]:
        if not self._config().collective:
            return []
        return sorted({owner for kind in kinds for owner in self._store.sharers(kind)} - {user_id})

    async def _vectors(
        self, query: str, owners: Sequence[str], kinds: Sequence[str]
    ) -> tuple[dict[str, list[float]], str]:
        out: dict[str, list[float]] = {}
        try:
            async with asyncio.timeout(self._config().embed_s):
                for owner in owners:
                    out |= await self._meaning.question(query, owner, kinds)
        except TimeoutError:
            return out, SLOW
        except NoVectors as error:
            return out, f"{error} Only words were looked for."
        return out, ""

    async def _candidates(
        self, owner: str, user_id: str, kind: str, query: str, vectors: dict[str, list[float]]
    ) -> list[Candidate]:
        """An owner's memories that may fit. Where the vectors cannot be read, words alone decide."""
        if not self._store.has(owner, kind):
            return []
        words = entities.words(query)[:_MOST_WORDS]
        ids = self._store.with_words(owner, [kind], words, _EACH_WORD)[:_MOST_BY_WORDS]
        near: list[Near] = []
        others: dict[str, Any] = {}
        try:
            near = await self._meaning.near(owner, kind, vectors, _NEAREST)
            known = {one.memory_id for one in near}
            others = await self._meaning.of(owner, kind, list(vectors), [one for one in ids if one not in known])
        except NoChroma as error:
            log.error("words_alone", reason=str(error))
        by_id = {one.memory_id: one for one in near}
        memories = self._read(owner, user_id, [*by_id, *(one for one in ids if one not in by_id)])
        return [_candidate(memory, by_id, others, vectors, words) for memory in memories]

    def _read(self, owner: str, user_id: str, ids: Sequence[str]) -> list[Memory]:
        """From the record, which alone says whose a memory is, and whether it is still there."""
        return self._store.get(user_id, ids) if owner == user_id else self._store.get_shared(ids)


def _candidate(
    memory: Memory, near: dict[str, Near], others: dict[str, Any], vectors: dict[str, list[float]], words: Sequence[str]
) -> Candidate:
    found = near.get(memory.memory_id)
    if found is not None:
        return Candidate(memory, found.similarity, found.vector)
    vector = others.get(memory.memory_id)
    if vector is not None:
        question = next(q for q in vectors.values() if len(q) == len(vector))
        return Candidate(memory, float(vector @ question), vector)
    said = set(entities.words(ranking.said(memory)))
    return Candidate(memory, _WORDS_ALONE * len(said & set(words)) / max(1, len(words)))
