"""What is kept, changed and forgotten, and for whom?"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections.abc import Callable, Sequence

import structlog
from msgspec.structs import replace

from bus import envelope as wire
from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.memory import (
    DeleteAllMemories,
    DeleteMemory,
    EditMemory,
    FactKept,
    ForgetTurns,
    ImportMemories,
    KeepEngram,
    KeepInsight,
    MemoriesTaken,
    Memory,
    MemoryPage,
    RememberFact,
    UpdateEngram,
    UserContextUpdated,
)
from participants.backend.embed import NoVectors
from participants.services.memory_store import agreeing, checks, entities, facts, ranking
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.meaning import Meaning, NoChroma
from participants.services.memory_store.store import Store

log = structlog.get_logger()
_COMPARE_S = 1.0
"""How long a fact may be compared by meaning with those that there are, before it is kept as it is."""
_SWEEP_S = 5.0
_MOST_FACTS = 1000
_ID = re.compile(r"[fei]-[0-9a-f]{24}")


class Keeping:
    """Requests that change something.

    Args:
        store: The record.
        meaning: The vectors.
        bus: Where a change of somebody's facts is told.
        config: memory_store.yaml as it is now.
        written: Called after each change: vectors may be missing, or have to go.
    """

    def __init__(
        self,
        store: Store,
        meaning: Meaning,
        bus: BusClient,
        config: Callable[[], MemoryStoreConfig],
        written: Callable[[], None],
    ) -> None:
        self._store, self._meaning, self._bus, self._config, self._written = store, meaning, bus, config, written
        self._one_fact = asyncio.Lock()

    # ------------------------------------------------------------------ facts

    async def remember(self, message: RememberFact, request: Envelope) -> FactKept:
        """Pin a fact; one that says the same gives way to it."""
        user_id = checks.user(request)
        self._allowed()
        wanted = checks.kept(Memory(memory_id="", user_id=user_id, kind="fact", text=message.fact))
        async with self._one_fact:  # between comparing and keeping nobody keeps the same
            known = self._store.of_kind(user_id, "fact")
            same = await self._same(known, wanted.text)
            if same is None and len(known) >= _MOST_FACTS:
                raise RequestFailed("too_many", f"{_MOST_FACTS} facts are pinned: delete some first.")
            fact = self._pinned(same, wanted, message, request)
        self._changed(user_id)
        return FactKept(fact_id=fact.memory_id, fact=fact.text, merged=same is not None)

    def _pinned(self, same: Memory | None, wanted: Memory, message: RememberFact, request: Envelope) -> Memory:
        now = wire.now_utc()
        fact = replace(
            same or replace(wanted, memory_id=_new_id("f"), created_at=now),
            text=wanted.text,
            reason=checks.clean(message.reason) or (same.reason if same else ""),
            entities=entities.names(wanted.text),
            session_id=request.session_id,
            query_id=request.query_id,
            updated_at=now,
        )
        if same is None:
            self._store.add(fact)
        else:
            self._store.replace(fact)
        return fact

    async def _same(self, known: Sequence[Memory], text: str) -> Memory | None:
        """The fact that says the same; in other words only where that can be told in time."""
        found = facts.same_words(known, text)
        if found is not None or not known:
            return found
        try:
            async with asyncio.timeout(_COMPARE_S):
                model, vector = await self._meaning.embed(text)
                ids = [fact.memory_id for fact in known]
                vectors = await self._meaning.of(known[0].user_id, "fact", [model], ids)
                return facts.same_meaning(known, text, vector, vectors)
        except (TimeoutError, NoVectors, NoChroma) as error:
            log.info("not_compared", reason=str(error) or "too slow")
            return None

    # ------------------------------------------------------------------ engrams and insights

    def keep_engram(self, message: KeepEngram, request: Envelope) -> Done:
        """Keep what a turn was about. One that is kept stays as it is: its user may have put it in other words."""
        user_id, query_id = checks.user(request), checks.turn(request)
        if not self._config().write_enabled or self._store.is_forgotten(user_id, query_id):
            return Done()
        wanted = checks.kept(replace(message.engram, kind="engram"))
        if self._store.of_turn(user_id, query_id) is not None:
            return Done()
        now = wire.now_utc()
        engram = replace(
            wanted,
            memory_id=_id_of("e", user_id, query_id),
            user_id=user_id,
            session_id=request.session_id,
            query_id=query_id,
            created_at=wanted.created_at or now,
            updated_at=now,
            entities=wanted.entities or entities.names(ranking.said(wanted)),
            shared=False,
        )
        self._store.add(engram)
        self._written()
        return Done()

    def update_engram(self, message: UpdateEngram, request: Envelope) -> Done:
        """Change what is known of a turn's engram."""
        user_id, query_id = checks.user(request), checks.turn(request)
        before = self._store.of_turn(user_id, query_id)
        if before is None:
            raise checks.not_found()
        reworded = message.instead_of is not None and checks.clean(message.instead_of) != before.text
        if reworded or not self._config().write_enabled:
            return Done()
        changes = {name: getattr(message, name) for name in ("text", "intent", "entities", "critic_score", "sentiment")}
        changed = replace(before, **{name: value for name, value in changes.items() if value is not None})
        self._save(replace(checks.kept(changed), updated_at=wire.now_utc()), before)
        return Done()

    def _save(self, engram: Memory, before: Memory) -> None:
        """Save a change. An insight that rests on it goes where its words are others, or it is not good enough."""
        self._store.replace(engram)
        self._drop_stale_insights(before, engram)
        self._written()

    def _drop_stale_insights(self, before: Memory, engram: Memory) -> None:
        made_of_it = self._store.get(engram.user_id, self._store.insights_of([engram.memory_id]))
        reworded = ranking.said(before) != ranking.said(engram)
        stale = [one for one in made_of_it if reworded or not self._still_agree(one)]
        if stale:
            self._store.delete(stale, never_again=False)

    def _still_agree(self, insight: Memory) -> bool:
        return agreeing.is_enough(self._store.get(insight.user_id, insight.sources))

    def keep_insight(self, message: KeepInsight, request: Envelope) -> Done:
        """Keep what several engrams have in common."""
        user_id = checks.user(request)
        if not self._config().write_enabled:
            return Done()
        sources = [one for one in self._store.get(user_id, message.sources) if one.kind == "engram"]
        if len(sources) < len(set(message.sources)):
            raise checks.not_found()
        now = wire.now_utc()
        insight = checks.kept(
            Memory(
                memory_id=_new_id("i"),
                user_id=user_id,
                kind="insight",
                text=message.text,
                created_at=now,
                updated_at=now,
                sources=[one.memory_id for one in sources],
                untrusted=any(one.untrusted for one in sources),
            )
        )
        insight = replace(insight, entities=entities.names(insight.text))
        self._store.add_insight(insight, self._store.insights_of(insight.sources))
        self._written()
        return Done()

    # ------------------------------------------------------------------ by hand

    def edit(self, message: EditMemory, request: Envelope) -> MemoryPage:
        """Put a memory in other words, or share it."""
        user_id = checks.user(request)
        before = self._own(user_id, message.memory_id)
        if message.shared and not self._config().collective:
            raise RequestFailed(
                "refused",
                "Sharing is off here: the owner of this machine turns it on in memory_store.yaml (collective).",
            )
        text = before.text if message.text is None else message.text
        changed = checks.kept(replace(before, text=text, updated_at=wire.now_utc()))
        changed = replace(
            changed,
            shared=before.shared if message.shared is None else message.shared,
            entities=before.entities if changed.text == before.text else entities.names(ranking.said(changed)),
        )
        self._save(changed, before)
        if changed.kind == "fact":
            self._changed(user_id)
        return MemoryPage(memories=[changed], total=1)

    async def delete(self, message: DeleteMemory, request: Envelope) -> Done:
        """Forget one memory. A fact takes the turn along in which it was told: that says it, too."""
        user_id = checks.user(request)
        memory = self._own(user_id, message.memory_id)
        told = self._store.of_turn(user_id, memory.query_id) if memory.kind == "fact" and memory.query_id else None
        await self._forget([memory, *([told] if told else [])], never_again=True)
        if memory.kind == "fact":
            self._changed(user_id)
        return Done()

    async def delete_all(self, _message: DeleteAllMemories, request: Envelope) -> Done:
        """Forget all of one user."""
        user_id = checks.user(request)
        await self._forget(self._store.of_user(user_id), never_again=True)
        self._changed(user_id)
        return Done()

    async def forget_turns(self, message: ForgetTurns, request: Envelope) -> Done:
        """Forget what comes from deleted turns. Pinned facts stay: they were kept by hand, and go by hand."""
        user_id = checks.user(request)
        found = self._store.of_turns(user_id, request.session_id, message.query_ids)
        await self._forget(found, never_again=True)
        return Done()

    async def _forget(self, memories: Sequence[Memory], *, never_again: bool) -> None:
        if not memories:
            return
        self._store.delete(memories, never_again=never_again)
        self._meaning.forget_questions()
        self._store.checkpoint(truncate=True)
        try:
            async with asyncio.timeout(_SWEEP_S):
                await self._meaning.sweep()
        except (TimeoutError, NoChroma) as error:  # what has no row is not found, and is taken out later
            log.warning("vectors_left", reason=str(error) or "too slow")
        self._written()

    def take_in(self, message: ImportMemories, request: Envelope) -> MemoriesTaken:
        """Take memories of an export in."""
        user_id = checks.user(request)
        self._allowed()
        wanted = [self._taken(memory, user_id) for memory in message.memories]
        known = {facts.plain(fact.text) for fact in self._store.of_kind(user_id, "fact")}
        new = [one for one in wanted if one.kind != "fact" or facts.plain(one.text) not in known]
        added = self._store.add_missing(new)
        self._changed(user_id)
        return MemoriesTaken(added=added, known=len(wanted) - added)

    def _taken(self, memory: Memory, user_id: str) -> Memory:
        """As it is kept for this user: an id that is another's becomes one of their own."""
        now = wire.now_utc()
        return replace(
            checks.imported(memory),
            memory_id=self._free_id(memory, user_id),
            user_id=user_id,
            sources=[
                self._free_id(replace(memory, memory_id=one, kind="engram", query_id=""), user_id)
                for one in memory.sources
            ],
            created_at=memory.created_at or now,
            updated_at=memory.updated_at or now,
        )

    def _free_id(self, memory: Memory, user_id: str) -> str:
        if memory.kind == "engram" and memory.query_id:
            return _id_of("e", user_id, memory.query_id)
        is_own = _ID.fullmatch(memory.memory_id) and self._store.owner_of(memory.memory_id) in ("", user_id)
        return memory.memory_id if is_own else _id_of(memory.kind[0], user_id, memory.memory_id)

    # ------------------------------------------------------------------ what they share

    def _own(self, user_id: str, memory_id: str) -> Memory:
        found = self._store.get(user_id, [memory_id])
        if not found:
            raise checks.not_found()
        return found[0]

    def _allowed(self) -> None:
        if not self._config().write_enabled:
            raise RequestFailed("refused", "Nothing is kept: memory_store.yaml says so (write_enabled).")

    def _changed(self, user_id: str) -> None:
        self._bus.publish(UserContextUpdated(), turn=TurnRef("", user_id))
        self._written()


def _new_id(prefix: str) -> str:
    return f"{prefix}-{secrets.token_hex(12)}"


def _id_of(prefix: str, user_id: str, name: str) -> str:
    """An id that the same user and name always get."""
    found = hashlib.sha256(f"{user_id}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{prefix}-{found[:24]}"
