"""What may the process do that answers a turn?"""

from __future__ import annotations

from collections.abc import Callable

from bus.envelope import Envelope
from bus.fault_points import FaultPoint, reached
from bus.messages.control import Done
from bus.messages.ledger import (
    ClaimTurn,
    FinishTurn,
    JournalStep,
    JournalTurn,
    ReleaseTurn,
    TurnClaimed,
    TurnHeld,
)
from participants.services.conversation import checks, ledger
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.handover import Handover
from participants.services.conversation.keeper import Keeper
from participants.services.conversation.ledger import Holder, OpenTurn
from participants.services.conversation.store import SavedTurn, Store


class Holding:
    """Requests of those who answer. The fence is their right to write; a user_id is checked where they give one."""

    def __init__(
        self, store: Store, keeper: Keeper, handover: Handover, rules: Callable[[], ConversationConfig]
    ) -> None:
        self._store, self._keeper, self._handover, self._rules = store, keeper, handover, rules

    def claim(self, message: ClaimTurn, request: Envelope) -> TurnClaimed:
        """Give a turn to a holder, with all that the prompt needs."""
        checks.holder(message)
        self._keeper.settle(request.query_id, self._keeper.now)  # a lease may be over that no timer has seen yet
        turn = self._open_turn(request, "ended")
        holder = Holder(message.holder, message.pid, message.name)
        taken = ledger.claim(turn, holder, self._keeper.now, self._rules())
        claimed = self._handover.of(taken)
        if taken.fence != turn.fence:
            self._store.update(taken)
        reached(FaultPoint.TURN_CLAIMED)
        self._keeper.put(taken)
        self._keeper.answerers.claimed(holder, takes_grants=message.takes_grants)
        return claimed

    def journal(self, message: JournalTurn, request: Envelope) -> TurnHeld:
        """Save the text so far."""
        turn = self.held_turn(request, message.fence)
        if message.answer is not None or message.thinking is not None:
            self._store.journal(turn, message.n, message.answer, message.thinking)
            reached(FaultPoint.TEXT_SAVED)
        return TurnHeld(cancelled=turn.cancelled)

    def step(self, message: JournalStep, request: Envelope) -> TurnHeld:
        """Save a step."""
        reached(FaultPoint.STEP_HEARD)
        turn = self.held_turn(request, message.fence)
        self._store.step(request.query_id, message.step)
        reached(FaultPoint.STEP_SAVED)
        return TurnHeld(cancelled=turn.cancelled)

    def finish(self, message: FinishTurn, request: Envelope) -> Done:
        """Save the end, once: the same fence again changes nothing."""
        reached(FaultPoint.END_HEARD)
        checks.end(message.end)
        if request.query_id not in self._keeper.turns:
            saved = self._ended_turn(request)
            if saved.fence == message.fence:
                return Done()
            raise checks.over(request.query_id, "ended")
        self._keeper.finish(self.held_turn(request, message.fence), message.end)
        reached(FaultPoint.END_SAVED)
        return Done()

    def release(self, message: ReleaseTurn, request: Envelope) -> Done:
        """Take a turn back, and offer it to others."""
        turn = self._open_turn(request, "conflict")
        if turn.holder is None and message.fence == turn.fence:
            return Done()
        now = self._keeper.now
        free = ledger.released(ledger.held(turn, message.fence), now, self._rules())
        self._store.update(free)
        self._keeper.put(free)
        self._keeper.settle(request.query_id, now)
        return Done()

    def held_turn(self, request: Envelope, fence: int) -> OpenTurn:
        """The turn, with its lease renewed: its holder lives, also where its text cannot be saved now."""
        turn = ledger.held(self._open_turn(request, "conflict"), fence)
        turn = ledger.renewed(turn, self._keeper.now, self._rules())
        self._keeper.put(turn)
        return turn

    def _open_turn(self, request: Envelope, code_when_over: str) -> OpenTurn:
        turn = self._keeper.turns.get(request.query_id)
        if turn is None:
            self._ended_turn(request)
            raise checks.over(request.query_id, code_when_over)
        if request.user_id:
            checks.owner(turn.ref, request)
        return turn

    def _ended_turn(self, request: Envelope) -> SavedTurn:
        saved = self._store.turn(request.query_id)
        if saved is None:
            raise checks.no_turn(request.query_id)
        if request.user_id:
            checks.owner(saved.ref, request)
        return saved
