"""What happens as time passes and processes come and go, over the bus."""

from __future__ import annotations

import msgspec
import pytest

from bus.messages.control import OpsProcess, Presence
from bus.messages.generation import BackendInfo, GeneratorStatus, ResponseGeneration
from bus.messages.ledger import ClaimTurn, GetTurn, JournalTurn, Turn, TurnHeld
from bus.messages.query import QueryReceived
from participants.services.conversation.config import ConversationConfig
from tests.participants.services.conversation.desk import RULES, Desk, turn


def presence(state: str, name: str = "generator", kind: str = "agent") -> Presence:
    return Presence(name=name, instance="here", kind=kind, state=state, pid=1)


async def test_with_nothing_open_there_is_no_timer(desk: Desk) -> None:
    await desk.answered(turn(1))
    await desk.clock.forward(RULES.lease_s + 1)
    assert desk.service.keeper.idle


async def test_a_turn_that_nobody_claims_is_offered_again_ever_later(desk: Desk) -> None:
    await desk.submit(turn(1))
    for seconds, times in ((11, 2), (11, 2), (10, 3), (21, 4)):
        await desk.clock.forward(seconds)
        assert len(desk.said(QueryReceived)) == times
    assert [m.redelivered for m in desk.said(QueryReceived)] == [False, True, True, True]


async def test_a_turn_that_nobody_claims_fails_in_the_end(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.submit(turn(2))
    await desk.clock.forward(1001)
    (ended,) = desk.said(ResponseGeneration)
    assert (ended.query, ended.end.status, ended.end.finish_reason) == ("Why?", "failed", "error")
    assert (ended.end.retryable, ended.end.code) == (True, "no_generator")
    assert desk.said_of(QueryReceived)[-1] == "q2"


async def test_a_turn_whose_holders_die_fails_in_the_end(desk: Desk) -> None:
    await desk.submit(turn(1))
    for attempt in range(1, 5):
        await desk.claim(turn(1), f"boot{attempt}", pid=attempt)
        await desk.ask(JournalTurn(fence=attempt, n=0, answer=f"Half {attempt}"), TurnHeld, turn(1))
        desk.asker.publish(OpsProcess(name="generator", event="died", pid=attempt))
        await desk.clock.forward(0)
    (ended,) = desk.said(ResponseGeneration)
    assert (ended.end.answer, ended.end.finish_reason, ended.end.code) == ("Half 4", "incomplete", "holder_died")
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.end == ended.end


@pytest.mark.parametrize("event", ["died", "stopped", "fatal", "wedged"])
async def test_a_dead_holder_loses_its_turn_at_once(desk: Desk, event: str) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1), pid=11)
    desk.asker.publish(OpsProcess(name="generator", event=event, pid=11))
    await desk.clock.forward(0)
    assert [m.redelivered for m in desk.said(QueryReceived)] == [False, True]
    assert await desk.refused(JournalTurn(fence=1, n=0), turn(1)) == "conflict"


@pytest.mark.parametrize(
    ("name", "event", "pid"), [("generator", "started", 11), ("generator", "died", 12), ("critic", "died", 11)]
)
async def test_the_news_of_others_change_nothing(desk: Desk, name: str, event: str, pid: int) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1), pid=11)
    desk.asker.publish(OpsProcess(name=name, event=event, pid=pid))
    await desk.clock.forward(0)
    assert len(desk.said(QueryReceived)) == 1


async def test_a_new_generator_is_offered_what_waits(desk: Desk) -> None:
    await desk.submit(turn(1))
    for state, times in (("ready", 2), ("ready", 2), ("draining", 2)):
        desk.asker.publish(presence(state))
        await desk.clock.forward(0)
        assert len(desk.said(QueryReceived)) == times
    newcomer = await desk.bus.client("generator")
    newcomer.publish(presence("ready"))
    await desk.clock.forward(0)
    assert len(desk.said(QueryReceived)) == 3
    await newcomer.close()


async def test_a_successor_proves_that_the_one_before_is_dead(desk: Desk) -> None:
    before, after = await desk.bus.client("generator"), await desk.bus.client("generator")
    before.publish(presence("ready"))
    await desk.submit(turn(1))
    await desk.claim(turn(1), before.boot)
    after.publish(presence("ready"))
    await desk.clock.forward(0)
    assert (await desk.claim(turn(1), after.boot)).attempt == 2
    await before.close()
    await after.close()


async def test_who_died_together_with_the_ledger_is_known_by_his_successor(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1), "died")
    await desk.restart()
    successor = await desk.bus.client("generator")
    successor.publish(presence("ready"))
    await desk.clock.forward(0)
    assert desk.said_of(QueryReceived) == ["q1"]
    assert (await desk.claim(turn(1), successor.boot)).attempt == 2
    successor.publish(presence("ready"))
    await desk.clock.forward(0)
    assert await desk.refused(ClaimTurn(holder="third", name="generator"), turn(1)) == "conflict"
    await successor.close()


async def test_who_says_goodbye_hands_back(desk: Desk) -> None:
    holder = await desk.bus.client("generator")
    await desk.submit(turn(1))
    await desk.claim(turn(1), holder.boot)
    holder.publish(presence("gone"))
    await desk.clock.forward(0)
    assert [m.redelivered for m in desk.said(QueryReceived)] == [False, True]
    await holder.close()


async def test_a_restart_offers_what_is_open(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.submit(turn(2))
    await desk.restart()
    assert [(q, m.redelivered) for q, m in zip(desk.said_of(QueryReceived), desk.said(QueryReceived), strict=True)] == [
        ("q1", True)
    ]
    await desk.claim(turn(1))
    await desk.finish(turn(1))
    assert desk.said_of(QueryReceived) == ["q1", "q2"]


async def test_a_holder_that_lives_does_not_notice_a_restart(desk: Desk) -> None:
    await desk.submit(turn(1))
    claim = await desk.claim(turn(1))
    await desk.clock.forward(99)
    await desk.restart()
    await desk.clock.forward(99)
    await desk.ask(JournalTurn(fence=1, n=0, answer="Half"), TurnHeld, turn(1))
    assert await desk.claim(turn(1)) == claim
    assert desk.said(QueryReceived) == []
    await desk.clock.forward(101)
    assert desk.said_of(QueryReceived) == ["q1"]


async def test_a_bus_that_was_away_costs_nobody_a_turn(desk: Desk) -> None:
    await desk.submit(turn(1, session=1))
    await desk.submit(turn(2, session=2))
    await desk.claim(turn(1))
    desk.forget()
    desk.bus.break_link()
    await desk.clock.forward(99)
    desk.bus.mend_link()
    await desk.service.bus.wait_ready()
    await desk.asker.wait_ready()
    await desk.clock.forward(50)
    assert set(desk.said_of(QueryReceived)) == {"q2"}
    await desk.ask(JournalTurn(fence=1, n=0), TurnHeld, turn(1))


async def test_who_was_busy_himself_blames_nobody(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.clock.jump(160)
    assert len(desk.said(QueryReceived)) == 1
    await desk.clock.forward(101)
    assert len(desk.said(QueryReceived)) == 2


async def test_more_room_is_used_at_once(desk: Desk) -> None:
    for number in range(5):
        await desk.submit(turn(number, session=number))
    before = desk.service.config
    desk.service.config = ConversationConfig(id="ledger", max_active=5)
    desk.service.reconfigured(before)
    await desk.clock.forward(0)
    assert desk.said_of(QueryReceived) == ["q0", "q1", "q2", "q3", "q4"]


async def test_a_stop_waits_for_a_holder_that_stops_as_well(desk: Desk) -> None:
    holder = await desk.bus.client("generator")
    await desk.submit(turn(1))
    await desk.claim(turn(1), holder.boot)
    holder.publish(presence("draining"))
    await desk.clock.forward(0)
    desk.service.stop()
    await desk.clock.forward(0)
    assert desk.service.state == "draining"
    await desk.finish(turn(1))
    holder.publish(presence("gone"))
    await holder.close()
    await desk.restart()
    assert (await desk.ask(GetTurn(), Turn, turn(1))).turn.status == "answered"


async def test_a_stop_does_not_wait_for_a_holder_that_goes_on(desk: Desk) -> None:
    await desk.submit(turn(1))
    await desk.claim(turn(1))
    await desk.restart()
    await desk.finish(turn(1))


async def test_no_more_turns_start_than_the_generator_takes(desk: Desk) -> None:
    """Else the rest would be given up for want of somebody who claims them."""
    generator = await desk.bus.client("generator")
    told = GeneratorStatus(backend=BackendInfo(kind="embedded"), roles=[], models=[], tools=[], turns={}, max_turns=2)
    generator.publish(told)
    await desk.clock.forward(0)
    for number in range(3):
        await desk.submit(turn(number, session=number))
    await desk.clock.forward(0)
    assert desk.said_of(QueryReceived) == ["q0", "q1"]
    generator.publish(msgspec.structs.replace(told, max_turns=3))
    await desk.clock.forward(0)
    assert desk.said_of(QueryReceived) == ["q0", "q1", "q2"]
    await generator.close()
