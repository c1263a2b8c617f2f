"""A gateway on a free port, beside a ledger and a generator that say what a test wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import websockets

from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.approval import Approval, ApprovalInfo, DecideApproval
from bus.messages.base import Message
from bus.messages.compaction import CompactSession
from bus.messages.control import Done
from bus.messages.generation import (
    BackendInfo,
    GeneratorStatus,
    GetSnapshot,
    GetStatus,
    ResponseGeneration,
    Thinking,
    Token,
    TurnSnapshot,
)
from bus.messages.ledger import (
    CreateSession,
    DeleteSession,
    DeleteTurn,
    GetSession,
    GetTurn,
    ListSessions,
    Mark,
    RenameSession,
    SearchTurns,
    Session,
    SessionInfo,
    Sessions,
    ShowBranch,
    Turn,
    TurnEnd,
    TurnHit,
    TurnInfo,
    TurnsFound,
    VoteTurn,
)
from bus.messages.query import CancelTurn, SubmitTurn, TurnAccepted
from bus.testing import MemoryBus
from gateway.app import Parts, Web, build
from gateway.config import GatewayConfig
from gateway.directory import Directory
from gateway.events import OPEN
from gateway.hub import Hub
from gateway.routes.page import Page
from gateway.server import InLoopServer, address, listen

LIMIT_S = 10.0
"""Nothing in these tests takes so long; whoever waits longer has missed an event."""
NOW = "2026-11-30T12:00:00+00:00"


class Ledger:
    """The conversation store's side of the bus.

    Attributes:
        turns: What it knows, by query_id.
        asked: Requests that came, newest last.
        refuses: What the next submit is refused with.
        answers: Cleared to keep submits waiting.
    """

    def __init__(self, bus: BusClient) -> None:
        self.bus = bus
        self.turns: dict[str, TurnInfo] = {}
        self.users: dict[str, str] = {}
        self.asked: list[tuple[Message, TurnRef]] = []
        self.refuses: RequestFailed | None = None
        self.position = 0
        self.answers = asyncio.Event()
        self.answers.set()
        self.heard = asyncio.Condition()
        bus.serve(SubmitTurn, self._submit)
        bus.serve(GetTurn, self._turn)
        bus.serve(GetSession, self._session)
        bus.serve(ListSessions, self._list)
        bus.serve(SearchTurns, self._search)
        bus.serve(ShowBranch, self._show)
        bus.serve(DeleteTurn, self._done)
        bus.serve(CreateSession, self._create)
        bus.serve(CancelTurn, self._done)
        bus.serve(DecideApproval, self._decide)
        bus.serve(RenameSession, self._done)
        bus.serve(DeleteSession, self._done)
        bus.serve(VoteTurn, self._done)
        bus.serve(CompactSession, self._done)

    def put(self, query_id: str, *, status: str = "claimed", user: str = "default", **fields: Any) -> TurnInfo:
        """Know a turn."""
        end = fields.pop("end", None) or TurnEnd(status="", finish_reason="")
        values = {"session_id": "s1", "query": "why?", "created_at": NOW, **fields}
        self.turns[query_id] = TurnInfo(query_id=query_id, status=status, end=end, **values)
        self.users[query_id] = user
        return self.turns[query_id]

    def end(self, query_id: str, *, status: str = "answered", finish_reason: str = "stop", **fields: Any) -> TurnEnd:
        """A turn ends; nothing is published."""
        end = TurnEnd(status=status, finish_reason=finish_reason, **fields)
        self.turns[query_id] = msgspec.structs.replace(self.turns[query_id], status=status, end=end)
        return end

    async def was_asked(self, kind: type[Message], times: int = 1) -> tuple[Message, TurnRef]:
        """Wait for a request of that kind; the newest one."""
        async with asyncio.timeout(LIMIT_S), self.heard:
            await self.heard.wait_for(lambda: sum(isinstance(m, kind) for m, _ in self.asked) >= times)
        return [pair for pair in self.asked if isinstance(pair[0], kind)][-1]

    async def _note(self, message: Message, request: Envelope) -> None:
        async with self.heard:
            self.asked.append((message, request.turn))
            self.heard.notify_all()

    async def _submit(self, message: SubmitTurn, request: Envelope) -> TurnAccepted:
        await self._note(message, request)
        await self.answers.wait()
        if self.refuses is not None:
            raise self.refuses
        known = self.turns.get(request.query_id)
        turn = known or self.put(
            request.query_id,
            status="received",
            user=request.user_id,
            session_id=request.session_id,
            query=message.query,
            position=self.position,
        )
        return TurnAccepted(
            query_id=turn.query_id,
            session_id=turn.session_id,
            created_at=turn.created_at,
            position=turn.position,
            status=turn.status,
            query=known.query if known else "",
        )

    async def _turn(self, message: GetTurn, request: Envelope) -> Turn:
        await self._note(message, request)
        if request.query_id not in self.turns or self.users[request.query_id] != request.user_id:
            raise RequestFailed("not_found", "There is no such turn.")
        return Turn(turn=self.turns[request.query_id])

    async def _session(self, message: GetSession, request: Envelope) -> Session:
        await self._note(message, request)
        turns = [
            turn
            for turn in self.turns.values()
            if turn.session_id == request.session_id and self.users[turn.query_id] == request.user_id
        ]
        if not turns and request.session_id != "empty":
            raise RequestFailed("not_found", "There is no such session.")
        shown = [turn for turn in turns if not message.open_only or turn.status in OPEN]
        return Session(session=info(request.session_id, len(turns)), turns=shown)

    async def _show(self, message: ShowBranch, request: Envelope) -> Session:
        await self._note(message, request)
        return Session(session=info(request.session_id, 1), turns=[self.turns[request.query_id]])

    def ask_user(self, approval_id: str = "a1", query_id: str = "q1") -> ApprovalInfo:
        """A turn's call waits for its user."""
        asked = ApprovalInfo(
            approval_id=approval_id, call_id="c1", tool="rm", args={"path": "/a"}, reason="It deletes.", expires=NOW
        )
        turn = self.turns[query_id]
        waiting = msgspec.structs.replace(turn, status="waiting", approvals=[*turn.approvals, asked])
        self.turns[query_id] = waiting
        return asked

    async def _decide(self, message: DecideApproval, request: Envelope) -> Approval:
        """The first answer counts."""
        await self._note(message, request)
        found = [(turn, a) for turn in self.turns.values() for a in turn.approvals]
        mine = [pair for pair in found if self.users[pair[0].query_id] == request.user_id]
        for turn, approval in [pair for pair in mine if pair[1].approval_id == message.approval_id]:
            state = "approved" if message.approved else "denied"
            decided = msgspec.structs.replace(approval, state=state) if approval.state == "open" else approval
            self.turns[turn.query_id] = msgspec.structs.replace(turn, approvals=[decided])
            return Approval(approval=decided, session_id=turn.session_id, query_id=turn.query_id)
        raise RequestFailed("not_found", "There is no such request.")

    async def _list(self, message: ListSessions, request: Envelope) -> Sessions:
        await self._note(message, request)
        return Sessions(sessions=[info("s1", 1)] if request.user_id == "default" else [])

    async def _search(self, message: SearchTurns, request: Envelope) -> TurnsFound:
        await self._note(message, request)
        mark = Mark(start=0, end=5)
        hit = TurnHit(session_id="s1", title="A title", query_id="q1", created_at=NOW, snippet="boots", marks=[mark])
        return TurnsFound(hits=[hit])

    async def _create(self, message: CreateSession, request: Envelope) -> Session:
        await self._note(message, request)
        return Session(session=info(request.session_id or "made", 0))

    async def _done(self, message: Message, request: Envelope) -> Done:
        await self._note(message, request)
        if request.session_id == "missing" or request.query_id == "missing":
            raise RequestFailed("not_found", "There is no such thing.")
        return Done()


def info(session_id: str, turns: int) -> SessionInfo:
    """A session in a list."""
    return SessionInfo(
        session_id=session_id, title="A title", created_at=NOW, updated_at=NOW, turns=turns, running=False
    )


class Generator:
    """The generator's side of the bus.

    Attributes:
        turns: What it is answering.
    """

    def __init__(self, bus: BusClient) -> None:
        self.bus = bus
        self.turns: dict[str, TurnSnapshot] = {}
        bus.serve(GetSnapshot, self._snapshot)
        bus.serve(GetStatus, self._status)

    async def _snapshot(self, _message: GetSnapshot, request: Envelope) -> TurnSnapshot:
        if request.query_id not in self.turns:
            raise RequestFailed("not_found", "Not here.")
        return self.turns[request.query_id]

    async def _status(self, _message: GetStatus, _request: Envelope) -> GeneratorStatus:
        return GeneratorStatus(
            backend=BackendInfo(kind="ollama", state="ready"), roles=[], models=[], tools=["get_datetime"], turns={}
        )

    def hold(self, query_id: str, text: str, n: int, attempt: int = 1) -> None:
        """Have a turn at some point of its text."""
        self.turns[query_id] = TurnSnapshot(state="GENERATING", attempt=attempt, n=n, thinking="", answer=text)

    def say(self, message: Message, query_id: str = "q1", session_id: str = "s1", user: str = "default") -> None:
        """Publish something about a turn."""
        self.bus.publish(message, turn=TurnRef(session_id, user, query_id))

    def token(self, n: int, text: str | None = None, *, attempt: int = 1, **where: str) -> None:
        """A piece of an answer."""
        self.say(Token(text=text if text is not None else f"t{n} ", attempt=attempt, n=n), **where)

    def thought(self, n: int, text: str, *, attempt: int = 1, **where: str) -> None:
        """A piece of thinking."""
        self.say(Thinking(text=text, attempt=attempt, n=n), **where)

    def answered(self, answer: str = "done", **where: str) -> None:
        """The turn's end."""
        end = TurnEnd(status="answered", finish_reason="stop", answer=answer)
        self.say(ResponseGeneration(query="why?", end=end), **where)


class Client:
    """A chat client."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    async def send(self, frame: Any) -> None:
        """A frame; text and bytes as they are."""
        raw = isinstance(frame, str | bytes)
        await self.connection.send(frame if raw else json.dumps(frame))

    async def next(self) -> dict[str, Any]:
        """The next frame."""
        async with asyncio.timeout(LIMIT_S):
            return json.loads(await self.connection.recv())

    async def take(self, count: int) -> list[dict[str, Any]]:
        """The next few frames."""
        return [await self.next() for _ in range(count)]

    async def until(self, kind: str) -> list[dict[str, Any]]:
        """All frames up to one of that type."""
        frames = [await self.next()]
        while frames[-1]["type"] != kind:
            frames.append(await self.next())
        return frames

    async def pong(self) -> list[dict[str, Any]]:
        """All frames that were on their way: what comes before the answer to a ping."""
        await self.send({"type": "ping"})
        return (await self.until("pong"))[:-1]

    async def close(self) -> None:
        """Leave."""
        await self.connection.close()

    async def closed(self) -> tuple[int, str]:
        """Wait until the server closes; with which code and words."""
        async with asyncio.timeout(LIMIT_S):
            await self.connection.wait_closed()
        return self.connection.close_code, self.connection.close_reason


class Stage:
    """All of it."""

    def __init__(self, memory: MemoryBus, stack: AsyncExitStack, folder: Path) -> None:
        self.memory = memory
        self._stack, self._folder = stack, folder
        self.config = GatewayConfig(id="gateway", port=0)
        self.ledger: Ledger
        self.generator: Generator
        self.bus: BusClient
        self.hub: Hub
        self.web: Web
        self.server: InLoopServer
        self.url = ""

    async def start(self) -> None:
        """Bring the three onto the bus, and the gateway onto a port."""
        self.ledger = Ledger(await self._join("conversation"))
        self.generator = Generator(await self._join("generator"))
        await self.start_gateway()

    async def start_gateway(self) -> None:
        """A gateway; after `stop_gateway` another one, which knows nothing."""
        self.bus = self.memory.make("gateway")
        self.hub = Hub(self.bus, lambda: self.config)
        self.hub.listen()
        directory = Directory(self.bus, "here")
        directory.listen()

        def linked() -> None:
            directory.ask()
            self.hub.catchup.refresh()

        self.bus.on_ready = linked
        self.web = build(
            Parts(
                bus=self.bus,
                config=lambda: self.config,
                hub=self.hub,
                directory=directory,
                offload=asyncio.to_thread,
                version="1.2.3",
                page=Page(self._folder / "dist"),
            )
        )
        self.bus.open()
        await self.bus.wait_ready(LIMIT_S)
        listener = listen("127.0.0.1", 0)
        self.url = address(listener)
        self.server = InLoopServer(self.web.app)
        self._serving = asyncio.create_task(self.server.serve(sockets=[listener]))

    async def stop_gateway(self) -> None:
        """End it as a SIGTERM does."""
        self.web.observers.drain()
        await self.web.chat.drain(LIMIT_S)
        self.server.stop()
        await self._serving
        self.hub.catchup.silence.close()
        await self.bus.close()

    async def stop(self) -> None:
        """End everything."""
        await self.stop_gateway()

    async def _join(self, name: str) -> BusClient:
        client = await self.memory.client(name)
        self._stack.push_async_callback(client.close)
        return client

    async def other(self, name: str) -> BusClient:
        """One more participant."""
        return await self._join(name)

    async def connect(self, path: str = "/ws/chat", **options: Any) -> Client:
        """A chat client."""
        url = f"ws{self.url.removeprefix('http')}{path}"
        connection = await websockets.connect(url, ping_interval=None, max_size=None, **options)
        self._stack.push_async_callback(connection.close)
        return Client(connection)

    async def watching(self, query_id: str = "q1", path: str = "/ws/chat") -> Client:
        """A client whose question was accepted."""
        client = await self.connect(path)
        await client.send({"query": "why?", "session_id": "s1", "query_id": query_id})
        await client.until("accepted")
        return client

    def set(self, **fields: Any) -> None:
        """Change gateway.yaml."""
        self.config = msgspec.structs.replace(self.config, **fields)

    async def http(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One REST request."""
        async with httpx.AsyncClient(base_url=self.url) as client:
            return await client.request(method, path, **options)


@pytest.fixture
async def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    """A running gateway."""
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path / "home"))
    async with AsyncExitStack() as stack:
        memory = MemoryBus()
        memory.config = msgspec.structs.replace(memory.config, request_timeout_s=1.0, resend_s=0.2)
        running = Stage(memory, stack, tmp_path)
        await running.start()
        stack.push_async_callback(running.stop)
        yield running
