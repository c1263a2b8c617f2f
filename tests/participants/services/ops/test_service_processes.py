"""ops among real processes, on a real supervisord, with real signals."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from bus.client import BusClient
from bus.messages.control import (
    OpsProcess,
    Presence,
    PresenceRequest,
    Processes,
    ProcessesRequest,
    ProcessInfo,
)
from tests.support.stage import LIMIT_S, Heard, Stage, module, presence

OPS, DATETIME, PROXY = "participants.services.ops", "participants.tools.datetime", "bus.proxy"
STACK = {"proxy": module(PROXY), "ops": module(OPS), "datetime": module(DATETIME), "standin": "/bin/sleep 1000"}
pytestmark = pytest.mark.stack


class Watched:
    """A client that listens to what ops says."""

    def __init__(self, client: BusClient) -> None:
        self.client, self.events, self.presence = client, Heard(), Heard()
        client.on(OpsProcess, self.events)
        client.on(Presence, self.presence)

    async def ready(self, *names: str) -> None:
        """Wait for ops, and then for what the others say: ops hears that too."""
        self.client.publish(PresenceRequest())
        await self.presence.first(presence("ops"))
        self.presence.forget()
        self.client.publish(PresenceRequest())
        for name in names:
            await self.presence.first(presence(name))

    async def event(self, name: str, event: str, **wanted: Any) -> OpsProcess:
        def fits(said: OpsProcess) -> bool:
            return (said.name, said.event) == (name, event) and all(getattr(said, k) == v for k, v in wanted.items())

        return await self.events.first(fits)

    async def processes(self) -> dict[str, ProcessInfo]:
        answer = await self.client.request(ProcessesRequest(), Processes, timeout_s=20)
        return {row.name: row for row in answer.processes}

    async def back(self, name: str, pid: int) -> Presence:
        """The presence of a new process of `name`."""
        return await self.presence.first(lambda m: m.name == name and m.state == "ready" and m.pid != pid)


@pytest.fixture
async def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter times than in a real stack."""
    monkeypatch.setenv("LOCAL2_SYSTEM__HEARTBEAT_S", "0.2")
    monkeypatch.setenv("LOCAL2_OPS__WEDGED_S", "1.5")
    monkeypatch.setenv("LOCAL2_OPS__RETRY_FIRST_S", "0.1")
    monkeypatch.setenv("LOCAL2_OPS__RESCAN_S", "0.5")


@pytest.fixture
async def watched(fast: None, stage: Stage) -> Watched:
    await stage.supervise(STACK)
    watched = Watched(await stage.client())
    await watched.ready("datetime")
    return watched


async def test_a_killed_program_is_told_and_started_again(watched: Watched) -> None:
    pid = (await watched.processes())["standin"].pid
    os.kill(pid, signal.SIGKILL)
    died = await watched.event("standin", "died")
    started = await watched.event("standin", "started")
    assert (died.pid, died.reason) == (pid, "killed by SIGKILL")
    assert started.restarts == 1
    assert (await watched.processes())["standin"].pid == started.pid


async def test_a_killed_tool_is_back_on_the_bus(watched: Watched) -> None:
    pid = (await watched.processes())["datetime"].pid
    os.kill(pid, signal.SIGKILL)
    back = await watched.back("datetime", pid)
    assert (await watched.event("datetime", "started")).pid == back.pid
    row = (await watched.processes())["datetime"]
    assert (row.state, row.restarts, row.sender_id) == ("ready", 1, "datetime_tool")
    assert row.rss_bytes > 0


async def test_the_proxy_is_brought_back_and_the_news_of_it_arrive(watched: Watched) -> None:
    os.kill((await watched.processes())["proxy"].pid, signal.SIGKILL)
    await watched.event("proxy", "started", restarts=1)
    assert (await watched.processes())["proxy"].state == "ready"


async def test_ops_itself_comes_back_and_goes_on_watching(watched: Watched) -> None:
    rows = await watched.processes()
    os.kill(rows["ops"].pid, signal.SIGKILL)
    await watched.back("ops", rows["ops"].pid)
    os.kill(rows["standin"].pid, signal.SIGKILL)
    await watched.event("standin", "started", restarts=1)


async def test_what_a_person_stops_stays_stopped(watched: Watched, stage: Stage) -> None:
    await stage.control("stop", "standin")
    await watched.event("standin", "died")
    await watched.event("standin", "stopped")
    watched.events.forget()
    os.kill((await watched.processes())["datetime"].pid, signal.SIGKILL)
    await watched.event("datetime", "started")
    assert (await watched.processes())["standin"].state == "stopped"
    assert {said.name for said in watched.events.messages} == {"datetime"}


async def test_what_a_killed_program_left_running_ends_with_it(fast: None, stage: Stage, tmp_path: Path) -> None:
    alive, never = tmp_path / "alive", tmp_path / "never"  # its child holds the first one open until it ends
    os.mkfifo(alive)
    os.mkfifo(never)
    await stage.supervise({**STACK, "family": f"/bin/sh -c 'sleep 1000 > {alive} & read line < {never}'"})
    watched = Watched(await stage.client())
    await watched.ready("datetime")
    child = asyncio.StreamReader()
    pipe = await asyncio.to_thread(alive.open, "rb", buffering=0)
    alive.unlink()
    os.mkfifo(alive)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(child), pipe)
    os.kill((await watched.processes())["family"].pid, signal.SIGKILL)
    assert await asyncio.wait_for(child.read(), LIMIT_S) == b""


async def test_a_stopped_process_is_wedged_and_replaced(watched: Watched) -> None:
    pid = (await watched.processes())["datetime"].pid
    os.kill(pid, signal.SIGSTOP)
    assert (await watched.event("datetime", "wedged")).pid == pid
    await watched.back("datetime", pid)
    assert {said.name for said in watched.events.messages} == {"datetime"}


async def test_of_a_stopped_proxy_nobody_else_is_blamed(watched: Watched) -> None:
    pids = {row.name: row.pid for row in (await watched.processes()).values()}
    os.kill(pids["proxy"], signal.SIGSTOP)
    await watched.event("proxy", "wedged")
    await watched.event("proxy", "started")
    after = {row.name: row.pid for row in (await watched.processes()).values()}
    assert {name for name in pids if pids[name] != after[name]} == {"proxy"}


async def test_a_given_up_program_is_tried_again_until_it_runs(fast: None, stage: Stage) -> None:
    flaky = f'/bin/sh -c "test -e {stage.home}/mended && exec /bin/sleep 1000"'
    await stage.supervise({**STACK, "flaky": flaky}, startsecs=1, asleep=frozenset({"flaky"}))
    watched = Watched(await stage.client())
    await watched.ready()
    await stage.control("start", "flaky")
    assert (await watched.event("flaky", "fatal")).reason
    watched.events.forget()
    await watched.event("flaky", "fatal")
    (stage.home / "mended").touch()
    watched.events.forget()
    started = await watched.event("flaky", "started")
    assert started.restarts > 0


async def test_without_supervisord_the_beats_are_what_is_known(fast: None, stage: Stage) -> None:
    await stage.start(PROXY)
    watched = Watched(await stage.client())
    await stage.start(OPS)
    tool = await stage.start(DATETIME)
    await watched.ready("datetime")
    answer = await watched.client.request(ProcessesRequest(), Processes)
    states = {row.name: (row.state, row.pid) for row in answer.processes}
    assert "does not answer" in answer.supervisor
    assert states["datetime"] == ("ready", tool.pid)
    await tool.kill()
    await watched.event("datetime", "died", pid=tool.pid)
    assert (await watched.processes())["datetime"].state == "stopped"


async def test_a_program_may_run_by_hand_beside_supervisord(fast: None, stage: Stage) -> None:
    await stage.supervise(STACK, asleep=frozenset({"datetime"}))
    watched = Watched(await stage.client())
    await watched.ready()
    tool = await stage.start(DATETIME)
    await watched.event("datetime", "started", pid=tool.pid)
    assert (await watched.processes())["datetime"].state == "ready"
    await tool.kill()
    await watched.event("datetime", "died", pid=tool.pid)
