"""The real proxy, and real clients on it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from bus import paths
from bus.client import BusClient
from bus.envelope import Envelope
from bus.messages.control import ConfigReload, Presence, Processes, ProcessesRequest
from tests.support.stage import LIMIT_S, Heard, Stage

PROXY = "bus.proxy"


async def echo(_request: ProcessesRequest, envelope: Envelope) -> Processes:
    """An answer that only this request gets."""
    return Processes(processes=[], supervisor=envelope.query_id)


async def ask(client: BusClient) -> str:
    return (await client.request(ProcessesRequest(), Processes, timeout_s=LIMIT_S)).supervisor


async def test_what_is_said_right_after_ready_is_never_lost(stage: Stage) -> None:
    await stage.start(PROXY)
    listener = await stage.client("listener")
    heard = Heard()
    listener.on(ConfigReload, heard)
    await ask_oneself(listener)
    for number in range(50):
        speaker = await stage.client(f"speaker{number}")
        speaker.publish(ConfigReload(section=str(number)))
        await heard.first(lambda m, n=str(number): m.section == n)
        await speaker.close()
    assert [m.section for m in heard.messages] == [str(number) for number in range(50)]
    assert listener.counters.gaps == 0


async def test_a_fault_while_reading_leaves_nothing_unread(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await stage.start(PROXY)
    listener = await stage.client("listener")
    heard = Heard()
    listener.on(ConfigReload, heard)
    await ask_oneself(listener)
    speaker = await stage.client("speaker")
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: faults.append(context))
    monkeypatch.setattr(listener, "on_gap", lambda _envelope, lost: 1 // (lost - 1))
    for number in (1, 3, 4, 5):
        monkeypatch.setitem(speaker._stamp._seq, ConfigReload.SUBJECT, number - 1)
        speaker.publish(ConfigReload(section=str(number)))
    await heard.first(lambda m: m.section == "5")
    assert len(faults) == 1


async def ask_oneself(client: BusClient) -> None:
    """A request to a service in the same client: once it is answered, all subscriptions before it are in place."""
    client.serve(ProcessesRequest, echo)
    await ask(client)


async def test_a_first_request_and_its_answer_are_never_lost(stage: Stage) -> None:
    await stage.start(PROXY)
    server = await stage.client("server")
    await ask_oneself(server)
    for number in range(50):
        asker = await stage.client(f"asker{number}")
        await asker.request(ProcessesRequest(), Processes, timeout_s=stage_resend(asker))
        await asker.close()


def stage_resend(client: BusClient) -> float:
    """Shorter than the pause after which a request is sent again: the first try has to do."""
    return client.config.resend_s * 0.9


async def test_clients_may_come_before_the_proxy(stage: Stage) -> None:
    client = await stage.client(ready=False)
    heard = Heard()
    client.on(ConfigReload, heard)
    client.publish(ConfigReload(section="early"))
    await stage.start(PROXY)
    await heard.first(lambda m: m.section == "early")


async def test_traffic_goes_on_after_a_kill(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    server, asker = await stage.client("server"), await stage.client("asker")
    await ask_oneself(server)
    stop, answered = asyncio.Event(), []

    async def traffic() -> None:
        while not stop.is_set():
            answered.append(await ask(asker))

    tasks = [asyncio.create_task(traffic()) for _ in range(4)]
    for _ in range(3):
        before = len(answered)
        await proxy.kill()
        proxy = await stage.start(PROXY)
        await asker.wait_ready(LIMIT_S)
        await ask(asker)
        assert len(answered) >= before
    stop.set()
    await asyncio.gather(*tasks)


async def test_messages_held_during_a_restart_arrive_at_those_who_came_back(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    speaker, listener = await stage.client("speaker"), await stage.client("listener")
    heard = Heard()
    listener.on(ConfigReload, heard)
    await ask_oneself(listener)
    down = asyncio.Event()
    link = speaker._on_link
    speaker._transport._on_link = lambda up: (link(up), down.set())  # type: ignore[union-attr]
    await proxy.kill()
    await asyncio.wait_for(down.wait(), LIMIT_S)
    for number in range(100):
        speaker.publish(ConfigReload(section=str(number)))
    await stage.start(PROXY)
    await heard.first(lambda m: m.section == "99")
    assert [m.section for m in heard.messages] == [str(number) for number in range(100)]


async def test_a_second_proxy_is_refused_and_the_first_keeps_its_place(stage: Stage) -> None:
    first = await stage.start(PROXY)
    client = await stage.client()
    await ask_oneself(client)
    second = await stage.start(PROXY)
    assert await second.ended() == 1
    assert f"proxy already runs on this home (pid {first.pid})" in second.output
    await ask(client)
    late = await stage.client("late")
    await ask(late)


async def test_what_a_dead_proxy_left_behind_is_replaced(stage: Stage) -> None:
    first = await stage.start(PROXY)
    await stage.client()
    await first.kill()
    assert (paths.runtime_dir() / "bus-in.sock").exists()
    await stage.start(PROXY)
    await ask_oneself(await stage.client("late"))


@pytest.mark.parametrize("folder", ["x" * 120, "with space", "p%20 %s %(here)s", "ümläut"])
async def test_any_home_will_do(stage: Stage, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.setenv("LOCAL2_HOME", str(stage.home / folder))
    await stage.start(PROXY)
    await ask_oneself(await stage.client())
    assert paths.runtime_dir().stat().st_mode & 0o077 == 0
    shared = paths.runtime_dir()
    await stage.close()
    remove(shared)


def remove(folder: Path) -> None:
    """Of a home with an unfit path the sockets lie outside of it."""
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


async def test_tcp(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    inward, outward = free_port(), free_port()
    monkeypatch.setenv("LOCAL2_BUS__TRANSPORT", "tcp")
    monkeypatch.setenv("LOCAL2_BUS__PUBLISH_PORT", str(inward))
    monkeypatch.setenv("LOCAL2_BUS__SUBSCRIBE_PORT", str(outward))
    await stage.start(PROXY)
    await ask_oneself(await stage.client())


async def test_a_taken_port_is_said(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        proxy = await stage.start(PROXY, LOCAL2_BUS__TRANSPORT="tcp", LOCAL2_BUS__SUBSCRIBE_PORT=port)
        assert await proxy.ended() == 1
    assert f"cannot listen on tcp://127.0.0.1:{port}" in proxy.output
    assert "Traceback" not in proxy.output


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "localhost.example"])  # noqa: S104  that it is refused
async def test_a_bus_that_others_could_reach_is_refused(stage: Stage, host: str) -> None:
    proxy = await stage.start(PROXY, LOCAL2_BUS__TRANSPORT="tcp", LOCAL2_BUS__HOST=host)
    assert await proxy.ended() == 1
    assert "no loopback address" in proxy.output


async def test_a_bad_setting_is_said(stage: Stage) -> None:
    stage.setting("bus", "reconnect_ms: soon\n")
    proxy = await stage.start(PROXY)
    assert await proxy.ended() == 1
    assert f"{stage.home}/config/bus.yaml: reconnect_ms: Expected `int`, got `str`" in proxy.output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_asked_to_stop_it_ends_well_without_clients(stage: Stage, number: int) -> None:
    proxy = await stage.start(PROXY)
    await (await stage.client()).close()
    proxy.send(number)
    assert await proxy.ended() == 0
    assert proxy.output == ""


async def test_asked_to_stop_it_lets_the_others_speak_first(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    speaker, listener = await stage.client("speaker"), await stage.client("listener")
    heard = Heard()
    listener.on(ConfigReload, heard)
    await ask_oneself(listener)
    proxy.send(signal.SIGTERM)
    speaker.publish(ConfigReload(section="goodbye"))
    await speaker.close()
    await heard.first(lambda m: m.section == "goodbye")
    await listener.close()
    assert await proxy.ended() == 0


async def test_asked_twice_it_waits_for_nobody(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    clients = [await stage.client(f"c{number}") for number in range(5)]
    proxy.send(signal.SIGTERM)
    proxy.send(signal.SIGINT)
    assert await proxy.ended() == 0
    assert [client.config.id for client in clients] == ["bus"] * 5


async def test_asked_once_it_ends_even_with_clients_that_stay(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    await stage.client("stays")
    proxy.send(signal.SIGTERM)
    assert await proxy.ended() == 0


async def test_many_come_and_go(stage: Stage) -> None:
    """libzmq tells of each in a queue of 2000 places, and stands still when nobody reads there."""
    await stage.start(PROXY)
    stays = await stage.client("stays")
    await ask_oneself(stays)
    path = paths.runtime_dir() / "bus-out.sock"
    for _ in range(2500):
        _reader, writer = await asyncio.open_unix_connection(path)
        writer.close()
    await ask(stays)
    await ask(await stage.client("late"))


async def test_it_ends_with_its_parent(stage: Stage) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-m', 'bus.proxy'])"
    parent = await stage.start(sys.executable, "-c", code)
    await stage.client()
    pid = int((paths.runtime_dir() / "proxy.lock").read_text().removeprefix("pid "))
    fd = os.pidfd_open(pid)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(fd, ended.set)
    await parent.kill()
    await asyncio.wait_for(ended.wait(), LIMIT_S)
    asyncio.get_running_loop().remove_reader(fd)
    os.close(fd)


async def test_noise_at_the_door_ends_nothing(stage: Stage) -> None:
    await stage.start(PROXY)
    client = await stage.client()
    await ask_oneself(client)
    for name in ("bus-in.sock", "bus-out.sock"):
        for noise in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100_000, os.urandom(5000)):
            _reader, writer = await asyncio.open_unix_connection(paths.runtime_dir() / name)
            writer.write(noise)
            writer.close()
    await ask(client)


async def test_an_oversize_message_costs_its_sender_the_link_and_nobody_else(stage: Stage) -> None:
    await stage.start(PROXY, LOCAL2_BUS__MAX_MESSAGE_BYTES="65536")
    client, listener = await stage.client(), await stage.client("listener")
    await ask_oneself(listener)
    client._send([b"config.reload", b"x" * 200_000], None)  # type: ignore[arg-type]
    await ask(client)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def test_what_cannot_be_sent_does_not_hold_up_an_exit(stage: Stage) -> None:
    proxy = await stage.start(PROXY)
    heard = Heard()
    (await stage.client("watcher")).on(Presence, heard)
    tool = await stage.start("participants.tools.datetime")
    await heard.first(lambda presence: (presence.name, presence.state) == ("datetime", "ready"))
    client = await stage.client("busy")
    await proxy.kill()
    for number in range(100):
        client.publish(ConfigReload(section=str(number)))
    tool.send(signal.SIGTERM)
    assert await tool.ended() == 0
    await asyncio.wait_for(client.close(), LIMIT_S)
