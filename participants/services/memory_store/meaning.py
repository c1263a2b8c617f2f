"""Which vector does each memory have, and when is it made?

Whatever is written is saved first and found by its words; its vector comes right after, or when a model is there again.
With another embedding model each memory moves over by itself, in the background: until it has, its old vector serves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import structlog

from bus.errors import Local2Error
from bus.messages.memory import Memory
from participants.backend.embed import Embedder, NoVectors
from participants.offload import OffloadPool
from participants.services.memory_store.ranking import said
from participants.services.memory_store.store import Pending, Store
from participants.services.memory_store.vectors import Near, Place, Vectors
from participants.services.sqlite.errors import StorageError

log = structlog.get_logger()
_BATCH = 32
KINDS = ("fact", "engram", "insight")


class NoChroma(Local2Error):
    """The vectors cannot be used; the text says why."""


class Meaning:
    """Vectors of memories and of questions.

    Args:
        store: The record.
        vectors: Chroma.
        pool: The one thread that may use it.
        embedder: Makes vectors.
        changed: Called when more or fewer memories have theirs, with words where something is missing.
    """

    def __init__(
        self, store: Store, vectors: Vectors, pool: OffloadPool, embedder: Embedder, changed: Callable[[str], None]
    ) -> None:
        self._store, self._vectors, self._pool, self._embedder = store, vectors, pool, embedder
        self._changed = changed
        self._opened = False
        self.model = ""
        self.dimensions = 0

    # ------------------------------------------------------------------ working off

    async def some(self) -> bool:
        """Take out what has to go, and make the next few vectors that are missing; whether there may be more."""
        if await self._swept():
            return True
        try:
            self.model = await self._embedder.model()
            pending = self._store.pending(self.model, _BATCH)
            if pending:
                await self._fill(pending)
        except (NoVectors, NoChroma) as error:
            self._changed(str(error))
            raise
        self._changed("")
        return bool(pending)

    async def _fill(self, pending: Sequence[Pending]) -> None:
        memories = [one.memory for one in pending]
        vectors = await self._embedder.vectors([said(memory) for memory in memories], self.model)
        self.dimensions = len(vectors[0])
        for (user_id, kind), some in _by_place(memories, vectors).items():
            await self._put(Place(user_id, kind, self.model), some)
        await self._leave({Place(one.memory.user_id, one.memory.kind, one.model) for one in pending if one.model})

    async def _put(self, place: Place, some: Sequence[tuple[Memory, Sequence[float]]]) -> None:
        ids, vectors = [memory.memory_id for memory, _ in some], [vector for _, vector in some]
        await self._run(self._vectors.put, place, ids, vectors)
        self._store.have_vectors(place.model, [memory for memory, _ in some])

    async def _leave(self, places: set[Place]) -> None:
        """Drop the collections that no memory needs any more."""
        for place in places:
            if place.model not in self._store.models(place.user_id, place.kind):
                await self._run(self._vectors.drop, place)

    async def _swept(self) -> bool:
        """Whether vectors of deleted memories were there, and are gone now."""
        doomed = self._store.doomed(500)
        places = {Place(one.user_id, one.kind, one.model) for one in doomed}
        for place in places:
            ids = [one.memory_id for one in doomed if Place(one.user_id, one.kind, one.model) == place]
            await self._run(self._vectors.delete, place, ids)
        self._store.gone([one.memory_id for one in doomed])
        await self._leave(places)
        return bool(doomed)

    async def sweep(self) -> None:
        """Take out all vectors of what was deleted."""
        while await self._swept():
            pass

    # ------------------------------------------------------------------ asking

    async def near(self, user_id: str, kind: str, vectors: dict[str, list[float]], limit: int) -> list[Near]:
        """The memories of a user that are nearest to a question.

        Args:
            user_id: Whose.
            kind: Of this kind.
            vectors: The question's, by model: see `question`.
            limit: Of each model at most so many.
        """
        out: list[Near] = []
        for model, vector in vectors.items():
            out += await self._run(self._vectors.near, Place(user_id, kind, model), vector, limit)
        return out

    async def question(self, text: str, user_id: str, kinds: Sequence[str]) -> dict[str, list[float]]:
        """A question's vectors, of each model whose vectors the user's memories have.

        Raises:
            NoVectors: None of these models answers.
        """
        models = {model for kind in kinds for model in self._store.models(user_id, kind) if model}
        out: dict[str, list[float]] = {}
        failure: NoVectors | None = None
        if models:
            await self._embedder.model()
        for model in models:
            try:
                out[model] = await self._embedder.query(text, model)
            except NoVectors as error:
                failure = error
        if failure is not None and not out:
            raise failure
        return out

    async def of(self, user_id: str, kind: str, models: Sequence[str], ids: Sequence[str]) -> dict[str, Any]:
        """The vectors of some memories, as far as there are any."""
        out: dict[str, Any] = {}
        for model in models:
            out |= await self._run(self._vectors.of, Place(user_id, kind, model), ids)
        return out

    def forget_questions(self) -> None:
        """Keep no text that somebody asked for."""
        self._embedder.forget_queries()

    async def embed(self, text: str) -> tuple[str, list[float]]:
        """A text's vector, as a memory would have it, and its model.

        Raises:
            NoVectors: No model answers.
        """
        model = await self._embedder.model()
        (vector,) = await self._embedder.vectors([text], model)
        return model, vector

    # ------------------------------------------------------------------ Chroma

    async def _run(self, work: Callable[..., Any], *args: Any) -> Any:
        """In Chroma's thread, opened before where it is not.

        Raises:
            NoChroma: It cannot be used.
        """
        try:
            if not self._opened:
                await self._open()
            return await self._pool.run(work, *args)
        except (StorageError, NoChroma):
            raise
        except Exception as error:  # its errors have no common kind
            self._opened = False
            log.exception("chroma_failed")
            raise NoChroma(f"The memory's vectors cannot be used: {str(error)[:300]}") from error

    async def _open(self) -> None:
        mark = self._store.mark
        found = await self._pool.run(self._vectors.open, mark)
        if found != mark or await self._pool.run(lambda: self._vectors.is_fresh):
            self._store.forget_vectors()
        self._opened = True


def _by_place(
    memories: Sequence[Memory], vectors: Sequence[Sequence[float]]
) -> dict[tuple[str, str], list[tuple[Memory, Sequence[float]]]]:
    out: dict[tuple[str, str], list[tuple[Memory, Sequence[float]]]] = {}
    for memory, vector in zip(memories, vectors, strict=True):
        out.setdefault((memory.user_id, memory.kind), []).append((memory, vector))
    return out
