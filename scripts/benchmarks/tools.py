"""What does a tool call cost beside the tool's own work?

tool call   from the dispatcher through the proxy to the get_datetime process, and its result back: prepared,
            validated, run, and told to observers
bare        the same way for the same bytes with ZeroMQ alone: two plain sockets, an echo process, the same proxy

Both take turns, so that both see the same machine.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import zmq

from bus.client import BusClient
from bus.config import BusConfig, load
from bus.envelope import TurnRef
from participants.kernel.execute import ToolDispatcher, ToolDispatcherConfig
from scripts.benchmarks.report import Report, percentile

CALLS, WARM = 1000, 50
APART_S = 0.005
"""By then observers were told of the last call, too."""
TURN = TurnRef("s", "u", "q")
BODY = b"x" * 450
"""As large as a small call's envelope."""
ROOT = Path(__file__).resolve().parents[2]


class Bare:
    """Two plain sockets that wait for one another's answer."""

    def __init__(self, config: BusConfig) -> None:
        context = zmq.Context()
        self._publish, self._subscribe = context.socket(zmq.PUB), context.socket(zmq.SUB)
        self._publish.connect(config.publish_to())
        self._subscribe.connect(config.subscribe_to())
        self._subscribe.setsockopt(zmq.SUBSCRIBE, b"bench.pong")
        self._subscribe.rcvtimeo = 50
        self._count = 0
        while self._lost():
            pass
        self._subscribe.rcvtimeo = 10_000

    def _lost(self) -> bool:
        try:
            self.trip()
        except zmq.Again:
            return True
        return False

    def trip(self) -> float:
        """One round trip, in milliseconds."""
        self._count += 1
        body = b"%08d" % self._count + BODY
        begun = time.perf_counter()
        self._publish.send_multipart([b"bench.ping", body])
        while self._subscribe.recv_multipart()[1] != body:
            pass  # the late answer to one that was given up
        return (time.perf_counter() - begun) * 1e3


class Ours:
    """A dispatcher as the generator has it."""

    def __init__(self, bus: BusClient, dispatcher: ToolDispatcher) -> None:
        self._bus, self._tools, self._count = bus, dispatcher, 0

    async def call(self) -> float:
        """One call, in milliseconds."""
        self._count += 1
        begun = time.perf_counter()
        prepared = self._tools.prepare("get_datetime", {}, f"call-{self._count}")
        ended = await self._tools.execute(prepared, TURN)
        taken = (time.perf_counter() - begun) * 1e3
        if ended.outcome != "ok":
            raise RuntimeError(f"the call ended as {ended.outcome}: {ended.result}")
        return taken


async def run(report: Report) -> None:
    """Measure both, in turns."""
    with tempfile.TemporaryDirectory(prefix="l2-") as home:
        os.environ["LOCAL2_HOME"] = home
        config = load("bus", BusConfig)
        echo = ["scripts/benchmarks/zmq_echo.py", config.publish_to(), config.subscribe_to()]
        async with (
            process("-m", "bus.proxy"),
            process("-m", "participants.tools.datetime"),
            process(*echo),
            connected(config) as bus,
        ):
            ours, bare = await samples(await dispatcher(bus), Bare(config))
    report.add("tool call and result", "ms", ours, bare, goal="<= 2x bare, < 2")
    report.add("tool call and result, p99", "ms", [percentile(ours, 0.99)], [percentile(bare, 0.99)])


async def samples(ours: Ours, bare: Bare) -> tuple[list[float], list[float]]:
    """Milliseconds of our calls and of the bare round trips."""
    called: list[float] = []
    tripped: list[float] = []
    for _ in range(WARM + CALLS):
        called.append(await ours.call())
        await asyncio.sleep(APART_S)
        tripped.append(bare.trip())
        await asyncio.sleep(APART_S)
    return called[WARM:], tripped[WARM:]


async def dispatcher(bus: BusClient) -> Ours:
    """A dispatcher that knows the tool."""
    tools = ToolDispatcher(bus, load("tool_dispatcher", ToolDispatcherConfig), changed=lambda: None)
    tools.listen()
    tools.ask()
    if await tools.until(lambda: tools.registry.get("get_datetime"), 20.0) is None:
        raise RuntimeError("get_datetime did not announce itself")
    return Ours(bus, tools)


@asynccontextmanager
async def connected(config: BusConfig) -> AsyncIterator[BusClient]:
    """A client on the bus."""
    bus = BusClient(config, name="bench", instance="bench", sender_id="bench")
    bus.open()
    await bus.wait_ready(20.0)
    try:
        yield bus
    finally:
        await bus.close()


@asynccontextmanager
async def process(*words: str) -> AsyncIterator[None]:
    """A process of ours, ended with the benchmark."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    quiet = asyncio.subprocess.DEVNULL
    running = await asyncio.create_subprocess_exec(sys.executable, *words, cwd=ROOT, env=env, stdout=quiet)
    try:
        yield
    finally:
        running.kill()
        await running.wait()
