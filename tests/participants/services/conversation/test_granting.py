"""A turn that is given to the one process that answers, before it asks."""

from __future__ import annotations

import pytest

from bus.messages.control import Done, OpsProcess, Presence
from bus.messages.generation import BackendInfo, CancelGeneration, GeneratorStatus, ResponseGeneration
from bus.messages.ledger import ClaimTurn, GetTurn, JournalTurn, ReleaseTurn, Turn, TurnHeld
from bus.messages.query import CancelTurn, QueryReceived, SubmitTurn, TurnAccepted
from participants.services.conversation.answerers import Answerers
from participants.services.conversation.ledger import Holder
from participants.services.sqlite.errors import StorageError
from tests.participants.services.conversation.desk import RULES, Desk, turn

STATUS = GeneratorStatus(backend=BackendInfo(kind="ollama"), roles=[], models=[], tools=[], turns={}, max_turns=8)


@pytest.fixture
async def known(desk: Desk) -> Desk:
    """A ledger that knows one process that answers, after its first turn."""
    await desk.submit(turn(0, session=9))
    await desk.claim(turn(0, session=9), takes_grants=True)
    await desk.finish(turn(0, session=9))
    desk.forget()
    return desk


async def state(desk: Desk, number: int) -> str:
    return (await desk.ask(GetTurn(), Turn, turn(number))).turn.status


async def test_the_only_one_gets_what_its_claim_would_have_got(known: Desk) -> None:
    await known.submit(turn(1), "First?")
    await known.finish(turn(1), answer="Yes.")
    known.grants.clear()
    accepted = await known.submit(turn(2), "Second?", model="quality")
    ((grant, ref),) = known.grants
    assert (accepted.position, accepted.status, ref) == (0, "received", turn(2))
    assert (grant.holder, grant.claim.fence, grant.claim.model) == ("boot1", 1, "quality")
    assert [(past.query, past.answer) for past in grant.claim.history] == [("First?", "Yes.")]
    assert grant.claim == await known.claim(turn(2), takes_grants=True)
    assert known.said_of(QueryReceived) == ["q1", "q2"]


async def test_a_grant_can_be_written_to_and_finished(known: Desk) -> None:
    await known.submit(turn(1))
    await known.ask(JournalTurn(fence=1, n=0, answer="Half"), TurnHeld, turn(1))
    await known.clock.forward(RULES.lease_s - 1)
    assert await state(known, 1) == "claimed"
    await known.finish(turn(1))
    assert await state(known, 1) == "answered"


async def test_nobody_is_given_a_turn_that_has_to_wait(known: Desk) -> None:
    for number in (1, 2):
        await known.submit(turn(number))
    for session in range(2, 5):
        await known.submit(turn(session + 1, session))
    assert [ref.query_id for _, ref in known.grants] == ["q1", "q3", "q4"]
    assert known.said_of(QueryReceived) == ["q1", "q3", "q4"]


async def test_who_does_not_ask_for_grants_gets_none(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.submit(turn(2))
    assert desk.grants == []


@pytest.mark.parametrize(
    "news",
    [
        OpsProcess(name="generator", event="died", pid=11),
        OpsProcess(name="generator", event="wedged", pid=0),
        STATUS,
    ],
    ids=["dead", "wedged", "another one answers"],
)
async def test_news_that_end_grants(known: Desk, news: OpsProcess | GeneratorStatus) -> None:
    known.asker.publish(news)
    await known.submit(turn(1))
    assert known.grants == []
    assert (known.said_of(QueryReceived), await state(known, 1)) == (["q1"], "received")


@pytest.mark.parametrize("goes", ["draining", "gone"])
async def test_who_leaves_is_given_nothing_more(desk: Desk, goes: str) -> None:
    generator = await desk.bus.client("generator")
    ready = Presence(name="generator", instance="here", kind="agent", state="ready", pid=11)
    generator.publish(ready)
    await desk.submit(turn(1))
    await desk.claim(turn(1), generator.boot, takes_grants=True)
    await desk.finish(turn(1))
    generator.publish(Presence(name="generator", instance="here", kind="agent", state=goes, pid=11))
    generator.publish(STATUS)
    await desk.submit(turn(2))
    assert desk.grants == []
    await generator.close()


async def test_a_grant_that_was_not_heard_is_offered_as_soon_as_any_other_turn(known: Desk) -> None:
    await known.submit(turn(1))
    await known.clock.forward(RULES.offer_s[0] + 1)
    assert [message.redelivered for message in known.said(QueryReceived)] == [False, True]
    await known.submit(turn(2, session=2))
    assert [ref.query_id for _, ref in known.grants] == ["q1"]
    claim = await known.claim(turn(1), "boot2")
    assert (claim.fence, claim.attempt) == (2, 2)
    assert await known.refused(JournalTurn(fence=1, n=0, answer="late"), turn(1)) == "conflict"


async def test_who_missed_it_claims_it_and_costs_no_second_attempt(known: Desk) -> None:
    await known.submit(turn(1))
    await known.clock.forward(RULES.offer_s[0] + 1)
    claim = await known.claim(turn(1), takes_grants=True)
    assert (claim.fence, claim.attempt) == (1, 1)


async def test_a_grant_can_be_handed_back(known: Desk) -> None:
    await known.submit(turn(1))
    await known.ask(ReleaseTurn(fence=1), Done, turn(1))
    assert (await known.claim(turn(1), "boot2")).fence == 2


async def test_the_same_question_again_is_granted_once(known: Desk) -> None:
    await known.submit(turn(1))
    assert (await known.submit(turn(1))).status == "claimed"
    assert len(known.grants) == 1


async def test_a_stop_reaches_who_was_given_the_turn_or_ends_it(known: Desk) -> None:
    await known.submit(turn(1))
    await known.ask(CancelTurn(), Done, turn(1))
    await known.clock.forward(RULES.offer_s[0] + 1)
    assert "q1" in known.said_of(CancelGeneration)
    (ended,) = known.said(ResponseGeneration)
    assert ended.end.status == "cancelled"


async def test_a_history_that_cannot_be_read_does_not_refuse_the_question(known: Desk) -> None:
    await known.submit(turn(1))
    await known.finish(turn(1))
    known.grants.clear()
    known.service.store.branch = broken  # type: ignore[method-assign]
    accepted = await known.ask(SubmitTurn(query="Why?"), TurnAccepted, turn(2))
    assert (accepted.status, known.grants, known.said_of(QueryReceived)) == ("received", [], ["q1", "q2"])


def broken(*_turn: object) -> None:
    raise StorageError("unreadable")


async def test_a_restart_keeps_a_grant_and_its_fence(known: Desk) -> None:
    await known.submit(turn(1))
    await known.restart()
    await known.ask(JournalTurn(fence=1, n=0, answer="Half"), TurnHeld, turn(1))
    assert await known.refused(ClaimTurn(holder="boot2"), turn(1)) == "conflict"


def test_answerers_are_one_or_unsure() -> None:
    known = Answerers()
    assert known.only is None
    ann, bob = Holder("ann", 1, "generator"), Holder("bob", 2, "generator")
    known.heard("ann")
    assert known.only is None
    known.claimed(ann, takes_grants=True)
    known.heard("ann")
    assert known.only == ann
    known.claimed(bob, takes_grants=True)
    assert known.only is None
    known.lost(lambda holder: holder == ann)
    assert known.only == bob
    known.leaves("bob")
    assert known.only is None
