"""Who may ask the turn ledger for what, and what is the answer?

Each answer is made without a pause between decision, commit and publication, so requests cannot get
between one another. What is said on the bus was committed before.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import msgspec
import structlog

from bus import paths
from bus.config import Section
from bus.envelope import Envelope
from bus.errors import RequestFailed, RequestTimeout
from bus.messages.approval import DecideApproval, GetApproval, OpenApproval, TakeApproval
from bus.messages.base import Message
from bus.messages.control import OpsProcess, Presence, PresenceRequest
from bus.messages.generation import GeneratorStatus, GetStatus
from bus.messages.ledger import (
    ClaimTurn,
    CreateSession,
    DeleteSession,
    DeleteTurn,
    FinishTurn,
    FollowedDeletion,
    GetSession,
    GetTurn,
    GradeTurn,
    IngestedTurn,
    JournalStep,
    JournalTurn,
    ListSessions,
    OverdueDeletions,
    OverdueTurns,
    ReleaseTurn,
    RenameSession,
    SaveSummary,
    SearchTurns,
    SetPersona,
    ShowBranch,
    SummariseTurns,
    VoteTurn,
)
from bus.messages.query import CancelTurn, SubmitTurn
from participants.services.base import BaseService
from participants.services.conversation.approvals import Approvals
from participants.services.conversation.asking import Asking
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.handover import Handover
from participants.services.conversation.holders import Holders
from participants.services.conversation.holding import Holding
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.sessions import SessionRequests
from participants.services.conversation.stages import Stages
from participants.services.conversation.store import Store
from participants.services.conversation.summaries import Summaries
from participants.services.sqlite.errors import SchemaTooNew, StorageError

log = structlog.get_logger()
M = TypeVar("M", bound=Message)
_OPEN_AGAIN_S = 1.0
_LARGE: frozenset[type[Message]] = frozenset(
    {ClaimTurn, GetSession, GetTurn, ListSessions, OverdueDeletions, OverdueTurns, ShowBranch, SummariseTurns}
)
"""Their answers hold whole conversations, and giving them again is harmless."""


class ConversationService(BaseService):
    """The turn ledger."""

    CONFIG_NAME: ClassVar[str] = "conversation"
    Config: ClassVar[type[Section]] = ConversationConfig
    config: ConversationConfig

    # ------------------------------------------------------------------ life

    async def setup(self) -> None:
        """Open the store, take over what is open, and answer.

        Raises:
            SchemaTooNew: A newer version wrote the store.
        """
        self.store = Store(paths.data_dir() / "conversations.db")
        self.keeper = Keeper(self.store, self.bus, lambda: self.config)
        self.holders = Holders(self.keeper)
        handover = Handover(self.store, self.keeper, lambda: self.config)
        self._asking = Asking(self.store, self.keeper, handover, lambda: self.config)
        self._holding = Holding(self.store, self.keeper, handover, lambda: self.config)
        self._sessions = SessionRequests(self.store, self.keeper, self.bus)
        self._approvals = Approvals(self.store, self.keeper, self._holding, self.bus, lambda: self.config)
        self._stages = Stages(self.store, self.bus)
        self._summaries = Summaries(self.store, self.keeper, self.bus)
        self._closed = False
        self._unusable: StorageError | None = None
        self._open_again_at = 0.0
        self._try_to_open()
        self._serve_all()
        self.bus.on(OpsProcess, self.holders.on_process)
        self.bus.on(Presence, self.holders.on_presence)
        self.bus.on(GeneratorStatus, self.holders.on_status)

    async def started(self) -> None:
        """Say it where the store cannot be used; we keep running, and try again with each request."""
        if self._unusable is not None:
            note = str(self._unusable)
            asyncio.get_running_loop().call_soon(lambda: self._announce(self.state, note))

    def linked(self) -> None:
        """Offer what is open, and ask who is there and how much may be open at once."""
        self.keeper.resume()
        self.bus.publish(PresenceRequest())
        self.spawn(self._ask_how_many(), name="ask how many turns at once")

    async def _ask_how_many(self) -> None:
        with contextlib.suppress(RequestTimeout, RequestFailed):
            status = await self.bus.request(GetStatus(), GeneratorStatus)
            self.keeper.answerer_says(status)

    def reconfigured(self, before: Any) -> None:
        """More turns may run at once now."""
        self.keeper.advance()

    async def drain(self) -> None:
        """Stay while holders that stop as well hand back or finish what they have."""
        await self.holders.let_go(self.config.drain_grace_s)

    async def farewell(self) -> None:
        """Close the store. What is asked from now on is for our successor: an asker without an answer asks again."""
        self._closed = True
        self.keeper.stop()
        self.store.close()

    def _serve_all(self) -> None:
        self._answer(SubmitTurn, self._asking.submit)
        self._answer(CancelTurn, self._asking.cancel)
        self._answer(ClaimTurn, self._holding.claim)
        self._answer(JournalTurn, self._holding.journal)
        self._answer(JournalStep, self._holding.step)
        self._answer(FinishTurn, self._holding.finish)
        self._answer(ReleaseTurn, self._holding.release)
        self._answer(OpenApproval, self._approvals.open)
        self._answer(TakeApproval, self._approvals.take)
        self._answer(DecideApproval, self._approvals.decide)
        self._answer(GetApproval, self._approvals.get)
        self._answer(CreateSession, self._sessions.create)
        self._answer(GetSession, self._sessions.get)
        self._answer(ListSessions, self._sessions.list_)
        self._answer(SearchTurns, self._sessions.search)
        self._answer(RenameSession, self._sessions.rename)
        self._answer(SetPersona, self._sessions.set_persona)
        self._answer(ShowBranch, self._sessions.show)
        self._answer(DeleteTurn, self._sessions.delete_turn)
        self._answer(DeleteSession, self._sessions.delete)
        self._answer(GetTurn, self._sessions.turn)
        self._answer(OverdueTurns, self._stages.overdue)
        self._answer(GradeTurn, self._stages.grade)
        self._answer(IngestedTurn, self._stages.ingested)
        self._answer(VoteTurn, self._stages.vote)
        self._answer(OverdueDeletions, self._stages.deletions)
        self._answer(FollowedDeletion, self._stages.followed)
        self._answer(SummariseTurns, self._summaries.to_summarise)
        self._answer(SaveSummary, self._summaries.save)

    def _answer(self, kind: type[M], decide: Callable[[M, Envelope], Message]) -> None:
        def answer(message: M, request: Envelope) -> Message | None:
            if self._closed:
                return None  # for our successor: who asked will ask again
            try:
                self._ensure_open()
                decision = decide(message, request)
            except StorageError as error:
                log.error("storage_failed", reason=str(error), subject=request.subject)
                raise RequestFailed("storage", str(error)) from error
            except msgspec.MsgspecError as error:
                log.error("record_unreadable", reason=str(error), subject=request.subject)
                raise RequestFailed("storage", f"A saved record cannot be read: {error}") from error
            except (OverflowError, UnicodeEncodeError, RecursionError) as error:
                raise RequestFailed("bad_request", f"A value cannot be stored: {error}") from error
            self.holders.changed()
            return decision

        self.bus.serve(kind, answer, remember=kind not in _LARGE)

    def _ensure_open(self) -> None:
        if self.store.is_open:
            return
        if self.keeper.now >= self._open_again_at:
            self._try_to_open(again=True)
        if self._unusable is not None:
            raise self._unusable

    def _try_to_open(self, *, again: bool = False) -> None:
        self._open_again_at = self.keeper.now + _OPEN_AGAIN_S
        try:
            self.store.open()
            self.keeper.load()
            self._unusable = None
        except SchemaTooNew as error:
            if not again:
                raise
            self._unusable = StorageError(str(error))
        except StorageError as error:
            self.store.close()
            self._unusable = error
            log.error("storage_failed", reason=str(error))
        if again and self._unusable is None:
            self._announce(self.state)
            self.keeper.resume()
