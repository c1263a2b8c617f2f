"""The bus, watched from outside."""

from __future__ import annotations

import json

import pytest
import websockets

from bus.envelope import Envelope, Raw, now_utc
from bus.messages.control import BackendRequest
from gateway.observers import Observer


def envelope(number: int, session_id: str = "s1") -> Envelope:
    return Envelope(
        message_id=f"b-{number}",
        message_type="X",
        subject="x",
        sender_id="me",
        timestamp_utc=now_utc(),
        payload=Raw(b"{}"),
        session_id=session_id,
    )


async def test_a_slow_observer_is_told_what_it_missed():
    observer = Observer("", 3)
    for number in range(5):
        observer.show(envelope(number), str(number).encode())
    assert [await observer.next() for _ in range(4)] == ['{"type":"dropped","dropped":2}', "2", "3", "4"]


async def test_only_its_session():
    observer = Observer("s1", 3)
    observer.show(envelope(1, "s2"), b"other")
    observer.show(envelope(2, "s1"), b"mine")
    assert await observer.next() == "mine"


async def test_everything_but_inboxes_is_shown(stage):
    client = await stage.connect("/ws/bus")
    chat = await stage.watching()
    stage.generator.token(0)
    await chat.next()
    frames = await client.take(1)
    assert [frame["subject"] for frame in frames] == ["conversation.submit"]
    token = await client.next()
    assert (token["subject"], token["payload"]["text"], token["session_id"]) == ("generation.token", "t0 ", "s1")


async def test_one_session_is_shown_to_who_asks_for_it(stage):
    client = await stage.connect("/ws/bus/s1")
    await (await stage.connect()).pong()
    stage.generator.token(0, session_id="s2")
    stage.generator.token(0, session_id="s1")
    assert (await client.next())["session_id"] == "s1"


async def test_nobody_pays_once_the_last_observer_has_left(stage):
    client = await stage.connect("/ws/bus")
    await client.close()
    chat = await stage.connect()
    await chat.pong()
    received = stage.bus.counters.received
    stage.generator.bus.publish(BackendRequest())
    await chat.pong()
    assert stage.bus.counters.received == received


async def test_what_an_observer_sends_is_passed_over(stage):
    client = await stage.connect("/ws/bus")
    await client.send("nonsense")
    stage.generator.token(0)
    assert json.loads(await client.connection.recv())["subject"] == "generation.token"


async def test_the_number_of_observers_is_bounded(stage):
    stage.set(max_observers=1)
    await stage.connect("/ws/bus")
    with pytest.raises(websockets.InvalidStatus, match="503"):
        await stage.connect("/ws/bus/s1")


async def test_observers_are_told_that_the_gateway_goes(stage):
    client = await stage.connect("/ws/bus")
    stage.web.observers.drain()
    assert (await client.closed())[0] == 1012
