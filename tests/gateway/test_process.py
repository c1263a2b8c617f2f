"""The gateway as a process: its port, its refusals, its goodbye."""

from __future__ import annotations

import signal
import socket

import httpx
import pytest
import websockets

from bus.messages.control import ConfigReload, Presence, PresenceRequest
from tests.support.stage import Heard, Stage, presence
from tests.support.stage import stage as home

__all__ = ["home"]
ready = presence("gateway")


async def started(home: Stage, **variables: str) -> tuple[Heard, str]:
    """A proxy and a gateway; what it says of itself, and its address."""
    await home.start("bus.proxy")
    client = await home.client()
    heard = Heard()
    client.on(Presence, heard)
    await home.start("gateway", **{"LOCAL2_GATEWAY__PORT": "0", **variables})
    return heard, (await heard.first(ready)).note


async def test_port_0_takes_a_free_one_and_says_which(home):
    _heard, address = await started(home)
    async with httpx.AsyncClient() as client:
        health = (await client.get(f"{address}/health")).json()
    assert (health["bus"], health["participants"]) == (True, {"gateway": "ready"})
    assert health["missing"] == ["conversation", "generator"]


async def test_ipv6(home):
    _heard, address = await started(home, LOCAL2_GATEWAY__HOST="::1")
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"{address}/health")).status_code == 200
    assert address.startswith("http://[::1]:")


async def test_sigterm_says_goodbye_and_leaves_with_0(home):
    await home.start("bus.proxy")
    heard = Heard()
    (await home.client()).on(Presence, heard)
    gateway = await home.start("gateway", LOCAL2_GATEWAY__PORT="0")
    address = (await heard.first(ready)).note
    async with websockets.connect(address.replace("http", "ws") + "/ws/chat") as client:
        gateway.send(signal.SIGTERM)
        with pytest.raises(websockets.ConnectionClosed):
            await client.recv()
    assert (client.close_code, client.close_reason) == (
        1012,
        "LoCAL2 restarts; connect again in a moment. What was asked goes on.",
    )
    assert await gateway.ended() == 0
    await heard.first(presence("gateway", "gone"))


async def test_a_taken_port_is_said_with_its_key(home):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        gateway = await home.start("gateway", LOCAL2_GATEWAY__PORT=port)
        assert await gateway.ended() == 1
    assert f"gateway.yaml: port: {port} on 127.0.0.1 is taken by another program" in gateway.output
    assert "Traceback" not in gateway.output


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org"])  # noqa: S104  what is refused
async def test_other_machines_are_not_served(home, host):
    gateway = await home.start("gateway", LOCAL2_GATEWAY__HOST=f"'{host}'")
    assert await gateway.ended() == 1
    assert "host: only this machine is served yet" in gateway.output


async def test_without_a_bus_it_says_that_it_starts(home):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    await home.start("gateway", LOCAL2_GATEWAY__PORT=port)
    transport = httpx.AsyncHTTPTransport(retries=8)  # with growing pauses, until it listens
    async with httpx.AsyncClient(transport=transport) as client:
        health = (await client.get(f"http://127.0.0.1:{port}/health")).json()
    assert (health["status"], health["bus"], health["participants"]) == ("starting", False, {})


async def test_a_reload_takes_effect_and_a_wrong_one_changes_nothing(home):
    heard, address = await started(home)
    client = await home.client("asker")
    page = {"Origin": "http://localhost:5173"}
    async with httpx.AsyncClient(headers=page) as pages:
        before = await pages.get(f"{address}/health")
        home.setting("gateway", "allowed_origins: [http://localhost:5173]")
        client.publish(ConfigReload(section="gateway"))
        heard.forget()
        client.publish(PresenceRequest())
        await heard.first(ready)
        after = await pages.get(f"{address}/health")
        home.setting("gateway", "allowed_origins: [nonsense]")
        client.publish(ConfigReload(section="gateway"))
        kept = await heard.first(lambda message: message.note.startswith("old settings kept"))
        still = await pages.get(f"{address}/health")
    assert [answer.status_code for answer in (before, after, still)] == [403, 200, 200]
    assert "expected such as http://localhost:5173, got 'nonsense'" in kept.note
