"""Which turn may start, who may write to it, and what is due when?

Decisions only: values in, values out, no store and no bus. Times are this process's monotonic clock in
seconds; none is stored, so that leases and deadlines are counted anew after a restart.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.errors import RequestFailed
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.states import HELD, Action, State
from participants.services.conversation.transitions import after

NEVER = math.inf
NEWEST = 2**62
"""The number of a turn that has none yet: it comes after all others."""


class Holder(Struct, frozen=True):
    """The process that answers a turn."""

    boot: str
    pid: int = 0
    name: str = ""


class OpenTurn(Struct, frozen=True, kw_only=True):
    """A turn that has not ended. The first group of fields is stored."""

    seq: int
    ref: TurnRef
    query: str
    created_at: str
    parent_id: str = ""
    depth: int = 0
    """How many turns come before it on its branch."""
    model: str = ""
    persona: str = ""
    incognito: bool = False
    state: State = State.RECEIVED
    fence: int = 0
    attempt: int = 0
    tries: int = 0
    """Attempts without those that were handed back."""
    holder: Holder | None = None
    """While claimed, who has it; else who had it last and may still come back."""
    cancelled: bool = False

    active: bool = False
    told: bool = False
    """Whether it was ever offered."""
    offers: int = 0
    """How often it was offered since it started or was last given back."""
    lease_until: float = NEVER
    say_at: float = NEVER
    """When it is offered, or its stop is announced, again."""
    limit_at: float = NEVER
    """When the ledger ends it: nobody claimed it, or its holder does not stop."""
    asks: Mapping[str, float] = {}
    """Open requests for approval, and when each expires."""


Turns = Mapping[str, OpenTurn]


class Due(StrEnum):
    """What has to be done for a turn now."""

    NOTHING = "nothing"
    OFFER = "offer"
    LAPSE = "lapse"
    STOP_AGAIN = "stop again"
    EXPIRE = "expire"
    GIVE_UP = "give up"
    END_STOPPED = "end stopped"


def conflict(turn: OpenTurn) -> RequestFailed:
    """The refusal of a write by who does not hold the turn."""
    return RequestFailed("conflict", f"Turn {turn.ref.query_id!r} is not yours (any more); drop it.")


# ---------------------------------------------------------------------- order


def to_start(turns: Turns, max_active: int) -> list[str]:
    """Which turns start now: of each session the first, in the order of acceptance, while there is room.

    One that waits for its user takes no room.
    """
    room = max_active - sum(turn.active and turn.state is not State.WAITING for turn in turns.values())
    if room <= 0:
        return []
    heads = [turn for turn in _heads(turns) if not turn.active]
    return [turn.ref.query_id for turn in heads[:room]]


def starts_at_once(turn: OpenTurn, turns: Turns, max_active: int) -> bool:
    """Whether a turn that is not accepted yet would start as soon as it is."""
    return turn.ref.query_id in to_start({**turns, turn.ref.query_id: turn}, max_active)


def positions(turns: Turns) -> dict[str, int]:
    """For each turn how many come before it: 0 when it is active.

    The first of a session waits behind other sessions' first ones, the others behind it.
    """
    out: dict[str, int] = {}
    waiting_heads = 0
    last: dict[str, int] = {}
    for turn in _in_order(turns):
        session_id, query_id = turn.ref.session_id, turn.ref.query_id
        if session_id in last:
            out[query_id] = last[session_id] + 1
        elif turn.active:
            out[query_id] = 0
        else:
            waiting_heads += 1
            out[query_id] = waiting_heads
        last[session_id] = out[query_id]
    return out


def _in_order(turns: Turns) -> list[OpenTurn]:
    return sorted(turns.values(), key=lambda turn: turn.seq)


def _heads(turns: Turns) -> list[OpenTurn]:
    heads: dict[str, OpenTurn] = {}
    for turn in _in_order(turns):
        heads.setdefault(turn.ref.session_id, turn)
    return list(heads.values())


# ---------------------------------------------------------------------- moves


def start(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """It is its turn: whoever answers may claim it."""
    return replace(turn, active=True, offers=0, say_at=now, limit_at=now + rules.give_up_s)


def offered(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """It was offered; the next time is later."""
    pause_s = rules.offer_s[min(turn.offers, len(rules.offer_s) - 1)]
    return replace(turn, told=True, offers=turn.offers + 1, say_at=now + pause_s)


def claim(turn: OpenTurn, holder: Holder, now: float, rules: ConversationConfig) -> OpenTurn:
    """Give the turn to `holder`; the same holder gets the same claim again.

    Raises:
        RequestFailed: `waiting`: it is not its turn; `conflict`: another living process has it.
    """
    if not turn.active:
        raise RequestFailed("waiting", f"Turn {turn.ref.query_id!r} waits for others before it.")
    if turn.holder is not None and turn.holder.boot == holder.boot:
        return renewed(turn, now, rules)
    if turn.state in HELD:
        raise RequestFailed("conflict", f"Turn {turn.ref.query_id!r} is being answered by another process.")
    taken = replace(
        turn,
        state=after(turn.state, Action.CLAIM),
        fence=turn.fence + 1,
        attempt=turn.attempt + 1,
        tries=turn.tries + 1,
        holder=holder,
        say_at=NEVER,
        limit_at=NEVER,
    )
    return renewed(taken, now, rules)


def granted(turn: OpenTurn, holder: Holder, now: float, rules: ConversationConfig) -> OpenTurn:
    """Give a turn to who has not asked for it: unless it speaks by the time of a second offer, it has not heard."""
    taken = claim(start(turn, now, rules), holder, now, rules)
    return replace(taken, told=True, lease_until=now + min(rules.lease_s, rules.offer_s[0]))


def renewed(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """Its holder gave a sign of life. One that was thought dead goes on, as nobody took its turn meanwhile."""
    if turn.state is State.RECEIVED:
        state = after(turn.state, Action.RESUME)
        state = after(state, Action.WAIT) if turn.asks else state
        turn = replace(turn, state=state, say_at=NEVER, limit_at=NEVER)
    return replace(turn, lease_until=now + rules.lease_s)


def held(turn: OpenTurn, fence: int) -> OpenTurn:
    """The turn, where `fence` may write to it.

    Raises:
        RequestFailed: `conflict`: it is somebody else's, or nobody's.
    """
    if turn.holder is None or fence != turn.fence:
        raise conflict(turn)
    return turn


def released(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """Its holder hands it back; that costs it no try. Who has it back already has no right to it any more."""
    if turn.state in HELD:
        turn = replace(turn, state=after(turn.state, Action.RELEASE))
    back = replace(turn, holder=None, tries=max(0, turn.tries - 1), lease_until=NEVER)
    return start(back, now, rules)


def lapsed(turn: OpenTurn, now: float, rules: ConversationConfig, *, dead: bool) -> OpenTurn:
    """Its holder is silent, or dead for certain: then it can not come back."""
    if turn.state in HELD:
        turn = replace(turn, state=after(turn.state, Action.LAPSE))
    turn = replace(turn, holder=None if dead else turn.holder, lease_until=NEVER)
    return start(turn, now, rules)


def asked(turn: OpenTurn, approval_id: str, until: float) -> OpenTurn:
    """Its holder asks the user, and has until then to get an answer."""
    state = after(turn.state, Action.WAIT) if turn.state is State.CLAIMED else turn.state
    return replace(turn, state=state, asks={**turn.asks, approval_id: until})


def answered(turn: OpenTurn, approval_ids: Collection[str]) -> OpenTurn:
    """These requests are open no longer."""
    asks = {key: until for key, until in turn.asks.items() if key not in approval_ids}
    over = turn.state is State.WAITING and not asks
    return replace(turn, state=after(turn.state, Action.PROCEED) if over else turn.state, asks=asks)


def late(turn: OpenTurn, now: float) -> list[str]:
    """The requests that nobody answered in time."""
    return [approval_id for approval_id, until in turn.asks.items() if now >= until]


def stopping(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """Somebody wants it stopped; the holder gets some time to do it. Asked again changes nothing."""
    if turn.cancelled:
        return turn
    return replace(turn, cancelled=True, say_at=now + rules.cancel_again_s, limit_at=now + rules.cancel_grace_s)


def told_to_stop(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """Its stop was announced; the next time is later."""
    return replace(turn, say_at=now + rules.cancel_again_s)


def recounted(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """All times counted anew: we were deaf for a while (a restart, no bus), so silence says nothing."""
    if not turn.active:
        return turn
    if turn.state is State.RECEIVED:
        return start(turn, now, rules)
    turn = replace(turn, lease_until=now + rules.lease_s)
    if not turn.cancelled:
        return turn
    return replace(turn, say_at=now, limit_at=now + rules.cancel_grace_s)


def unheard(turn: OpenTurn, now: float, rules: ConversationConfig) -> OpenTurn:
    """We were busy ourselves while its lease ran out: the holder may have spoken."""
    return replace(turn, lease_until=now + rules.lease_s) if turn.state in HELD else turn


def postponed(turn: OpenTurn, until: float) -> OpenTurn:
    """What is due could not be done now."""
    return replace(
        turn,
        lease_until=max(turn.lease_until, until),
        say_at=max(turn.say_at, until),
        limit_at=max(turn.limit_at, until),
        asks={approval_id: max(end, until) for approval_id, end in turn.asks.items()},
    )


# ---------------------------------------------------------------------- time


def due(turn: OpenTurn, now: float, rules: ConversationConfig) -> Due:
    """What has to be done for `turn` at `now`."""
    if late(turn, now):
        return Due.EXPIRE
    if turn.state in HELD:
        return _due_claimed(turn, now)
    if not turn.active:
        return Due.NOTHING
    if turn.cancelled:
        return Due.END_STOPPED
    if turn.tries >= rules.max_attempts or now >= turn.limit_at:
        return Due.GIVE_UP
    return Due.OFFER if now >= turn.say_at else Due.NOTHING


def _due_claimed(turn: OpenTurn, now: float) -> Due:
    if now >= turn.limit_at:
        return Due.END_STOPPED
    if now >= turn.lease_until:
        return Due.LAPSE
    return Due.STOP_AGAIN if now >= turn.say_at else Due.NOTHING


def next_due(turns: Iterable[OpenTurn]) -> float:
    """When something is due next; NEVER where nothing is."""
    return min((min(t.lease_until, t.say_at, t.limit_at, *t.asks.values()) for t in turns), default=NEVER)


def is_of(holder: Holder | None, name: str, pid: int) -> bool:
    """Whether a process that ops speaks of is this holder; pid 0 means whatever runs under that name."""
    if holder is None or (holder.name and holder.name != name):
        return False
    return holder.pid == pid if pid else bool(holder.name)
