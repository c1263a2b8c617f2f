"""A snapshot and the events around it: each chunk once, in order, none lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events import Event
from gateway.gate import Gate, Verdict, after_snapshot


def chunk(n: int, attempt: int = 1) -> Event:
    return Event("answer_chunk", f"{attempt}.{n}", attempt, n)


def snapshot(n: int, attempt: int = 1, state: str = "GENERATING", **calls: str) -> Event:
    return Event("snapshot", f"snapshot {attempt}.{n}", attempt, n, f"generator/{state}", calls)


def state(name: str, agent: str = "generator") -> Event:
    return Event("agent_state", name, key=f"{agent}/{name}")


def tool(kind: str, call: str) -> Event:
    return Event(kind, f"{kind} {call}", key=call)


def texts(events: list[Event]) -> list[str]:
    return [event.text for event in events]


def opened() -> Gate:
    gate = Gate(closed=True)
    gate.open()
    return gate


@pytest.mark.parametrize(
    ("events", "verdicts"),
    [
        ([chunk(0), chunk(1)], [Verdict.SEND, Verdict.SEND]),
        ([chunk(0), chunk(0)], [Verdict.SEND, Verdict.DROP]),
        ([chunk(0), chunk(2)], [Verdict.SEND, Verdict.LOST]),
        ([chunk(1)], [Verdict.LOST]),
        ([chunk(0), chunk(0, 2)], [Verdict.SEND, Verdict.SEND]),
        ([chunk(0), chunk(1, 2)], [Verdict.SEND, Verdict.LOST]),
        ([chunk(0, 2), chunk(0, 1)], [Verdict.SEND, Verdict.DROP]),
        ([chunk(1), chunk(2)], [Verdict.LOST, Verdict.HELD]),
        ([state("A"), tool("tool_start", "c")], [Verdict.SEND, Verdict.SEND]),
    ],
)
def test_an_open_gate(events, verdicts):
    gate = opened()
    assert [gate.offer(event) for event in events] == verdicts


@pytest.mark.parametrize(
    ("held", "found", "sent"),
    [
        ([], snapshot(4), ["snapshot 1.4"]),
        ([chunk(3), chunk(4), chunk(5)], snapshot(4), ["snapshot 1.4", "1.5"]),
        ([chunk(5), chunk(5), chunk(6)], snapshot(4), ["snapshot 1.4", "1.5", "1.6"]),
        ([chunk(5), chunk(0, 2), chunk(6)], snapshot(4), ["snapshot 1.4", "1.5", "2.0"]),
        ([chunk(5)], snapshot(0, 2), ["snapshot 2.0"]),
        ([state("A"), state("B"), state("C")], snapshot(0, state="B"), ["snapshot 1.0", "C"]),
        ([state("A"), state("C")], snapshot(0, state="B"), ["snapshot 1.0", "A", "C"]),
        ([state("A", "critic"), state("B")], snapshot(0, state="B"), ["snapshot 1.0", "A"]),
        ([tool("tool_start", "c")], snapshot(0, c="running"), ["snapshot 1.0"]),
        ([tool("tool_result", "c")], snapshot(0, c="running"), ["snapshot 1.0", "tool_result c"]),
        ([tool("tool_result", "c")], snapshot(0, c="ok"), ["snapshot 1.0"]),
        ([tool("tool_start", "d")], snapshot(0, c="ok"), ["snapshot 1.0", "tool_start d"]),
        ([chunk(1), Event("response", "end")], snapshot(0), ["snapshot 1.0", "1.1", "end"]),
    ],
)
def test_a_snapshot_opens_it(held, found, sent):
    gate = Gate(closed=True)
    for event in held:
        gate.offer(event)
    assert texts(gate.resume(found)) == sent
    assert not gate.closed


def test_what_goes_with_the_snapshot_comes_right_after_it():
    gate = Gate(closed=True)
    gate.offer(chunk(1))
    assert texts(gate.resume(snapshot(0), [Event("queued", "third")])) == ["snapshot 1.0", "third", "1.1"]


def test_an_old_snapshot_leaves_it_closed_until_a_newer_one():
    gate = Gate(closed=True)
    gate.offer(chunk(7))
    gate.offer(chunk(8))
    assert texts(gate.resume(snapshot(3))) == ["snapshot 1.3"]
    assert gate.closed
    assert texts(gate.resume(snapshot(6))) == ["snapshot 1.6", "1.7", "1.8"]
    assert not gate.closed


def test_an_accepted_turn_lets_out_what_came_early():
    gate = Gate(closed=True)
    gate.offer(chunk(0))
    assert texts(gate.open([Event("accepted", "yes")])) == ["yes", "1.0"]


def test_too_much_that_is_held_is_given_up_for_a_snapshot():
    gate = Gate(closed=True)
    for n in range(2000):
        gate.offer(chunk(n))
    assert texts(gate.resume(snapshot(0))) == ["snapshot 1.0"]
    assert gate.closed
    assert texts(gate.resume(snapshot(1999))) == ["snapshot 1.1999"]
    assert gate.offer(chunk(2000)) is Verdict.SEND


def test_without_held_events_nothing_is_filtered():
    assert after_snapshot(snapshot(0), []) == []


@given(
    lost=st.sets(st.integers(0, 39)),
    stale=st.integers(0, 5),
    delay=st.integers(0, 5),
    doubled=st.sets(st.integers(0, 39)),
)
def test_whatever_is_lost_the_reader_has_the_whole_text_once(lost, stale, delay, doubled):
    """A model of the gateway: a snapshot comes `delay` chunks after it was asked for, `stale` chunks old."""
    gate, text, due = opened(), -1, None
    arrivals = [n for n in range(40) if n not in lost for _ in range(2 if n in doubled else 1)]
    for step, n in enumerate([*arrivals, *[39] * 10]):
        verdict = gate.offer(chunk(n))
        text = text + 1 if verdict is Verdict.SEND else text
        assert verdict is not Verdict.SEND or n == text
        due = step + delay if gate.closed and due is None else due
        if due is not None and step >= due:
            due = None
            first, *rest = gate.resume(snapshot(39 if step >= len(arrivals) else max(0, n - stale)))
            text = first.n
            for event in rest:
                text += 1
                assert event.n == text
    assert text == 39 or 39 in lost
