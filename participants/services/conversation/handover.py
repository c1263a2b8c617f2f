"""What does a process get together with a turn, and who gets one unasked?"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog

from bus.messages.ledger import TurnClaimed
from participants.services.conversation import ledger, texts
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.errors import StorageError
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.store import Store

log = structlog.get_logger()


class Handover:
    """Puts together what the prompt needs."""

    def __init__(self, store: Store, keeper: Keeper, rules: Callable[[], ConversationConfig]) -> None:
        self._store, self._keeper, self._rules = store, keeper, rules

    def of(self, turn: OpenTurn) -> TurnClaimed:
        """What the holder of a turn gets."""
        history, read = texts.fitting(self._store.branch(turn), self._keeper.history_chars)
        return TurnClaimed(
            fence=turn.fence,
            attempt=turn.attempt,
            lease_s=self._rules().lease_s,
            query=turn.query,
            created_at=turn.created_at,
            model=turn.model,
            persona=turn.persona,
            history=history,
            steps=self._store.steps(turn.ref.query_id),
            left_out=0 if read is None else turn.depth - read,
        )

    def grant(self, turn: OpenTurn) -> tuple[OpenTurn, TurnClaimed | None]:
        """A new turn, held already where one process answers and it can start at once; not saved yet.

        What is read for it is read before the turn is accepted: where that fails, it is accepted all the same.
        """
        holder = self._keeper.answerers.only
        if holder is None or not self._keeper.starts_at_once(turn):
            return turn, None
        granted = ledger.granted(turn, holder, self._keeper.now, self._rules())
        try:
            return granted, self.of(granted)
        except (StorageError, msgspec.MsgspecError) as error:
            log.error("not_granted", reason=str(error), query_id=turn.ref.query_id)
            return turn, None
