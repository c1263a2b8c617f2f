"""The client, on a bus in memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bus import envelope as wire
from bus.client import BusClient
from bus.config import BusConfig
from bus.envelope import Envelope, TurnRef
from bus.errors import BusUnavailable, EnvelopeError, RequestFailed, RequestTimeout
from bus.messages.control import ConfigReload, Done, Processes, ProcessesRequest
from bus.messages.tool import ToolCall
from bus.testing import MemoryBus

LIMIT_S = 5.0


class Heard:
    """Messages as they came, and a way to wait for so many of them."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.envelopes: list[Envelope] = []
        self._came = asyncio.Event()

    def __call__(self, message: Any, envelope: Envelope) -> None:
        self.messages.append(message)
        self.envelopes.append(envelope)
        self._came.set()

    async def count(self, wanted: int) -> list[Any]:
        async with asyncio.timeout(LIMIT_S):
            while len(self.messages) < wanted:
                self._came.clear()
                await self._came.wait()
        return self.messages


def call(tool: str, call_id: str = "1") -> ToolCall:
    return ToolCall(tool=tool, call_id=call_id, args={})


async def settle(bus: MemoryBus, heard: Heard) -> None:
    """All that was published before this has arrived."""
    client = await bus.client("marker")
    client.publish(ConfigReload(section="marker"))
    await heard.count(1)


async def pair(bus: MemoryBus) -> tuple[BusClient, BusClient]:
    return await bus.client("one"), await bus.client("two")


# --------------------------------------------------------------------------- publish and listen


async def test_a_message_reaches_all_who_listen_with_its_turn(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    here, there = Heard(), Heard()
    one.on(ConfigReload, here)
    two.on(ConfigReload, there)
    message_id = one.publish(ConfigReload(section="ops"), turn=TurnRef("s", "u", "q"), correlation_id="c")
    assert await there.count(1) == await here.count(1) == [ConfigReload(section="ops")]
    envelope = there.envelopes[0]
    assert (envelope.message_id, envelope.sender_id, envelope.boot) == (message_id, "one", one.boot)
    assert (envelope.turn, envelope.correlation_id, envelope.subject) == (("s", "u", "q"), "c", "config.reload")


async def test_subjects_match_whole_words(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    web, dotted, all_tools, marker = Heard(), Heard(), Heard(), Heard()
    two.on(ToolCall, web, key="web")
    two.on(ToolCall, dotted, key="web.x")
    two.on(ToolCall, all_tools)
    two.on(ConfigReload, marker)
    for name in ("web_search", "web", "web.x", "we"):
        one.publish(call(name))
    await settle(memory, marker)
    assert [m.tool for m in web.messages] == ["web"]
    assert [m.tool for m in dotted.messages] == ["web.x"]
    assert [m.tool for m in all_tools.messages] == ["web_search", "web", "web.x", "we"]
    assert two.counters.refused == 0


async def test_a_coroutine_handler_gets_one_message_after_the_other(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    log: list[str] = []
    done = Heard()

    async def handler(message: ConfigReload, envelope: Envelope) -> None:
        log.append(f"in {message.section}")
        await asyncio.sleep(0)
        log.append(f"out {message.section}")
        done(message, envelope)

    two.on(ConfigReload, handler)
    for name in "abc":
        one.publish(ConfigReload(section=name))
    await done.count(3)
    assert log == ["in a", "out a", "in b", "out b", "in c", "out c"]


async def test_a_full_queue_drops_the_oldest_and_counts(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    go, begun, done = asyncio.Event(), asyncio.Event(), Heard()

    async def handler(message: ConfigReload, envelope: Envelope) -> None:
        begun.set()
        await go.wait()
        done(message, envelope)

    two.on(ConfigReload, handler)
    two._subscriptions["config.reload"][0].limit = 2
    one.publish(ConfigReload(section="0"))
    await begun.wait()
    marker = Heard()
    two.on(ToolCall, marker, key="marker")
    for number in range(1, 6):
        one.publish(ConfigReload(section=str(number)))
    one.publish(call("marker"))
    await marker.count(1)
    assert two.queued == 2
    go.set()
    assert [m.section for m in await done.count(3)] == ["0", "4", "5"]
    assert two.counters.dropped == 3


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_fault_in_a_handler_ends_nothing(memory: MemoryBus, asynchronous: bool) -> None:
    one, two = await pair(memory)
    heard = Heard()

    def fails(message: ConfigReload, envelope: Envelope) -> None:
        heard(message, envelope)
        raise ValueError(message.section)

    async def fails_later(message: ConfigReload, envelope: Envelope) -> None:
        fails(message, envelope)

    two.on(ConfigReload, {False: fails, True: fails_later}[asynchronous])
    one.publish(ConfigReload(section="a"))
    one.publish(ConfigReload(section="b"))
    assert len(await heard.count(2)) == 2


async def test_gaps_are_counted_and_told(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    heard, told = Heard(), []
    two.on(ConfigReload, heard)
    two.on_gap = lambda envelope, lost: told.append((envelope.sender_id, lost))
    one.publish(ConfigReload())
    memory.up = False
    one.publish(ConfigReload())
    one.publish(ConfigReload())
    memory.up = True
    one.publish(ConfigReload())
    await heard.count(2)
    assert two.counters.gaps == 2
    assert told == [("one", 2)]


async def test_a_message_over_the_limit_is_dropped_here_and_counted() -> None:
    memory = MemoryBus(BusConfig(id="bus", max_message_bytes=65_536))
    one, two = await pair(memory)
    heard = Heard()
    two.on(ConfigReload, heard)
    one.publish(ConfigReload(section="x" * 70_000))
    one.publish(ConfigReload(section="small"))
    assert [m.section for m in await heard.count(1)] == ["small"]
    assert one.counters.dropped == 1
    assert two.counters.gaps == 0  # the first that is heard says nothing of what was before


async def test_counters_of_what_was_sent_and_received(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    heard = Heard()
    two.on(ConfigReload, heard)
    before = two.counters.received
    one.publish(ConfigReload())
    await heard.count(1)
    assert (one.counters.sent, two.counters.received - before) == (1, 1)


# --------------------------------------------------------------------------- hostile input


def body(**fields: Any) -> bytes:
    usual = {
        "message_id": "b-1",
        "message_type": "ConfigReload",
        "subject": "config.reload",
        "sender_id": "evil",
        "timestamp_utc": wire.now_utc(),
        "payload": {},
    }
    return json.dumps({**usual, **fields}).encode()


SUBJECT = b"config.reload"


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([SUBJECT], id="one frame"),
        pytest.param([SUBJECT, body(), b""], id="three frames"),
        pytest.param([SUBJECT, b"\x00\xff"], id="no text"),
        pytest.param([SUBJECT, b"[" * 100_000], id="deep JSON"),
        pytest.param([SUBJECT, body(subject="tool.call.x")], id="another subject inside"),
        pytest.param([SUBJECT, body(message_type="Nonsense")], id="unknown type"),
        pytest.param([SUBJECT, body(message_type="Done")], id="a type of elsewhere"),
        pytest.param([SUBJECT, body(payload={"section": 7})], id="wrong payload"),
        pytest.param([SUBJECT, body(seq="x")], id="wrong number"),
        pytest.param([SUBJECT, b""], id="empty"),
    ],
)
async def test_malformed_input_is_counted_and_the_next_message_is_heard(memory: MemoryBus, frames: list[bytes]) -> None:
    one, two = await pair(memory)
    heard = Heard()
    two.on(ConfigReload, heard)
    memory.inject(*frames)
    one.publish(ConfigReload(section="fine"))
    assert [m.section for m in await heard.count(1)] == ["fine"]
    assert two.counters.refused == 1


async def test_noise_in_an_inbox_is_passed_over(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    heard = Heard()
    one.on(ConfigReload, heard)
    inbox = one.inbox
    for fields in (
        {"message_type": "Done", "correlation_id": "never-asked"},
        {"message_type": "Probe", "payload": {"nonce": "never-sent"}},
        {"message_type": "Probe", "payload": {}},
        {"message_type": "Nonsense"},
    ):
        memory.inject(inbox.encode(), body(subject=inbox, **fields))
    two.publish(ConfigReload())
    await heard.count(1)
    assert one.counters.refused == 1
    assert one.ready


@settings(max_examples=60)
@given(frames=st.lists(st.binary(max_size=60) | st.sampled_from([SUBJECT, b"inbox", body(), body(seq=-5)]), max_size=4))
def test_any_frames_leave_a_client_that_hears(frames: list[bytes]) -> None:
    async def scene() -> list[Any]:
        memory = MemoryBus()
        one, two = await pair(memory)
        heard = Heard()
        two.on(ConfigReload, Heard())
        two.on(ToolCall, heard, key="web")
        memory.inject(*frames)
        memory.inject(SUBJECT, *frames)
        one.publish(call("web"))
        return await heard.count(1)

    assert asyncio.run(scene()) == [call("web")]


# --------------------------------------------------------------------------- ask


def answering(served: list[str]) -> Callable[[ProcessesRequest, Envelope], Any]:
    async def answer(_message: ProcessesRequest, envelope: Envelope) -> Processes:
        served.append(envelope.message_id)
        return Processes(processes=[], supervisor=envelope.user_id)

    return answer


async def test_a_request_is_answered_at_the_askers_inbox(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    served: list[str] = []
    two.serve(ProcessesRequest, answering(served))
    answers = await asyncio.gather(
        *[one.request(ProcessesRequest(), Processes, turn=TurnRef("s", f"u{n}", "q")) for n in range(20)]
    )
    assert [answer.supervisor for answer in answers] == [f"u{n}" for n in range(20)]
    assert len(set(served)) == 20


async def test_a_request_is_sent_until_somebody_is_there(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    asked = asyncio.create_task(one.request(ProcessesRequest(), Processes))
    sent = Heard()
    two.on(ProcessesRequest, sent)
    await sent.count(2)
    two.serve(ProcessesRequest, answering([]))
    assert (await asked).processes == []


async def test_a_request_that_is_sent_again_is_served_once(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    seen, go, served = Heard(), asyncio.Event(), []

    async def slow(_message: ProcessesRequest, envelope: Envelope) -> Processes:
        served.append(envelope.message_id)
        await go.wait()
        return Processes(processes=[])

    two.on(ProcessesRequest, seen)
    two.serve(ProcessesRequest, slow)
    asked = asyncio.create_task(one.request(ProcessesRequest(), Processes))
    await seen.count(3)
    go.set()
    await asked
    assert len(served) == 1
    memory.inject(b"ops.processes", wire.encode(seen.envelopes[0]))  # it comes late once more: the same answer again
    await seen.count(4)
    assert len(served) == 1


async def test_a_refusal_is_raised_with_its_code(memory: MemoryBus) -> None:
    one, two = await pair(memory)

    async def refuse(_message: ProcessesRequest, _envelope: Envelope) -> Processes:
        raise RequestFailed("conflict", "somebody else has it")

    two.serve(ProcessesRequest, refuse)
    with pytest.raises(RequestFailed, match="somebody else has it") as caught:
        await one.request(ProcessesRequest(), Processes)
    assert caught.value.code == "conflict"


async def test_a_fault_in_a_server_is_a_refusal_without_its_words(memory: MemoryBus) -> None:
    one, two = await pair(memory)

    async def fails(_message: ProcessesRequest, _envelope: Envelope) -> Processes:
        raise ValueError("a secret")

    two.serve(ProcessesRequest, fails)
    with pytest.raises(RequestFailed, match="the log of this service") as caught:
        await one.request(ProcessesRequest(), Processes)
    assert caught.value.code == "internal"
    assert "secret" not in str(caught.value)


async def test_a_malformed_request_is_refused_at_once(memory: MemoryBus) -> None:
    one, two = await pair(memory)

    async def never(_message: ToolCall, _envelope: Envelope) -> Done:
        raise AssertionError

    two.serve(ToolCall, never)
    heard = Heard()
    one.on(Done, heard)
    frame = body(subject="tool.call", message_type="ToolCall", reply_to=one.inbox, payload={"tool": "t"})
    memory.inject(b"tool.call", frame)
    memory.inject(b"tool.call", body(subject="tool.call", message_type="ToolCall", reply_to="config.reload"))
    marker = Heard()
    two.on(ConfigReload, marker)
    await settle(memory, marker)
    replies = [frames for frames in memory.frames if b"bad_request" in frames[1]]
    assert [frames[0] for frames in replies] == [one.inbox.encode()]
    assert b"call_id" in replies[0][1]


async def test_nobody_can_have_an_answer_published_elsewhere(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    served: list[str] = []
    two.serve(ProcessesRequest, answering(served))
    memory.inject(
        b"ops.processes", body(subject="ops.processes", message_type="ProcessesRequest", reply_to="config.reload")
    )
    await one.request(ProcessesRequest(), Processes)
    assert len(served) == 2
    assert [frames for frames in memory.frames if frames[0] == b"config.reload"] == []


async def test_no_answer_in_time(memory: MemoryBus) -> None:
    one, _two = await pair(memory)
    with pytest.raises(RequestTimeout, match=r"no answer to 'ops.processes' within 0.05 s"):
        await one.request(ProcessesRequest(), Processes, timeout_s=0.05)
    assert one._pending == {}


async def test_an_answer_of_another_type_is_refused(memory: MemoryBus) -> None:
    one, two = await pair(memory)

    async def odd(_message: ProcessesRequest, _envelope: Envelope) -> Done:
        return Done()

    two.serve(ProcessesRequest, odd)
    with pytest.raises(EnvelopeError, match="expected Processes, got Done"):
        await one.request(ProcessesRequest(), Processes)


async def test_answers_that_are_kept_are_bounded(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    two.serve(ProcessesRequest, answering([]))
    for _ in range(600):
        await one.request(ProcessesRequest(), Processes)
    assert len(two._served) == 512


# --------------------------------------------------------------------------- readiness


async def test_what_is_published_before_the_bus_is_there_is_held_and_sent(memory: MemoryBus) -> None:
    listener = await memory.client("listener")
    heard = Heard()
    listener.on(ConfigReload, heard)
    early = memory.make("early")
    early.publish(ConfigReload(section="before open"))
    early.open()
    early.publish(ConfigReload(section="after open"))
    assert not early.ready
    assert [m.section for m in await heard.count(2)] == ["before open", "after open"]
    assert early.ready


async def test_while_the_proxy_is_away_messages_are_held(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    heard, back = Heard(), asyncio.Event()
    two.on(ConfigReload, heard)
    one.on_ready = back.set
    memory.break_link()
    assert not one.ready
    for number in range(7):
        one.publish(ConfigReload(section=str(number)))
    assert one.queued == 5
    memory.mend_link()
    await asyncio.wait_for(back.wait(), LIMIT_S)
    assert [m.section for m in await heard.count(5)] == ["2", "3", "4", "5", "6"]
    assert one.counters.dropped == 2


async def test_a_request_survives_a_restart_of_the_proxy(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    served: list[str] = []
    two.serve(ProcessesRequest, answering(served))
    memory.break_link()
    asked = asyncio.create_task(one.request(ProcessesRequest(), Processes))
    await asyncio.sleep(0)
    memory.mend_link()
    await asked
    assert len(served) == 1


async def test_a_link_that_breaks_while_it_is_probed_is_probed_anew(memory: MemoryBus) -> None:
    one, _two = await pair(memory)
    for _ in range(3):
        memory.break_link()
        memory.mend_link()
        await asyncio.sleep(0)
    await one.wait_ready(LIMIT_S)
    assert one._probes == {}


async def test_no_bus_is_said(memory: MemoryBus) -> None:
    memory.up = False
    client = memory.make("alone")
    client.open()
    with pytest.raises(BusUnavailable, match="is the proxy running"):
        await client.wait_ready(0.01)
    await client.close()


async def test_closing_ends_what_runs(memory: MemoryBus) -> None:
    one, two = await pair(memory)
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def forever(_message: ConfigReload, _envelope: Envelope) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    two.on(ConfigReload, forever)
    one.publish(ConfigReload())
    await started.wait()
    await two.close()
    assert cancelled.is_set()
    await two.close()


# ------------------------------------------------------------------ observing


async def test_an_observer_sees_everything_but_inboxes_until_it_stops(memory: MemoryBus) -> None:
    sender, watcher = await memory.client("sender"), await memory.client("watcher")
    seen: list[str] = []
    came = asyncio.Event()

    def observe(envelope: Envelope, body: bytes) -> None:
        assert wire.decode(body) == envelope
        seen.append(envelope.subject)
        came.set()

    async def answer(_message: ProcessesRequest, _envelope: Envelope) -> Processes:
        return Processes(processes=[])

    sender.serve(ProcessesRequest, answer)
    stop = watcher.observe(observe)
    await watcher.request(ProcessesRequest(), Processes)
    stop()
    stop()
    received = watcher.counters.received
    sender.publish(ToolCall(tool="x", call_id="c", args={}))
    await watcher.request(ProcessesRequest(), Processes)
    assert seen == ["ops.processes"]
    assert watcher.counters.received == received + 1


async def test_a_faulty_observer_harms_nobody(memory: MemoryBus) -> None:
    sender, watcher = await memory.client("sender"), await memory.client("watcher")
    heard = Heard()

    def fail(_envelope: Envelope, _body: bytes) -> None:
        raise RuntimeError("a fault in a test")

    watcher.observe(fail)
    watcher.on(ConfigReload, heard)
    sender.publish(ConfigReload(section="x"))
    assert await heard.count(1)


async def test_plain_function_answers_at_once_refuses_and_may_stay_silent(memory: MemoryBus) -> None:
    one, two = await memory.client("one"), await memory.client("two")
    answers: list[Any] = [None, RequestFailed("no", "Not today."), ValueError("a fault"), Processes(processes=[])]

    def serve(_message: ProcessesRequest, _envelope: Envelope) -> Processes | None:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    two.serve(ProcessesRequest, serve)
    with pytest.raises(RequestTimeout):
        await one.request(ProcessesRequest(), Processes, timeout_s=0.05)
    for code in ("no", "internal"):
        with pytest.raises(RequestFailed) as caught:
            await one.request(ProcessesRequest(), Processes)
        assert caught.value.code == code
    assert await one.request(ProcessesRequest(), Processes) == Processes(processes=[])
