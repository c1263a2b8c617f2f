"""What happens to a request for approval: opened, decided, taken, or too late?

The first answer counts, once, and for exactly the call that was shown. Its time runs by the wall clock, so
that it expires also while nothing of ours runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Literal

from msgspec.structs import replace

from bus import envelope as wire
from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.approval import (
    Approval,
    ApprovalRequest,
    ApprovalResult,
    DecideApproval,
    GetApproval,
    OpenApproval,
    TakeApproval,
)
from bus.messages.control import Done
from participants.services.conversation import checks, ledger
from participants.services.conversation.approval_rows import SavedApproval
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.holding import Holding
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.ledger import OpenTurn
from participants.services.conversation.store import Store


class Approvals:
    """Requests about approvals, of those who answer turns and of those who ask.

    Args:
        store: Where they are saved, before anything is said.
        keeper: The open turns.
        holding: Who may write to a turn.
        bus: For telling.
        rules: The settings as they are now.
    """

    def __init__(
        self, store: Store, keeper: Keeper, holding: Holding, bus: BusClient, rules: Callable[[], ConversationConfig]
    ) -> None:
        self._store, self._keeper, self._holding, self._bus, self._rules = store, keeper, holding, bus, rules
        keeper.expire = self.expire

    # ------------------------------------------------------------------ of those who answer

    def open(self, message: OpenApproval, request: Envelope) -> Approval:
        """Ask the user, or give what was answered; the turn waits while anything is open."""
        checks.approval(message)
        turn = self._holding.held_turn(request, message.fence)
        saved = self._known(message, request.query_id) or self._add(message, request.query_id)
        if saved.state == "open":
            until = self._keeper.now + saved.expires_at - time.time()
            self._move(ledger.asked(turn, saved.approval_id, until))
            self._bus.publish(ApprovalRequest(approval=saved.info), turn=turn.ref)
        return _as_answer(saved, turn.ref)

    def _known(self, message: OpenApproval, query_id: str) -> SavedApproval | None:
        saved = self._store.approvals.get(message.approval_id)
        if saved is not None and _call_of(saved, saved.query_id) != _call_of(message, query_id):
            raise RequestFailed("conflict", f"{message.approval_id!r} is the id of another call's approval.")
        return saved

    def _add(self, message: OpenApproval, query_id: str) -> SavedApproval:
        now = time.time()
        saved = SavedApproval(
            approval_id=message.approval_id,
            query_id=query_id,
            call_id=message.call_id,
            tool=message.tool,
            args=message.args,
            reason=message.reason,
            opened_at=now,
            expires_at=now + self._rules().approval_s,
        )
        replaced = [known for known in self._store.approvals.of_turn(query_id) if _replaces(saved, known)]
        self._store.approvals.add(saved)
        turn = self._keeper.turns[query_id]
        self._keeper.put(ledger.answered(turn, [known.approval_id for known in replaced]))
        self._tell(replaced, "void", turn.ref)
        return saved

    def take(self, message: TakeApproval, request: Envelope) -> Done:
        """Use up what was approved: once, and before the call is sent."""
        self._holding.held_turn(request, message.fence)
        saved = self._store.approvals.get(message.approval_id)
        if saved is None or saved.query_id != request.query_id:
            raise _unknown(message.approval_id)
        if saved.state == "approved":
            self._store.approvals.take(saved.approval_id, message.fence)
        elif (saved.state, saved.fence) != ("taken", message.fence):
            raise RequestFailed("not_approved", f"This call is not approved: its approval is {saved.state}.")
        return Done()

    # ------------------------------------------------------------------ of those who ask

    def decide(self, message: DecideApproval, request: Envelope) -> Approval:
        """The user's answer; one that comes second or too late changes nothing, and learns what stands."""
        saved, ref = self._own(message.approval_id, request)
        if saved.state == "open":
            in_time = time.time() < saved.expires_at
            saved = self._answer([saved], ("approved" if message.approved else "denied") if in_time else "expired")[0]
        return _as_answer(saved, ref)

    def get(self, message: GetApproval, request: Envelope) -> Approval:
        """A request as it stands."""
        return _as_answer(*self._own(message.approval_id, request))

    def _own(self, approval_id: str, request: Envelope) -> tuple[SavedApproval, TurnRef]:
        saved = self._store.approvals.get(approval_id)
        turn = self._store.turn(saved.query_id) if saved is not None else None
        if saved is None or turn is None or turn.ref.user_id != request.user_id:
            raise _unknown(approval_id)
        return saved, turn.ref

    # ------------------------------------------------------------------ time

    def expire(self, turn: OpenTurn, now: float) -> None:
        """Nobody answered in time, which is a no.

        Raises:
            StorageError: It could not be saved; the request is still open.
        """
        late = ledger.late(turn, now)
        of_turn = self._store.approvals.of_turn(turn.ref.query_id)
        self._answer([saved for saved in of_turn if saved.approval_id in late], "expired")

    # ------------------------------------------------------------------ common

    def _answer(
        self, open_ones: list[SavedApproval], state: Literal["approved", "denied", "expired"]
    ) -> list[SavedApproval]:
        ids = [saved.approval_id for saved in open_ones]
        self._store.approvals.answer(ids, state)
        for query_id in dict.fromkeys(saved.query_id for saved in open_ones):
            turn = self._keeper.turns[query_id]
            self._tell(open_ones, state, turn.ref)
            self._move(ledger.answered(turn, ids))
        return [replace(saved, state=state) for saved in open_ones]

    def _tell(
        self, approvals: Iterable[SavedApproval], state: Literal["approved", "denied", "expired", "void"], ref: TurnRef
    ) -> None:
        for saved in approvals:
            result = ApprovalResult(approval_id=saved.approval_id, call_id=saved.call_id, tool=saved.tool, state=state)
            self._bus.publish(result, turn=ref)

    def _move(self, turn: OpenTurn) -> None:
        """Save where the turn is, and let others begin while it waits."""
        before = self._keeper.turns[turn.ref.query_id]
        self._keeper.put(turn)
        if before.state is not turn.state:
            self._store.update(turn)
            self._keeper.advance()


def _call_of(call: SavedApproval | OpenApproval, query_id: str) -> tuple[str, str, str, bytes]:
    return query_id, call.call_id, call.tool, bytes(wire.encode_payload(call.args))


def _as_answer(saved: SavedApproval, ref: TurnRef) -> Approval:
    return Approval(approval=saved.info, session_id=ref.session_id, query_id=ref.query_id)


def _replaces(new: SavedApproval, known: SavedApproval) -> bool:
    return (known.call_id, known.state) == (new.call_id, "open")


def _unknown(approval_id: str) -> RequestFailed:
    """There is none, or it is another user's: who asks cannot tell which."""
    return RequestFailed("not_found", f"There is no request for approval {approval_id[:200]!r}.")
