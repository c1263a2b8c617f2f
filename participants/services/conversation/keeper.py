"""Which turns are open, and what happens to them as time passes?

Holds the open turns in memory, as the store has them, and does what ledger.py says is due. There is one
timer, set to the next deadline; with no open turn there is none.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog
from msgspec.structs import replace

from bus import envelope as wire
from bus.client import BusClient
from bus.envelope import TurnRef
from bus.messages.base import Message
from bus.messages.generation import AnswerDialog, CancelGeneration, GeneratorStatus, ResponseGeneration
from bus.messages.ledger import SessionChanged, TurnClaimed, TurnEnd, TurnGranted
from bus.messages.query import QueryReceived, TurnQueued
from participants.services.conversation import ledger, texts
from participants.services.conversation.answerers import Answerers
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.ledger import NEVER, Due, Holder, OpenTurn
from participants.services.conversation.states import State
from participants.services.conversation.store import Store
from participants.services.conversation.transitions import ENDS, after
from participants.services.sqlite.errors import StorageError

log = structlog.get_logger()
_STORE_AGAIN_S = 1.0
_TIDY_AFTER_S = 1.0


class Keeper:
    """The open turns.

    Args:
        store: Where they are saved; read and written before memory and bus.
        bus: Where they are offered.
        rules: The settings as they are now.
    """

    def __init__(self, store: Store, bus: BusClient, rules: Callable[[], ConversationConfig]) -> None:
        self.turns: dict[str, OpenTurn] = {}
        self.answerers = Answerers()
        self._store, self._bus, self._rules = store, bus, rules
        self._positions: dict[str, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._wake_at = NEVER
        self._tidy: asyncio.TimerHandle | None = None
        self._taken_at_once: int | None = None
        self._used_chars: int | None = None
        self.expire: Callable[[OpenTurn, float], None] = lambda _turn, _now: None
        """Called with a turn that has requests for approval which nobody answered in time."""

    @property
    def most_active(self) -> int:
        """How many turns may be answered at once: no more than whoever answers takes, or the rest would be given up."""
        limit = self._rules().max_active
        return limit if self._taken_at_once is None else min(limit, self._taken_at_once)

    @property
    def history_chars(self) -> int:
        """How much of a conversation is handed over: no more than whoever answers can use."""
        limit = self._rules().history_chars
        return limit if self._used_chars is None else min(limit, self._used_chars)

    def answerer_says(self, status: GeneratorStatus) -> None:
        """Whoever answers told how many turns it takes at once, and how much of a conversation it can use."""
        self._used_chars = status.history_chars
        if status.max_turns != self._taken_at_once:
            self._taken_at_once = status.max_turns
            self.advance()

    @property
    def now(self) -> float:
        """The monotonic clock that all deadlines are in."""
        return asyncio.get_running_loop().time()

    @property
    def idle(self) -> bool:
        """Whether nothing wakes this process up."""
        return self._timer is None and self._tidy is None

    def load(self) -> None:
        """Take over what an earlier process left open. Nothing is offered before `resume`."""
        now = self.now
        turns = {turn.ref.query_id: turn for turn in self._store.open_turns()}
        held = {key: replace(t, active=t.attempt > 0, told=t.attempt > 0) for key, t in turns.items()}
        wall = time.time()
        for asked in [asked for asked in self._store.approvals.open() if asked.query_id in held]:
            held[asked.query_id] = ledger.asked(held[asked.query_id], asked.approval_id, now + asked.expires_at - wall)
        for query_id in ledger.to_start(held, self.most_active):
            held[query_id] = replace(ledger.start(held[query_id], now, self._rules()), told=True)
        self.turns = held
        self._positions = ledger.positions(held)

    def resume(self) -> None:
        """The bus is there (again): offer at once what nobody has, and let nobody lose a turn for our silence."""
        now = self.now
        for query_id, turn in self.turns.items():
            self.turns[query_id] = ledger.recounted(turn, now, self._rules())
        self._settle_all(now)

    def stop(self) -> None:
        """No more timers."""
        for timer in (self._timer, self._tidy):
            if timer is not None:
                timer.cancel()

    # ------------------------------------------------------------------ changes

    def put(self, turn: OpenTurn) -> None:
        """Remember a changed turn."""
        self.turns[turn.ref.query_id] = turn
        self._arm(ledger.next_due([turn]))

    def starts_at_once(self, turn: OpenTurn) -> bool:
        """Whether a turn that is not accepted yet would start as soon as it is."""
        return ledger.starts_at_once(turn, self.turns, self.most_active)

    def add(self, turn: OpenTurn, claim: TurnClaimed | None = None) -> int:
        """A new turn, which is saved; returns its position.

        Args:
            turn: The turn.
            claim: Where somebody holds it already: what that process is given with it.
        """
        query_id = turn.ref.query_id
        self.put(turn)
        if claim is not None and turn.holder is not None:
            self._bus.publish(TurnGranted(holder=turn.holder.boot, claim=claim), turn=turn.ref)
            self._tell_soon(_received(turn), turn.ref)
        self._positions[query_id] = ledger.positions(self.turns)[query_id]
        self.advance()
        return self._positions[query_id]

    def drop(self, query_id: str) -> None:
        """A turn is over."""
        del self.turns[query_id]
        self._positions.pop(query_id, None)
        if not self.turns:
            self._tidy_later()

    def position(self, query_id: str) -> int:
        """How many turns come before it; 0 for one that is not open."""
        return self._positions.get(query_id, 0)

    def of_session(self, session_id: str) -> list[OpenTurn]:
        """A session's open turns, oldest first."""
        return [turn for turn in self.turns.values() if turn.ref.session_id == session_id]

    def advance(self) -> None:
        """Start the turns that may start now, and tell the others where they stand."""
        now = self.now
        for query_id in ledger.to_start(self.turns, self.most_active):
            self._offer(ledger.start(self.turns[query_id], now, self._rules()), now)
        before, self._positions = self._positions, ledger.positions(self.turns)
        for query_id, position in self._positions.items():
            if position and position != before.get(query_id):
                self._bus.publish(TurnQueued(position=position), turn=self.turns[query_id].ref)

    def finish(self, turn: OpenTurn, end: TurnEnd) -> None:
        """Save a turn's end, then go on with the next one.

        Raises:
            StorageError: It could not be saved; the turn is as before.
        """
        self._save_end(turn, end)
        self.advance()

    def end(self, turn: OpenTurn, end: TurnEnd) -> None:
        """End a turn ourselves, and say so. The higher fence tells this end from one of its holder.

        Raises:
            StorageError: It could not be saved; the turn is as before.
        """
        self._save_end(replace(turn, fence=turn.fence + 1), end)
        self._bus.publish(ResponseGeneration(query=turn.query, end=end), turn=turn.ref)
        if end.answer:
            self._bus.publish(AnswerDialog(query=turn.query, answer=end.answer), turn=turn.ref)
        log.info("turn_ended_here", status=end.status, code=end.code, query_id=turn.ref.query_id)
        self.advance()

    def _save_end(self, turn: OpenTurn, end: TurnEnd) -> None:
        after(turn.state, ENDS[State(end.status)])
        self._store.end(turn, end, wire.now_utc())
        self.drop(turn.ref.query_id)
        self.changed(turn.ref, "updated")

    def end_stopped(self, turn: OpenTurn) -> None:
        """End a stopped turn with the text that there is.

        Raises:
            StorageError: As in `end`.
        """
        query_id = turn.ref.query_id
        self.end(turn, texts.stopped(self._store.draft(query_id), self._store.steps(query_id)))

    def changed(self, ref: TurnRef, change: str) -> None:
        """Tell who shows sessions."""
        self._tell_soon(SessionChanged(change=change), ref)

    def _tell_soon(self, message: Message, ref: TurnRef) -> None:
        """For those who watch: after the answer to who waits for one."""
        asyncio.get_running_loop().call_soon(lambda: self._bus.publish(message, turn=ref))

    def ask_to_stop(self, turn: OpenTurn) -> None:
        """Tell the holder of a turn to stop."""
        self._bus.publish(CancelGeneration(), turn=turn.ref)

    # ------------------------------------------------------------------ holders

    def lost(self, gone: Callable[[Holder], bool]) -> None:
        """A process died: what it held is offered at once."""
        now = self.now
        self.answerers.lost(gone)
        for turn in list(self.turns.values()):
            if turn.holder is not None and gone(turn.holder):
                log.info("holder_lost", query_id=turn.ref.query_id, holder=turn.holder.name, attempt=turn.attempt)
                self.put(ledger.lapsed(turn, now, self._rules(), dead=True))
                self.settle(turn.ref.query_id, now)

    def offer_unclaimed(self) -> None:
        """Somebody who answers has just come: do not let him wait for the next offer."""
        now = self.now
        for turn in list(self.turns.values()):
            if turn.active and turn.state is State.RECEIVED:
                self.put(replace(turn, say_at=now))
                self.settle(turn.ref.query_id, now)

    # ------------------------------------------------------------------ time

    def settle(self, query_id: str, now: float) -> None:
        """Do what is due for one turn."""
        turn = self.turns.get(query_id)
        if turn is None:
            return
        try:
            self._settle(turn, now)
        except StorageError as error:
            log.error("storage_failed", reason=str(error), query_id=query_id)
            self._put_off(turn, now)
        except Exception:  # a fault in one turn must not stop the clock of the others
            log.exception("turn_failed", query_id=query_id)
            self._put_off(turn, now)

    def _put_off(self, turn: OpenTurn, now: float) -> None:
        """Count anew, as no claim can be saved either: nobody is late."""
        if turn.ref.query_id in self.turns:
            anew = ledger.recounted(turn, now, self._rules())
            self.put(ledger.postponed(anew, now + _STORE_AGAIN_S))

    def _settle(self, turn: OpenTurn, now: float) -> None:
        query_id, rules = turn.ref.query_id, self._rules()
        what = ledger.due(turn, now, rules)
        if what is Due.LAPSE:
            log.info("lease_over", query_id=query_id, attempt=turn.attempt)
            self.answerers.lost(lambda holder: holder == turn.holder)
            turn = ledger.lapsed(turn, now, rules, dead=False)
            self.put(turn)
            what = ledger.due(turn, now, rules)
        if what is Due.OFFER:
            self._offer(turn, now)
        elif what is Due.STOP_AGAIN:
            self.ask_to_stop(turn)
            self.put(ledger.told_to_stop(turn, now, rules))
        elif what is Due.EXPIRE:
            self.expire(turn, now)
        elif what is Due.END_STOPPED:
            self.end_stopped(turn)
        elif what is Due.GIVE_UP:
            exhausted = turn.tries >= rules.max_attempts
            end = texts.given_up(self._store.draft(query_id), self._store.steps(query_id), exhausted=exhausted)
            self.end(turn, end)

    def _offer(self, turn: OpenTurn, now: float) -> None:
        self._bus.publish(_received(turn, redelivered=turn.told), turn=turn.ref)
        self.put(ledger.offered(turn, now, self._rules()))

    def _settle_all(self, now: float) -> None:
        for query_id in list(self.turns):
            self.settle(query_id, now)
        self.advance()
        self._arm(ledger.next_due(self.turns.values()))

    def _arm(self, at: float) -> None:
        if at >= self._wake_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._wake_at = at
        self._timer = asyncio.get_running_loop().call_at(at, self._wake)

    def _wake(self) -> None:
        planned, self._wake_at, self._timer = self._wake_at, NEVER, None
        if not self._bus.ready:
            return  # nobody can be reached; `resume` goes on
        now = self.now
        if now - planned > self._rules().lease_s / 2:
            log.warning("woke_late", late_s=round(now - planned, 3))
            for query_id, turn in self.turns.items():
                self.turns[query_id] = ledger.unheard(turn, now, self._rules())
        self._settle_all(now)

    def _tidy_later(self) -> None:
        if self._tidy is not None:
            self._tidy.cancel()
        self._tidy = asyncio.get_running_loop().call_later(_TIDY_AFTER_S, self._checkpoint)

    def _checkpoint(self) -> None:
        self._tidy = None
        if not self.turns and self._store.is_open:
            try:
                self._store.checkpoint()
            except StorageError as error:
                log.error("storage_failed", reason=str(error))


def _received(turn: OpenTurn, *, redelivered: bool = False) -> QueryReceived:
    return QueryReceived(
        query=turn.query, created_at=turn.created_at, redelivered=redelivered, incognito=turn.incognito
    )
