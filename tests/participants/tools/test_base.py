"""What every tool does with calls, whatever it is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, ClassVar, cast

import pytest

from bus import subjects
from bus.client import BusClient
from bus.config import SystemConfig
from bus.envelope import NO_TURN, Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.base import Message, about
from bus.messages.control import ConfigReload, Done, Heartbeat, Presence, ToolTransition
from bus.messages.tool import (
    CancelTool,
    Policies,
    ToolActivity,
    ToolCall,
    ToolResult,
    ToolSchema,
    ToolSchemaRequest,
)
from bus.testing import MemoryBus
from participants.tools.base import BaseTool, Found, ToolConfig, ToolFailed
from tests.support.stage import Heard, presence

CONFIG = ToolConfig(
    id="probe_tool",
    tool="probe",
    description="For tests.",
    parameters={"type": "object"},
    policies=Policies(concurrency=2),
)
TURN = TurnRef("s", "u", "q")


class Question(Message, frozen=True):
    """Asks a service that a test makes up."""

    SUBJECT = "oracle.ask"


class Answer(Message, frozen=True):
    """Its answer."""

    SUBJECT = subjects.INBOX

    text: Annotated[str, about("What the oracle says.")]


class Panic(BaseException):
    """As a library in Rust raises it: no Exception."""


class ProbeTool(BaseTool):
    """Does what the argument `do` says."""

    CONFIG_NAME: ClassVar[str] = "probe"

    async def setup(self) -> None:
        await super().setup()
        self.go = asyncio.Event()
        self.runs: list[dict[str, Any]] = []
        self.inside = self.most = 0

    async def run_call(self, args: dict[str, Any]) -> str | Found:
        self.runs.append(args)
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            return await getattr(self, f"do_{args.get('do', 'echo')}")(args)
        finally:
            self.inside -= 1

    async def do_echo(self, args: dict[str, Any]) -> str:
        return str(args.get("text", ""))

    async def do_wait(self, _args: dict[str, Any]) -> str:
        await self.go.wait()
        return "waited"

    async def do_refuse(self, _args: dict[str, Any]) -> str:
        raise ToolFailed("Nothing there: ask for something else.")

    async def do_crash(self, _args: dict[str, Any]) -> str:
        raise ValueError("a secret")

    async def do_inner_timeout(self, _args: dict[str, Any]) -> str:
        raise TimeoutError

    async def do_sources(self, _args: dict[str, Any]) -> Found:
        return Found(text="found", sources=[{"title": "T", "url": "http://example"}])

    async def do_nothing(self, _args: dict[str, Any]) -> Any:
        return None

    async def do_unsendable(self, _args: dict[str, Any]) -> Found:
        return Found(text="found", sources=[{"title": object()}])

    async def do_panic(self, _args: dict[str, Any]) -> str:
        raise Panic

    async def do_no_list(self, _args: dict[str, Any]) -> Found:
        return Found(text="found", sources=cast("Any", {"title": "T"}))

    async def do_odd_source(self, _args: dict[str, Any]) -> Found:
        return Found(text="found", sources=cast("Any", [1, None]))

    async def do_large_sources(self, _args: dict[str, Any]) -> Found:
        return Found(text="found", sources=[{"title": "t" * 5_000_000}])

    async def do_surrogate(self, _args: dict[str, Any]) -> str:
        return "a\ud800b"

    async def do_where(self, _args: dict[str, Any]) -> str:
        return threading.current_thread().name

    async def do_whoami(self, args: dict[str, Any]) -> str:
        if args.get("meet"):
            await self.go.wait()
        return "/".join(self.turn)

    async def do_ask(self, _args: dict[str, Any]) -> str:
        return (await self.ask(Question(), Answer, who="The oracle", timeout_s=0.05)).text

    async def do_long(self, _args: dict[str, Any]) -> str:
        return "x" * 20_000_000


class Scene:
    """A tool, somebody who calls it, and what was heard."""

    def __init__(self, tool: Any, caller: BusClient, life: asyncio.Task[None]) -> None:
        self.tool, self.caller, self.life = tool, caller, life
        self.results, self.schemas, self.moves, self.activity = Heard(), Heard(), Heard(), Heard()
        self.presence = Heard()
        self.turns: list[TurnRef] = []
        caller.on(ToolResult, self._result)
        caller.on(ToolSchema, self.schemas)
        caller.on(ToolTransition, self.moves)
        caller.on(ToolActivity, self.activity)
        caller.on(Presence, self.presence)

    def _result(self, result: ToolResult, envelope: Envelope) -> None:
        self.turns.append(envelope.turn)
        self.results(result, envelope)

    def call(self, call_id: str, timeout_s: float = 10.0, boot: str = "", turn: TurnRef = TURN, **args: Any) -> None:
        call = ToolCall(tool="probe", call_id=call_id, args=args, timeout_s=timeout_s, boot=boot)
        self.caller.publish(call, turn=turn)

    def cancel(self, call_id: str) -> None:
        self.caller.publish(CancelTool(tool="probe", call_id=call_id))

    async def result(self, call_id: str) -> ToolResult:
        return await self.results.first(lambda m: m.call_id == call_id)

    async def running(self, call_id: str) -> None:
        await self.activity.first(lambda m: (m.call_id, m.event) == (call_id, "running"))


@pytest.fixture
async def scene(memory: MemoryBus) -> AsyncIterator[Scene]:
    bus = memory.make("probe", sender_id="probe_tool")
    tool = ProbeTool(CONFIG, bus, SystemConfig(instance_id="here", heartbeat_s=100, drain_s=5))
    scene = Scene(tool, await memory.client("caller"), asyncio.create_task(tool.run()))
    await scene.presence.first(presence("probe"))
    yield scene
    tool.stop()
    await asyncio.wait_for(scene.life, 10)
    await scene.caller.close()


@pytest.fixture
def memory() -> MemoryBus:
    return MemoryBus()


@pytest.mark.parametrize(
    ("do", "outcome", "words"),
    [
        ("echo", "ok", ""),
        ("refuse", "failed", "Nothing there: ask for something else."),
        ("crash", "failed", "probe failed inside; its log says why. Go on without it."),
        ("inner_timeout", "failed", "probe failed inside; its log says why. Go on without it."),
        ("sources", "ok", "found"),
        ("nothing", "failed", "probe failed inside; its log says why. Go on without it."),
        ("unsendable", "failed", "probe gave no usable result; its log says why. Go on without it."),
        ("panic", "failed", "probe failed inside; its log says why. Go on without it."),
        ("no_list", "failed", "probe gave no usable result; its log says why. Go on without it."),
        ("odd_source", "failed", "probe gave no usable result; its log says why. Go on without it."),
        ("large_sources", "failed", "probe gave no usable result; its log says why. Go on without it."),
        ("surrogate", "ok", "a?b"),
        ("missing", "failed", "probe failed inside; its log says why. Go on without it."),
        (["a", "list"], "failed", "probe failed inside; its log says why. Go on without it."),
    ],
)
async def test_every_ending_is_one_answer(scene: Scene, do: object, outcome: str, words: str) -> None:
    scene.call("1", do=do)
    result = await scene.result("1")
    assert (result.outcome, result.result) == (outcome, words)
    assert scene.turns == [("s", "u", "q")]


async def test_sources_are_passed_on(scene: Scene) -> None:
    scene.call("1", do="sources")
    assert (await scene.result("1")).sources == [{"title": "T", "url": "http://example"}]


async def test_a_result_that_no_message_can_hold_is_cut(scene: Scene) -> None:
    scene.call("1", do="long")
    result = await scene.result("1")
    assert (result.outcome, len(result.result)) == ("ok", 1_000_000)


async def test_a_call_moves_through_its_states(scene: Scene) -> None:
    scene.call("1", text="x")
    await scene.moves.first(lambda m: m.after == "ENDED")
    assert [(m.before, m.action, m.after) for m in scene.moves.messages] == [
        ("WAITING", "RUN", "RUNNING"),
        ("RUNNING", "END", "ENDED"),
    ]


async def test_a_call_that_came_twice_runs_once_and_is_answered_twice(scene: Scene) -> None:
    scene.call("1", text="x")
    await scene.result("1")
    scene.results.forget()
    scene.call("1", text="x")
    assert (await scene.result("1")).result == "x"
    assert len(scene.tool.runs) == 1


async def test_a_call_that_came_twice_while_it_runs_is_answered_once(scene: Scene) -> None:
    scene.call("1", do="wait")
    await scene.running("1")
    scene.call("1", do="wait")
    scene.call("2")
    await scene.result("2")
    scene.tool.go.set()
    await scene.result("1")
    assert [m.call_id for m in scene.results.messages] == ["2", "1"]
    assert len(scene.tool.runs) == 2


async def test_only_so_many_run_at_once(scene: Scene) -> None:
    for number in range(10):
        scene.call(str(number), do="wait")
    await scene.running("1")
    scene.tool.go.set()
    for number in range(10):
        assert (await scene.result(str(number))).outcome == "ok"
    assert scene.tool.most == 2


async def test_a_call_that_takes_too_long_is_stopped(scene: Scene) -> None:
    scene.call("1", timeout_s=0.05, do="wait")
    result = await scene.result("1")
    assert (result.outcome, result.result) == ("timeout", "probe took longer than 0.05 s and was stopped.")
    assert scene.tool.inside == 0


async def test_the_time_in_the_queue_counts(scene: Scene) -> None:
    scene.call("1", do="wait")
    scene.call("2", do="wait")
    scene.call("3", timeout_s=0.05, do="wait")
    assert (await scene.result("3")).outcome == "timeout"
    assert len(scene.tool.runs) == 2
    scene.tool.go.set()


@pytest.mark.parametrize("timeout_s", [0.0, -1.0])
async def test_a_call_without_time_is_answered(scene: Scene, timeout_s: float) -> None:
    scene.call("1", timeout_s=timeout_s, do="wait")
    assert (await scene.result("1")).outcome == "timeout"


async def test_a_call_for_another_process_is_left_alone(scene: Scene) -> None:
    scene.call("1", boot="another")
    scene.call("2", boot=scene.tool.bus.boot)
    await scene.result("2")
    assert [m.call_id for m in scene.results.messages] == ["2"]


async def test_a_running_call_can_be_stopped(scene: Scene) -> None:
    scene.call("1", do="wait")
    await scene.running("1")
    scene.cancel("1")
    assert (await scene.result("1")).outcome == "cancelled"
    assert scene.tool.inside == 0


async def test_a_call_can_be_stopped_before_it_begins(scene: Scene) -> None:
    scene.call("1", do="wait")
    scene.cancel("1")
    assert (await scene.result("1")).outcome == "cancelled"


async def test_a_waiting_call_can_be_stopped_and_takes_no_place(scene: Scene) -> None:
    scene.call("1", do="wait")
    scene.call("2", do="wait")
    await scene.running("2")
    scene.call("3", do="wait")
    scene.cancel("3")
    assert (await scene.result("3")).outcome == "cancelled"
    scene.tool.go.set()
    scene.call("4")
    assert (await scene.result("4")).outcome == "ok"


@pytest.mark.parametrize("call_id", ["1", "never"])
async def test_a_stop_that_comes_too_late_changes_nothing(scene: Scene, call_id: str) -> None:
    scene.call("1", text="x")
    await scene.result("1")
    scene.cancel(call_id)
    scene.call("2", text="y")
    await scene.result("2")
    assert [(m.call_id, m.outcome) for m in scene.results.messages] == [("1", "ok"), ("2", "ok")]


async def test_the_schema_is_said_at_the_start_and_when_asked_for(scene: Scene) -> None:
    scene.schemas.forget()
    scene.caller.publish(ToolSchemaRequest())
    schema = await scene.schemas.first(lambda m: m.tool == "probe")
    assert (schema.name, schema.description, schema.policies.concurrency) == ("probe", "For tests.", 2)
    assert not schema.withdrawn


async def test_a_drain_withdraws_and_finishes_what_runs_and_what_still_comes(scene: Scene) -> None:
    scene.call("1", do="wait")
    await scene.running("1")
    scene.tool.stop()
    await scene.schemas.first(lambda m: m.withdrawn)
    scene.schemas.forget()
    scene.caller.publish(ToolSchemaRequest())
    assert (await scene.schemas.first(lambda m: m.tool == "probe")).withdrawn
    scene.call("2", text="late")
    await scene.result("2")
    assert not scene.life.done()
    scene.tool.go.set()
    assert (await scene.result("1")).outcome == "ok"
    await scene.presence.first(presence("probe", "gone"))
    await scene.life


async def test_what_a_drain_cannot_wait_for_is_answered_as_stopped(memory: MemoryBus) -> None:
    tool = ProbeTool(CONFIG, memory.make("probe"), SystemConfig(instance_id="here", heartbeat_s=100, drain_s=0.01))
    scene = Scene(tool, await memory.client("caller"), asyncio.create_task(tool.run()))
    await scene.presence.first(presence("probe"))
    scene.call("1", do="wait")
    await scene.running("1")
    tool.stop()
    assert (await scene.result("1")).outcome == "cancelled"
    await scene.life


def reloaded(**changes: Any) -> Callable[[str, type[Any]], ToolConfig]:
    values = {name: getattr(CONFIG, name) for name in CONFIG.__struct_fields__}
    return lambda _section, _kind: ToolConfig(**{**values, **changes})


async def test_a_new_name_and_new_limits_hold_from_a_reload_on(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = reloaded(tool="renamed", id="new_id", policies=Policies(concurrency=1))
    monkeypatch.setattr("participants.participant.load", fresh)
    scene.schemas.forget()
    scene.caller.publish(ConfigReload(section="probe"))
    assert (await scene.schemas.first(lambda m: m.tool == "probe")).withdrawn
    await scene.schemas.first(lambda m: m.tool == "renamed" and not m.withdrawn)
    for number in range(3):
        scene.caller.publish(ToolCall(tool="renamed", call_id=str(number), args={"do": "wait"}))
    await scene.running("0")
    scene.tool.go.set()
    await scene.result("2")
    assert scene.tool.most == 1
    assert scene.tool.bus.sender_id == "new_id"


# ---------------------------------------------------------------------- blocking work


class BlockingTool(BaseTool):
    """Its `run_call` is a plain function."""

    CONFIG_NAME: ClassVar[str] = "probe"

    async def setup(self) -> None:
        await super().setup()
        self.go = threading.Event()

    def run_call(self, args: dict[str, Any]) -> str:
        if args.get("do") == "refuse":
            raise ToolFailed("Nothing there.")
        if args.get("do") == "wait":
            self.go.wait(10)
        return threading.current_thread().name


@pytest.fixture
async def blocking(memory: MemoryBus) -> AsyncIterator[Scene]:
    tool = BlockingTool(CONFIG, memory.make("probe"), SystemConfig(instance_id="here", heartbeat_s=0.02, drain_s=5))
    scene = Scene(tool, await memory.client("caller"), asyncio.create_task(tool.run()))
    await scene.presence.first(presence("probe"))
    yield scene
    tool.go.set()
    tool.stop()
    await asyncio.wait_for(scene.life, 10)
    await scene.caller.close()


async def test_a_plain_function_runs_in_a_thread_and_blocks_nothing(blocking: Scene) -> None:
    beats = Heard()
    blocking.caller.on(Heartbeat, beats)
    for number in range(3):
        blocking.call(str(number), do="wait")
    pool = (await beats.first(lambda m: m.pools and m.pools[-1].running == 2)).pools[-1]
    assert (pool.name, pool.workers) == ("calls", 2)
    blocking.tool.go.set()
    assert (await blocking.result("2")).result.startswith("calls")


async def test_a_thread_may_refuse(blocking: Scene) -> None:
    blocking.call("1", do="refuse")
    assert (await blocking.result("1")).result == "Nothing there."


async def test_nobody_waits_for_a_thread_past_the_deadline(blocking: Scene) -> None:
    blocking.call("1", timeout_s=0.05, do="wait")
    assert (await blocking.result("1")).outcome == "timeout"
    assert blocking.tool.pools["calls"].running == 1
    blocking.call("2")
    assert (await blocking.result("2")).outcome == "ok"


@pytest.mark.parametrize(("offloaded", "thread"), [(True, "calls"), (False, "MainThread")])
async def test_a_coroutine_runs_in_a_thread_where_the_policies_say_so(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, offloaded: bool, thread: str
) -> None:
    fresh = reloaded(policies=Policies(offloaded=offloaded))
    monkeypatch.setattr("participants.participant.load", fresh)
    scene.schemas.forget()
    scene.caller.publish(ConfigReload(section="probe"))
    await scene.schemas.first(lambda m: m.policies.offloaded is offloaded)
    scene.call("1", do="where")
    assert (await scene.result("1")).result.startswith(thread)


async def test_calls_side_by_side_know_each_its_own_user(scene: Scene) -> None:
    scene.call("1", turn=TurnRef("s1", "ann", "q1"), do="whoami", meet=True)
    await scene.running("1")
    scene.call("2", turn=TurnRef("s2", "bob", "q2"), do="whoami", user_id="ann")
    assert (await scene.result("2")).result == "s2/bob/q2"
    scene.tool.go.set()
    assert (await scene.result("1")).result == "s1/ann/q1"
    assert scene.tool.turn == NO_TURN


async def test_a_call_in_a_thread_knows_its_user_too(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("participants.participant.load", reloaded(policies=Policies(offloaded=True)))
    scene.caller.publish(ConfigReload(section="probe"))
    await scene.schemas.first(lambda m: m.policies.offloaded)
    scene.call("1", do="whoami")
    assert (await scene.result("1")).result == "s/u/q"


async def test_a_service_is_asked_for_the_user_whose_call_it_is(scene: Scene) -> None:
    async def answer(_question: Question, request: Envelope) -> Answer:
        return Answer(text=f"hello {request.user_id}")

    scene.caller.serve(Question, answer)
    scene.call("1", do="ask")
    assert (await scene.result("1")).result == "hello u"


async def test_no_service_is_asked_for_nobody(scene: Scene) -> None:
    scene.caller.serve(Question, sleep)
    scene.call("1", turn=TurnRef("s", "", "q"), do="ask", user_id="ann")
    assert (await scene.result("1")).result == "This call belongs to no user, so nobody may be asked for it."


async def refuse(_question: Question, _request: Envelope) -> Message:
    raise RequestFailed("full", "The oracle is full: come again tomorrow.")


async def misunderstand(_question: Question, _request: Envelope) -> Message:
    return Done()


async def sleep(_question: Question, _request: Envelope) -> Message:
    await asyncio.Event().wait()
    raise AssertionError("unreachable: nobody wakes it")


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (refuse, "The oracle is full: come again tomorrow."),
        (misunderstand, "The oracle does not answer now. Go on without it, and tell the user."),
        (sleep, "The oracle does not answer now. Go on without it, and tell the user."),
    ],
)
async def test_a_service_that_gives_no_answer_fails_the_call_with_words(scene: Scene, server: Any, words: str) -> None:
    scene.caller.serve(Question, server)
    scene.call("1", do="ask")
    result = await scene.result("1")
    assert (result.outcome, result.result) == ("failed", words)
