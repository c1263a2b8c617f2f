"""Who was heard, and what that means for /health."""

from __future__ import annotations

import os

import pytest

from bus.envelope import Envelope, encode_payload, now_utc
from bus.messages.control import OpsProcess, Presence
from gateway.directory import Directory, missing_of, status_of

READY = {"conversation": "ready", "generator": "ready"}


@pytest.mark.parametrize(
    ("bus", "states", "age_s", "status"),
    [
        (True, READY, 1, "ok"),
        (True, READY, 1000, "ok"),
        (True, {**READY, "datetime": "died"}, 1000, "ok"),
        (False, READY, 1, "starting"),
        (False, READY, 1000, "degraded"),
        (True, {}, 1, "starting"),
        (True, {}, 1000, "degraded"),
        (True, {"conversation": "ready", "generator": "starting"}, 1, "starting"),
        (True, {"conversation": "ready", "generator": "died"}, 1, "degraded"),
        (True, {"conversation": "gone", "generator": "ready"}, 1, "degraded"),
    ],
)
def test_status(bus, states, age_s, status):
    assert status_of(bus, states, age_s) == status


def test_missing():
    assert missing_of({"conversation": "ready", "generator": "draining"}) == ["generator"]


GONE = 2**22 + 1
"""No process has such a pid."""


def presence(name: str = "generator", state: str = "ready", pid: int | None = None, instance: str = "here") -> Presence:
    pid = os.getpid() if pid is None else pid
    return Presence(name=name, instance=instance, kind="agent", state=state, pid=pid)


def died(name: str, pid: int, event: str = "died") -> OpsProcess:
    return OpsProcess(name=name, event=event, pid=pid)


async def test_presence_is_asked_for_and_shown(stage):
    other = await stage.other("generator-process")
    other.publish(presence())
    await (await stage.connect()).pong()
    health = (await stage.http("GET", "/health")).json()
    assert health == {
        "status": "starting",
        "version": "1.2.3",
        "participants": {"generator": "ready"},
        "bus": True,
        "missing": ["conversation"],
        "command": "local2",
    }


async def test_a_process_that_died_without_a_word_is_seen(stage):
    directory = Directory(stage.bus, "here")
    envelope = envelope_of(presence(pid=2**22 + 1))
    directory.heard(presence(pid=2**22 + 1), envelope)
    directory.heard(presence("elsewhere", pid=2**22 + 1, instance="there"), envelope)
    assert [(known.name, known.state) for known in directory.participants()] == [
        ("elsewhere", "ready"),
        ("generator", "died"),
    ]


@pytest.mark.parametrize(
    ("instance", "pid", "news", "state"),
    [
        ("here", GONE, died("generator", GONE, "fatal"), "fatal"),
        ("here", GONE, died("generator", 1, "fatal"), "died"),
        ("there", GONE, died("generator", GONE), "died"),
        ("there", GONE, died("generator", 1), "ready"),
        ("here", os.getpid(), died("generator", os.getpid()), "ready"),
        ("here", os.getpid(), died("generator", 0, "stopped"), "ready"),
    ],
    ids=["why it ended", "of an earlier one", "elsewhere", "earlier elsewhere", "forged", "forged without a pid"],
)
async def test_ops_says_how_one_ended_and_whoever_lives_has_not(stage, instance, pid, news, state):
    directory = Directory(stage.bus, "here")
    envelope = envelope_of(presence())
    directory.heard(presence(pid=pid, instance=instance), envelope)
    directory.told(news, envelope)
    assert [known.state for known in directory.participants()] == [state]


async def test_a_successor_that_is_there_has_not_died(stage):
    directory = Directory(stage.bus, "here")
    envelope = envelope_of(presence())
    directory.heard(presence(pid=GONE), envelope)
    directory.told(died("generator", GONE), envelope)
    directory.heard(presence(), envelope)
    assert [known.state for known in directory.participants()] == ["ready"]


def envelope_of(message):
    return Envelope(
        message_id="b-1",
        message_type=type(message).__name__,
        subject=message.subject,
        sender_id="the id",
        timestamp_utc=now_utc(),
        payload=encode_payload(message),
    )
