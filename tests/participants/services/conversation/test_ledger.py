"""The ledger's decisions, as tables."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bus.envelope import TurnRef
from bus.errors import RequestFailed
from participants.services.conversation import ledger
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.ledger import NEVER, Due, Holder, OpenTurn
from participants.services.conversation.states import State

RULES = ConversationConfig(lease_s=2, offer_s=(1, 4), give_up_s=30, max_attempts=3, cancel_grace_s=3, cancel_again_s=1)
ANN, BOB = Holder("ann", 1, "generator"), Holder("bob", 2, "generator")


def made(seq: int, session: str = "s", **more: object) -> OpenTurn:
    return replace(OpenTurn(seq=seq, ref=TurnRef(session, "u", f"q{seq}"), query="?", created_at="now"), **more)


def board(*turns: OpenTurn) -> dict[str, OpenTurn]:
    return {turn.ref.query_id: turn for turn in turns}


def started(now: float = 0) -> OpenTurn:
    return ledger.start(made(1), now, RULES)


def claimed(now: float = 0, by: Holder = ANN) -> OpenTurn:
    return ledger.claim(started(now), by, now, RULES)


@pytest.mark.parametrize(
    ("turns", "room", "starting"),
    [
        ([], 2, []),
        ([("a", False)], 2, ["q0"]),
        ([("a", True), ("a", False)], 2, []),
        ([("a", False), ("a", False)], 2, ["q0"]),
        ([("a", True), ("b", False), ("c", False)], 2, ["q1"]),
        ([("a", True), ("a", False), ("b", False)], 2, ["q2"]),
        ([("a", True), ("b", True), ("c", False)], 2, []),
        ([("a", True), ("b", True), ("c", True), ("d", False)], 2, []),
    ],
)
def test_sessions_take_turns_in_the_order_of_acceptance(
    turns: list[tuple[str, bool]], room: int, starting: list[str]
) -> None:
    all_turns = board(*[made(seq, session, active=active) for seq, (session, active) in enumerate(turns)])
    assert ledger.to_start(all_turns, room) == starting


@pytest.mark.parametrize(
    ("turns", "positions"),
    [
        ([("a", True)], [0]),
        ([("a", True), ("a", False), ("a", False)], [0, 1, 2]),
        ([("a", True), ("b", False), ("c", False)], [0, 1, 2]),
        ([("a", True), ("a", False), ("b", False), ("b", False)], [0, 1, 1, 2]),
    ],
)
def test_a_position_counts_what_comes_before(turns: list[tuple[str, bool]], positions: list[int]) -> None:
    all_turns = board(*[made(seq, session, active=active) for seq, (session, active) in enumerate(turns)])
    assert list(ledger.positions(all_turns).values()) == positions


def test_a_claim_gives_fence_attempt_and_lease() -> None:
    turn = claimed(now=5)
    assert (turn.state, turn.fence, turn.attempt, turn.lease_until) == (State.CLAIMED, 1, 1, 7)
    assert (turn.say_at, turn.limit_at) == (NEVER, NEVER)


def test_the_same_holder_gets_the_same_claim_again() -> None:
    again = ledger.claim(claimed(), ANN, 1, RULES)
    assert (again.fence, again.attempt, again.lease_until) == (1, 1, 3)


def test_a_silent_holder_that_nobody_replaced_goes_on() -> None:
    back = ledger.claim(ledger.lapsed(claimed(), 3, RULES, dead=False), ANN, 4, RULES)
    assert (back.state, back.fence, back.attempt, back.say_at, back.limit_at) == (State.CLAIMED, 1, 1, NEVER, NEVER)


def test_after_a_lapse_another_one_gets_a_higher_fence() -> None:
    turn = ledger.claim(ledger.lapsed(claimed(), 3, RULES, dead=False), BOB, 4, RULES)
    assert (turn.fence, turn.attempt, turn.tries, turn.holder) == (2, 2, 2, BOB)


@pytest.mark.parametrize(("turn", "code"), [(made(1), "waiting"), (claimed(by=BOB), "conflict")])
def test_a_claim_is_refused(turn: OpenTurn, code: str) -> None:
    with pytest.raises(RequestFailed) as caught:
        ledger.claim(turn, ANN, 1, RULES)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("turn", "fence"),
    [
        (claimed(), 0),
        (claimed(), 2),
        (started(), 0),
        (ledger.lapsed(claimed(), 1, RULES, dead=True), 1),
        (ledger.released(claimed(), 1, RULES), 1),
    ],
)
def test_a_stale_write_is_refused(turn: OpenTurn, fence: int) -> None:
    with pytest.raises(RequestFailed) as caught:
        ledger.held(turn, fence)
    assert caught.value.code == "conflict"


def test_handing_back_costs_no_try_and_offers_at_once() -> None:
    turn = ledger.released(claimed(), 5, RULES)
    assert (turn.state, turn.attempt, turn.tries, turn.say_at) == (State.RECEIVED, 1, 0, 5)


def test_offers_come_ever_later() -> None:
    turn = started()
    times: list[float] = []
    for _ in range(4):
        turn = ledger.offered(turn, turn.say_at, RULES)
        times.append(turn.say_at)
    assert times == [1, 5, 9, 13]


@pytest.mark.parametrize(
    ("turn", "now", "what"),
    [
        (made(1), 1e9, Due.NOTHING),
        (started(), 0, Due.OFFER),
        (ledger.offered(started(), 0, RULES), 0.5, Due.NOTHING),
        (ledger.offered(started(), 0, RULES), 1, Due.OFFER),
        (started(), 30, Due.GIVE_UP),
        (claimed(), 1.9, Due.NOTHING),
        (claimed(), 2, Due.LAPSE),
        (ledger.stopping(claimed(), 0, RULES), 0.9, Due.NOTHING),
        (ledger.stopping(claimed(), 0, RULES), 1, Due.STOP_AGAIN),
        (ledger.stopping(claimed(), 0, RULES), 2, Due.LAPSE),
        (ledger.stopping(claimed(), 0, RULES), 3, Due.END_STOPPED),
        (ledger.lapsed(ledger.stopping(claimed(), 0, RULES), 2, RULES, dead=False), 2, Due.END_STOPPED),
        (ledger.lapsed(replace(claimed(), tries=2), 2, RULES, dead=True), 2, Due.OFFER),
        (ledger.lapsed(replace(claimed(), tries=3), 2, RULES, dead=True), 2, Due.GIVE_UP),
        (ledger.recounted(claimed(), 100, RULES), 101.9, Due.NOTHING),
        (ledger.recounted(ledger.stopping(claimed(), 0, RULES), 100, RULES), 100, Due.STOP_AGAIN),
        (ledger.recounted(started(), 100, RULES), 100, Due.OFFER),
        (ledger.recounted(made(1), 100, RULES), 100, Due.NOTHING),
        (ledger.unheard(claimed(), 100, RULES), 101.9, Due.NOTHING),
        (ledger.postponed(claimed(), 100), 99, Due.NOTHING),
    ],
)
def test_what_is_due(turn: OpenTurn, now: float, what: Due) -> None:
    assert ledger.due(turn, now, RULES) is what


def test_asking_twice_to_stop_does_not_prolong_the_grace() -> None:
    turn = ledger.stopping(claimed(), 0, RULES)
    assert ledger.stopping(turn, 2, RULES) == turn


@pytest.mark.parametrize(
    ("turns", "at"), [([], NEVER), ([made(1)], NEVER), ([claimed(5)], 7), ([claimed(5), started(3)], 3)]
)
def test_the_next_deadline(turns: list[OpenTurn], at: float) -> None:
    assert ledger.next_due(turns) == at


@pytest.mark.parametrize(
    ("holder", "name", "pid", "meant"),
    [
        (None, "generator", 1, False),
        (ANN, "generator", 1, True),
        (ANN, "generator", 9, False),
        (ANN, "critic", 1, False),
        (ANN, "generator", 0, True),
        (Holder("ann", 1), "generator", 1, True),
        (Holder("ann", 1), "generator", 0, False),
    ],
)
def test_which_holder_a_process_is(holder: Holder | None, name: str, pid: int, meant: bool) -> None:
    assert ledger.is_of(holder, name, pid) is meant
