"""What does a process get together with a turn, and who gets one unasked?"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog

from bus.messages.ledger import Summary, TurnClaimed
from participants.services.conversation import branches, ledger, summary_rows, texts
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.store import Store
from participants.services.sqlite.errors import StorageError

log = structlog.get_logger()


class Handover:
    """Puts together what the prompt needs."""

    def __init__(self, store: Store, keeper: Keeper, rules: Callable[[], ConversationConfig]) -> None:
        self._store, self._keeper, self._rules = store, keeper, rules

    def of(self, turn: OpenTurn) -> TurnClaimed:
        """What the holder of a turn gets."""
        summary = self._summary(turn)
        upto, summed_up = (summary.upto, summary.turns) if summary else ("", 0)
        room = self._keeper.history_chars
        history, read = texts.fitting(self._store.branch(turn.parent_id, upto), room)
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
            left_out=0 if read is None else turn.depth - summed_up - read,
            summary=summary,
            incognito=turn.incognito,
        )

    def _summary(self, turn: OpenTurn) -> Summary | None:
        """What stands for the oldest turns before `turn`. Most sessions have no summary, and need no look at more."""
        summaries = self._store.summaries.of_session(turn.ref.session_id)
        if not summaries:
            return None
        line = branches.line(self._store.links(turn.ref.session_id), turn.parent_id) if turn.parent_id else []
        return summary_rows.newest(line, summaries)

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
