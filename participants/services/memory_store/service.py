"""Who may ask the memory's store for what, and what is the answer?

memory.db is the record, Chroma holds vectors of it. A request is refused where it cannot be done; what was answered
with success is saved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec
import structlog

from bus import paths
from bus.config import Section, load
from bus.envelope import Envelope
from bus.errors import RequestFailed
from bus.messages.base import Message
from bus.messages.control import Backend, BackendChanged, BackendRequest
from bus.messages.memory import (
    DeleteAllMemories,
    DeleteMemory,
    EditMemory,
    FindAgreeing,
    ForgetTurns,
    GetMemories,
    GetMemoryStatus,
    ImportMemories,
    KeepEngram,
    KeepInsight,
    ListMemories,
    MemoryStatus,
    Recall,
    RememberFact,
    SearchMemory,
    UpdateEngram,
    UserContextRequest,
)
from participants.backend.embed import Embedder
from participants.models import ModelsConfig
from participants.nudged import Nudged
from participants.services.base import BaseService
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.keeping import Keeping
from participants.services.memory_store.looking import Looking
from participants.services.memory_store.meaning import Meaning, NoChroma
from participants.services.memory_store.recall import Recaller
from participants.services.memory_store.store import Store
from participants.services.memory_store.vectors import Vectors
from participants.services.sqlite.errors import SchemaTooNew, StorageError

log = structlog.get_logger()
M = TypeVar("M", bound=Message)
_OPEN_AGAIN_S = 1.0
_EMBEDDED_S = 5.0
_LARGE: frozenset[type[Message]] = frozenset({Recall, SearchMemory, ListMemories, GetMemories, FindAgreeing})
"""Their answers may be long, and giving them again is harmless."""


class MemoryService(BaseService):
    """The memory's store."""

    CONFIG_NAME: ClassVar[str] = "memory_store"
    Config: ClassVar[type[Section]] = MemoryStoreConfig
    ALSO_READS: ClassVar[tuple[str, ...]] = ("models",)
    config: MemoryStoreConfig

    # ------------------------------------------------------------------ life

    async def setup(self) -> None:
        """Open the record, and answer.

        Raises:
            SchemaTooNew: A newer version wrote it.
        """
        self._models = load("models", ModelsConfig)
        self._closed = False
        self._unusable: StorageError | None = None
        self._open_again_at = 0.0
        self._said = MemoryStatus()
        self.store = Store(paths.data_dir() / "memory.db")
        self._embedder = Embedder(lambda: self._models, self._embedded)
        vectors = Vectors(self._chroma_folder(), self.config.chroma_url)
        pool = self.add_pool("chroma", 1)
        self.meaning = Meaning(self.store, vectors, pool, self._embedder, self._tell)
        self._vectorising = Nudged(self.meaning.some, "vectors", again_s=10.0)
        recaller = Recaller(self.store, self.meaning, lambda: self.config)
        self._looking = Looking(self.store, self.meaning, recaller, lambda: self.config)
        self._keeping = Keeping(self.store, self.meaning, self.bus, lambda: self.config, self._vectorising.nudge)
        self._try_to_open()
        self._serve_all()
        self.bus.on(BackendChanged, lambda _message, _envelope: self._look_again())

    async def started(self) -> None:
        """Make the vectors that are missing."""
        self.spawn(self._vectorising.run(), name="vectors")
        if self._unusable is None:
            self._vectorise_if_needed()
        else:
            note = str(self._unusable)
            asyncio.get_running_loop().call_soon(lambda: self._announce(self.state, note))

    def _vectorise_if_needed(self) -> None:
        """With nothing remembered, no model has to be looked for."""
        if self.store.total() or self.store.doomed(1):
            self._vectorising.nudge()

    def reconfigured(self, before: Any) -> None:
        """Another embedding model may be wanted now. Where the vectors lie is read at the start alone."""
        self._models = load("models", ModelsConfig)
        self._look_again()
        self._tell(self._said.message)

    def _look_again(self) -> None:
        self._embedder.forget()
        if self.store.is_open:
            self._vectorise_if_needed()

    async def farewell(self) -> None:
        """Close the record. What is asked from now on is for our successor: an asker without an answer asks again."""
        self._closed = True
        await self._embedder.close()
        self.store.close()

    def _chroma_folder(self) -> Path:
        chosen = self.config.chroma_path
        return Path(chosen).expanduser() if chosen else paths.data_dir() / "memory"

    async def _embedded(self) -> Backend:
        return await self.bus.request(BackendRequest(), Backend, timeout_s=_EMBEDDED_S)

    # ------------------------------------------------------------------ answering

    def _serve_all(self) -> None:
        self._answer(Recall, self._looking.recall)
        self._answer(SearchMemory, self._looking.search)
        self._answer(ListMemories, self._looking.list_)
        self._answer(GetMemories, self._looking.get)
        self._answer(UserContextRequest, self._looking.context)
        self._answer(FindAgreeing, self._looking.agreeing)
        self._answer(RememberFact, self._keeping.remember)
        self._answer(KeepEngram, self._keeping.keep_engram)
        self._answer(UpdateEngram, self._keeping.update_engram)
        self._answer(KeepInsight, self._keeping.keep_insight)
        self._answer(EditMemory, self._keeping.edit)
        self._answer(DeleteMemory, self._keeping.delete)
        self._answer(DeleteAllMemories, self._keeping.delete_all)
        self._answer(ForgetTurns, self._keeping.forget_turns)
        self._answer(ImportMemories, self._keeping.take_in)
        self._answer(GetMemoryStatus, self._status_asked)

    def _answer(self, kind: type[M], decide: Callable[[M, Envelope], Message | Awaitable[Message]]) -> None:
        async def answer(message: M, request: Envelope) -> Message:
            if self._closed:  # for our successor: who asked will ask again
                await asyncio.get_running_loop().create_future()
            return await self._decided(decide, message, request)

        self.bus.serve(kind, answer, remember=kind not in _LARGE)

    async def _decided(
        self, decide: Callable[[M, Envelope], Message | Awaitable[Message]], message: M, request: Envelope
    ) -> Message:
        try:
            self._ensure_open()
            decision = decide(message, request)
            return await decision if isawaitable(decision) else decision
        except (StorageError, NoChroma) as error:
            log.error("storage_failed", reason=str(error), subject=request.subject)
            raise RequestFailed("storage", str(error)) from error
        except msgspec.MsgspecError as error:
            log.error("record_unreadable", reason=str(error), subject=request.subject)
            raise RequestFailed("storage", f"A saved record cannot be read: {error}") from error
        except (OverflowError, UnicodeEncodeError, RecursionError) as error:
            raise RequestFailed("bad_request", f"A value cannot be stored: {error}") from error

    def _ensure_open(self) -> None:
        if self.store.is_open:
            return
        if asyncio.get_running_loop().time() >= self._open_again_at:
            self._try_to_open(again=True)
        if self._unusable is not None:
            raise self._unusable

    def _try_to_open(self, *, again: bool = False) -> None:
        self._open_again_at = asyncio.get_running_loop().time() + _OPEN_AGAIN_S
        try:
            self.store.open()
            self._unusable = None
        except SchemaTooNew as error:
            if not again:
                raise
            self._unusable = StorageError(str(error))
        except StorageError as error:
            self._unusable = error
            log.error("storage_failed", reason=str(error))
        if again and self._unusable is None:
            self._announce(self.state)
            self._vectorising.nudge()

    # ------------------------------------------------------------------ status

    def _status_asked(self, _message: GetMemoryStatus, _request: Envelope) -> MemoryStatus:
        return self._status(self._said.message)

    def _tell(self, message: str) -> None:
        """Publish the state where it is another one."""
        status = self._status(message)
        if status != self._said:
            self._said = status
            self.bus.publish(status)

    def _status(self, message: str) -> MemoryStatus:
        model = self.meaning.model
        waiting, moving = self.store.count_pending(model) if self.store.is_open else (0, 0)
        total = self.store.total() if moving else 0
        return MemoryStatus(
            model=model,
            dimensions=self.meaning.dimensions,
            message=message,
            reembedded=total - moving - waiting if moving else 0,
            reembedding=total,
            waiting=waiting,
            write_enabled=self.config.write_enabled,
            collective=self.config.collective,
        )
