"""A participant as a real process: the datetime tool."""

from __future__ import annotations

import signal
import sys

import pytest

from bus.client import BusClient
from bus.envelope import Envelope
from bus.messages.control import ConfigReload, Heartbeat, Presence
from bus.messages.tool import ToolCall, ToolResult, ToolSchema
from tests.support.stage import ROOT, Heard, Running, Stage, presence

PROXY, DATETIME = "bus.proxy", "participants.tools.datetime"


class Listening:
    """A client, and what it heard of the tool."""

    def __init__(self, client: BusClient) -> None:
        self.client = client
        self.presence, self.beats, self.schemas, self.results = Heard(), Heard(), Heard(), Heard()
        self.senders: set[str] = set()
        client.on(Presence, self._presence)
        client.on(Heartbeat, self.beats)
        client.on(ToolSchema, self.schemas)
        client.on(ToolResult, self.results)

    def _presence(self, message: Presence, envelope: Envelope) -> None:
        self.senders.add(envelope.sender_id)
        self.presence(message, envelope)

    async def call(self, call_id: str, **args: object) -> ToolResult:
        self.client.publish(ToolCall(tool="get_datetime", call_id=call_id, args=args))
        return await self.results.first(lambda m: m.call_id == call_id)


@pytest.fixture
async def listening(stage: Stage) -> Listening:
    await stage.start(PROXY)
    return Listening(await stage.client())


async def start(stage: Stage, listening: Listening, **variables: str) -> Running:
    tool = await stage.start(DATETIME, **variables)
    await listening.presence.first(lambda m: m.state == "ready" and m.pid == tool.pid)
    return tool


async def test_it_announces_beats_answers_and_leaves(stage: Stage, listening: Listening) -> None:
    tool = await start(stage, listening, LOCAL2_SYSTEM__HEARTBEAT_S="0.05")
    schema = await listening.schemas.first(lambda m: m.tool == "get_datetime")
    assert schema.pid == tool.pid
    first = await listening.beats.first(lambda m: m.name == "datetime")
    await listening.beats.first(lambda m: m.sent > first.sent)
    result = await listening.call("1", timezone="Asia/Kathmandu")
    assert result.result.endswith("time zone Asia/Kathmandu, UTC+05:45")
    tool.send(signal.SIGTERM)
    assert await tool.ended() == 0
    await listening.presence.first(presence("datetime", "gone"))
    assert [m.state for m in listening.presence.messages] == ["ready", "draining", "gone"]
    assert listening.schemas.messages[-1].withdrawn
    assert listening.senders == {"datetime_tool"}
    assert listening.client.counters.gaps == 0
    assert "Traceback" not in tool.output


@pytest.mark.parametrize("args", [{"timezone": 7}, {"timezone": ["x"]}, {"timezone": None}, {"x": {"y": [1]}}, {}])
async def test_odd_arguments_are_answered(stage: Stage, listening: Listening, args: dict[str, object]) -> None:
    await start(stage, listening)
    assert (await listening.call("1", **args)).outcome in ("ok", "failed")
    assert (await listening.call("2")).outcome == "ok"


async def test_a_reload_takes_good_values_and_refuses_bad_ones(stage: Stage, listening: Listening) -> None:
    await start(stage, listening)
    stage.setting("datetime", "description: What time is it?\n")
    listening.client.publish(ConfigReload(section="datetime"))
    await listening.schemas.first(lambda m: m.description == "What time is it?")
    stage.setting("datetime", "description: 7\n")
    listening.client.publish(ConfigReload())
    said = await listening.presence.first(lambda m: m.note)
    assert f"{stage.home}/config/datetime.yaml: description: Expected `str`, got `int`" in said.note
    assert (await listening.call("1")).outcome == "ok"


async def test_a_second_one_says_who_has_the_name(stage: Stage, listening: Listening) -> None:
    first = await start(stage, listening)
    second = await stage.start(DATETIME)
    assert await second.ended() == 1
    assert second.output.startswith(f"datetime: datetime already runs on this home (pid {first.pid})")
    assert "Traceback" not in second.output
    assert (await listening.call("1")).outcome == "ok"


async def test_a_missing_id_is_shown_and_is_no_failure(stage: Stage, listening: Listening) -> None:
    stage.setting("datetime", "id: '[set id in yaml]'\n")
    await start(stage, listening)
    assert listening.senders == {"[set id in yaml]"}


@pytest.mark.parametrize(
    ("section", "text", "words"),
    [
        ("datetime", "colour: red\n", "unknown field `colour`"),
        ("datetime", "id: [\n", "line 2"),
        ("system", "heartbeat_s: 0\n", "heartbeat_s"),
        ("bus", "transport: pigeon\n", "transport: Invalid enum value 'pigeon'"),
    ],
)
async def test_a_bad_yaml_refuses_the_start_in_words(stage: Stage, section: str, text: str, words: str) -> None:
    stage.setting(section, text)
    tool = await stage.start(DATETIME)
    assert await tool.ended() == 1
    assert f"{stage.home}/config/{section}.yaml" in tool.output
    assert words in tool.output
    assert "Traceback" not in tool.output


async def test_an_interrupt_from_the_terminal_ends_it_well(stage: Stage, listening: Listening) -> None:
    tool = await start(stage, listening)
    tool.send(signal.SIGINT)
    assert await tool.ended() == 0


async def test_it_ends_with_its_parent(stage: Stage, listening: Listening) -> None:
    """The pipe for its log, which supervisord reads, breaks with it."""
    run = f"subprocess.Popen([sys.executable, '-m', '{DATETIME}'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)"
    code = f"import subprocess, sys; {run}.wait()"
    parent = await stage.start(sys.executable, "-c", code, LOCAL2_SYSTEM__HEARTBEAT_S="0.1")
    await listening.presence.first(presence("datetime"))
    await parent.kill()
    await listening.presence.first(presence("datetime", "gone"))


async def test_it_goes_on_after_a_restart_of_the_proxy(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    listening = Listening(await stage.client())
    await start(stage, listening)
    await proxy.kill()
    listening.presence.forget()
    await stage.start(PROXY)
    await listening.presence.first(presence("datetime"))
    assert (await listening.call("1")).outcome == "ok"


_BLOCKS = """
import sys, time

from participants.participant import main
from participants.tools.base import BaseTool


class Blocks(BaseTool):
    CONFIG_NAME = "blocks"

    def run_call(self, args):
        time.sleep(3600)


sys.exit(main(Blocks))
"""
_BLOCKS_YAML = "id: blocks_tool\ntool: blocks\ndescription: Blocks.\nparameters: {type: object}\n"


async def test_a_thread_that_never_ends_keeps_nobody_from_leaving(stage: Stage, listening: Listening) -> None:
    folder = stage.home / "participants"
    folder.mkdir()
    (folder / "blocks.py").write_text(_BLOCKS)
    (folder / "blocks.yaml").write_text(_BLOCKS_YAML)
    variables = {"LOCAL2_SYSTEM__HEARTBEAT_S": "0.05", "LOCAL2_SYSTEM__DRAIN_S": "0.2", "PYTHONPATH": str(ROOT)}
    tool = await stage.start(sys.executable, str(folder / "blocks.py"), **variables)
    await listening.presence.first(lambda m: m.state == "ready" and m.pid == tool.pid)
    listening.client.publish(ToolCall(tool="blocks", call_id="1", args={}))
    beat = await listening.beats.first(lambda m: m.pools and m.pools[0].running == 1)
    assert (beat.pools[0].name, beat.pools[0].waiting) == ("calls", 0)
    tool.send(signal.SIGTERM)
    assert (await listening.results.first(lambda m: m.call_id == "1")).outcome == "cancelled"
    assert await tool.ended() == 0
