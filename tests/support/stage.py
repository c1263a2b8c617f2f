"""Real processes of ours for a test, in a home of their own that is gone afterwards.

A test that uses `stage` starts what it needs and waits for events on the bus; whatever still runs at its
end is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from bus import paths
from bus.client import BusClient
from bus.config import BusConfig, load
from bus.envelope import Envelope
from bus.messages import Message
from bus.messages.control import Presence

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 20.0
"""No event of these tests takes so long; a test that waits longer fails."""

_SUPERVISORD = """
[unix_http_server]
file={run}/supervisor.sock
[supervisord]
nodaemon=true
logfile={home}/supervisord.log
pidfile={run}/supervisord.pid
childlogdir={home}
[supervisorctl]
serverurl=unix://{run}/supervisor.sock
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
"""
_PROGRAM = """
[program:{name}]
command={command}
directory={root}
autostart={autostart}
autorestart=true
startsecs={startsecs}
startretries=0
redirect_stderr=true
stdout_logfile={home}/{name}.log
"""


class Running:
    """A process that a test started."""

    def __init__(self, process: asyncio.subprocess.Process, output: Path) -> None:
        self._process, self._output = process, output

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def output(self) -> str:
        """All that it wrote."""
        return self._output.read_text(encoding="utf-8")

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    async def ended(self) -> int:
        """Its exit code; minus the number of the signal that ended it."""
        return await asyncio.wait_for(self._process.wait(), LIMIT_S)

    def family(self) -> list[psutil.Process]:
        """Its children and theirs."""
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    async def kill(self) -> None:
        """As kill -9 does."""
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


class Heard:
    """Messages of some types as they came in, to wait for one."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._came = asyncio.Event()

    def __call__(self, message: Message, _envelope: Envelope) -> None:
        self.messages.append(message)
        self._came.set()

    async def first(self, wanted: Callable[[Any], bool], limit_s: float = LIMIT_S) -> Any:
        """The first message, heard already or still to come, for which `wanted` is true."""
        async with asyncio.timeout(limit_s):
            seen = 0
            while True:
                self._came.clear()
                for message in self.messages[seen:]:
                    if wanted(message):
                        return message
                seen = len(self.messages)
                await self._came.wait()

    def forget(self) -> None:
        """Only what comes from now on."""
        self.messages.clear()


class Stage:
    """A home, and what runs on it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._running: list[Running] = []
        self._clients: list[BusClient] = []

    async def start(self, *command: str, **variables: str) -> Running:
        """Start a module of ours (`bus.proxy`), or any command with its arguments."""
        argv = [sys.executable, "-m", *command] if len(command) == 1 else list(command)
        output = self.home / f"output-{len(self._running)}"
        with output.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=ROOT,
                env={**environment(), **variables},
                stdout=out,
                stderr=out,
                stdin=asyncio.subprocess.DEVNULL,
            )
        running = Running(process, output)
        self._running.append(running)
        return running

    async def client(self, name: str = "test", *, ready: bool = True) -> BusClient:
        """A client on this home's bus."""
        client = BusClient(load("bus", BusConfig), name=name, instance="test", sender_id=name)
        self._clients.append(client)
        client.open()
        if ready:
            await client.wait_ready(LIMIT_S)
        return client

    def setting(self, section: str, text: str) -> None:
        """Write the user's yaml of a section."""
        folder = self.home / "config"
        folder.mkdir(exist_ok=True)
        (folder / f"{section}.yaml").write_text(text, encoding="utf-8")

    async def supervise(
        self, programs: dict[str, str], *, startsecs: float = 0, asleep: frozenset[str] = frozenset()
    ) -> Running:
        """Start a supervisord with programs by name, each a command line. Those in `asleep` are not started."""
        run = paths.private(paths.runtime_dir())
        text = _SUPERVISORD.format(run=run, home=self.home)
        for name, command in programs.items():
            autostart = str(name not in asleep).lower()
            text += _PROGRAM.format(
                name=name,
                command=command,
                root=str(ROOT).replace("%", "%%"),
                home=self.home,
                startsecs=startsecs,
                autostart=autostart,
            )
        config = self.home / "supervisord.conf"
        config.write_text(text, encoding="utf-8")
        return await self.start(sys.executable, "-m", "supervisor.supervisord", "-c", str(config))

    async def control(self, *arguments: str) -> str:
        """`supervisorctl …`, and what it says."""
        config = str(self.home / "supervisord.conf")
        running = await self.start(sys.executable, "-m", "supervisor.supervisorctl", "-c", config, *arguments)
        await running.ended()
        return running.output

    async def close(self) -> None:
        """Leave nothing behind."""
        for client in self._clients:
            await client.close()
        family = [child for running in self._running for child in running.family()]
        for running in reversed(self._running):
            await running.kill()
        for child in family:  # a stand-in does not notice that its supervisord is gone
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


def environment() -> dict[str, str]:
    """The test's own, but with compiled modules, as an installation has them."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def module(name: str) -> str:
    """The command line of one of our modules, for `Stage.supervise`."""
    return f'"{sys.executable}" -m {name}'.replace("%", "%%")


def presence(name: str, state: str = "ready") -> Callable[[Presence], bool]:
    """Whether a presence is this one."""
    return lambda message: (message.name, message.state) == (name, state)


@pytest.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """A home with a short path, so that its sockets lie within it."""
    home = Path(tempfile.mkdtemp(prefix="l2-"))
    monkeypatch.setenv("LOCAL2_HOME", str(home))
    stage = Stage(home)
    yield stage
    await stage.close()
    shutil.rmtree(home, ignore_errors=True)
