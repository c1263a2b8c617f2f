"""A whole stack of its own: a fresh home, a free port, real processes, and the scripted model server.

async with Stack.started(home, model_url) as stack:
    async with stack.chat() as chat:
        end = await chat.ask("hi")
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import websockets

REPOSITORY = Path(__file__).resolve().parents[2]
Frame = dict[str, Any]


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def alive(pids: Iterable[int]) -> list[int]:
    """Those of the processes that still run."""
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def open_to_others(paths: Iterable[Path]) -> list[str]:
    """Those of the files and folders that other users may read."""
    return [str(path) for path in paths if not path.is_symlink() and path.stat().st_mode & 0o077]


class Chat:
    """One WebSocket, with every frame kept."""

    def __init__(self, socket: websockets.ClientConnection, session_id: str) -> None:
        self.socket, self.session_id = socket, session_id
        self.frames: list[Frame] = []

    async def send(self, frame: Frame | str | bytes) -> None:
        """Send a frame; a mapping as JSON."""
        await self.socket.send(json.dumps(frame) if isinstance(frame, dict) else frame)

    async def until(self, wanted: Callable[[Frame], bool], *, within_s: float = 30.0) -> Frame:
        """The next frame that is wanted; the others before it are kept in `frames`."""
        async with asyncio.timeout(within_s):
            while True:
                frame = json.loads(await self.socket.recv())
                self.frames.append(frame)
                if wanted(frame):
                    return frame

    async def kind(self, *kinds: str, within_s: float = 30.0) -> Frame:
        """The next frame of these types."""
        return await self.until(lambda frame: frame["type"] in kinds, within_s=within_s)

    async def ask(self, query: str, *, within_s: float = 60.0, **more: Any) -> Frame:
        """Ask, and wait for the turn's end: `response` or `error`."""
        await self.send({"query": query, "session_id": self.session_id, **more})
        accepted = await self.kind("accepted", "error")
        if accepted["type"] == "error":
            return accepted
        query_id = accepted["query_id"]
        return await self.until(
            lambda f: f["type"] in ("response", "error") and f.get("query_id") == query_id, within_s=within_s
        )

    def text(self, query_id: str) -> str:
        """The answer as it was streamed in the last attempt."""
        chunks = [f for f in self.frames if f["type"] == "answer_chunk" and f["query_id"] == query_id]
        last = max((f["attempt"] for f in chunks), default=0)
        return "".join(f["chunk"] for f in chunks if f["attempt"] == last)


class Stack:
    """A started stack."""

    def __init__(self, home: Path, port: int, environment: dict[str, str]) -> None:
        self.home, self.port, self.environment = home, port, environment

    @classmethod
    @asynccontextmanager
    async def started(
        cls, home: Path, model_url: str | None, *, environment: dict[str, str] | None = None
    ) -> AsyncIterator[Stack]:
        """Start all processes on `home`; stop them at the end. Without `model_url` the embedded model answers."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("LOCAL2_", "OLLAMA_"))}
        env |= {"LOCAL2_HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
        env |= {"LOCAL2_MODELS__BACKEND": "ollama" if model_url else "embedded"} | (
            {"OLLAMA_HOST": model_url} if model_url else {}
        )
        # Or helpers would take the replies that a test scripted.
        env |= {"LOCAL2_MEMORY__USE_MODEL": "false", "LOCAL2_CRITIC__ENABLED": "false"}
        env |= {"LOCAL2_COMPACTION__AUTOMATIC": "false"}
        stack = cls(home, free_port(), env | (environment or {}))
        await stack.up()
        try:
            yield stack
        finally:
            await stack.command("down")

    async def up(self) -> str:
        """`local2 up`; what it printed."""
        return await self.command("up", "--headless", "--web-port", str(self.port))

    async def command(self, *words: str, check: bool = True) -> str:
        """Run `local2 WORDS`; what it printed.

        Raises:
            AssertionError: It failed.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gateway.cli",
            *words,
            env=self.environment,
            cwd="/",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output = (await process.communicate())[0].decode()
        assert process.returncode == 0 or not check, f"local2 {' '.join(words)}: {process.returncode}\n{output}"
        return output

    @property
    def url(self) -> str:
        """The web app's address."""
        return f"http://127.0.0.1:{self.port}"

    async def get(self, path: str) -> Any:
        """GET a JSON resource."""
        async with httpx.AsyncClient(trust_env=False, base_url=self.url, timeout=20) as client:
            return (await client.get(path)).raise_for_status().json()

    @asynccontextmanager
    async def chat(self, session_id: str = "s1") -> AsyncIterator[Chat]:
        """A chat socket."""
        address = f"ws://127.0.0.1:{self.port}/ws/chat"
        async with websockets.connect(address, max_size=None, proxy=None) as socket:
            yield Chat(socket, session_id)

    async def pids(self) -> dict[str, int]:
        """Process ids by program."""
        listed = (await self.get("/api/participants"))["participants"]
        return {entry["name"]: entry["pid"] for entry in listed}

    async def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> int:
        """Signal a participant; its pid."""
        pid = (await self.pids())[name]
        os.kill(pid, number)
        return pid

    async def replaced(self, name: str, pid: int, *, within_s: float = 20.0) -> int:
        """Wait until `name` runs as another process and is ready; the new pid."""
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            try:
                listed = (await self.get("/api/participants"))["participants"]
            except (httpx.HTTPError, OSError):
                listed = []
            found = [
                e
                for e in listed
                if e["name"] == name and e["pid"] not in (0, pid) and e["state"] in ("ready", "running")
            ]
            if found:
                return int(found[0]["pid"])
            await asyncio.sleep(0.02)
        raise AssertionError(f"{name} was not back within {within_s:g} s")

    async def healthy(self, *, within_s: float = 30.0) -> None:
        """Wait until the gateway says that all are ready."""
        deadline = time.monotonic() + within_s
        last: Any = None
        while time.monotonic() < deadline:
            try:
                last = await self.get("/health")
                if last["status"] == "ok":
                    return
            except (httpx.HTTPError, OSError) as error:
                last = error
            await asyncio.sleep(0.02)
        raise AssertionError(f"not healthy within {within_s:g} s: {last}")
