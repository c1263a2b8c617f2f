"""A generator on the in-memory bus, with a ledger that remembers and a scripted model server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from bus.client import BusClient
from bus.config import SystemConfig, load
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.approval import (
    Approval,
    ApprovalInfo,
    ApprovalResult,
    ApprovalState,
    GetApproval,
    OpenApproval,
    TakeApproval,
)
from bus.messages.control import AgentTransition, Done
from bus.messages.generation import ResponseGeneration, Thinking, Token
from bus.messages.ledger import (
    ClaimTurn,
    FinishTurn,
    JournalStep,
    JournalTurn,
    PastTurn,
    ReleaseTurn,
    Step,
    Summary,
    TurnClaimed,
    TurnEnd,
    TurnGranted,
    TurnHeld,
)
from bus.messages.query import QueryReceived
from bus.messages.tool import Policies, ToolCall, ToolResult, ToolSchema
from bus.testing import MemoryBus
from participants.agents.generator.agent import GeneratorAgent
from participants.agents.generator.config import GeneratorConfig
from tests.support.scripted_ollama import ScriptedOllama


class Ledger:
    """Answers what the generator asks of the ledger, and keeps what it is told."""

    def __init__(self, bus: BusClient) -> None:
        self.bus = bus
        self.history: list[PastTurn] = []
        self.summary: Summary | None = None
        self.steps: list[Step] = []
        self.journal: list[JournalTurn] = []
        self.ends: dict[str, TurnEnd] = {}
        self.released: list[str] = []
        self.cancelled = False
        self.stale = False
        self.full = 0
        self.model = ""
        self.claims: list[str] = []
        self.persona = ""
        self.journalled = asyncio.Event()
        self.let_go = asyncio.Event()
        self.approvals: dict[str, ApprovalInfo] = {}
        self.taken: list[str] = []
        self.used_up = False
        self.on_step: Callable[[Step], None] = lambda _step: None
        self.asked: asyncio.Queue[ApprovalInfo] = asyncio.Queue()
        bus.serve(ClaimTurn, self._claim)
        bus.serve(JournalTurn, self._journal)
        bus.serve(JournalStep, self._step)
        bus.serve(FinishTurn, self._finish)
        bus.serve(ReleaseTurn, self._release)
        bus.serve(OpenApproval, self._open)
        bus.serve(GetApproval, self._get)
        bus.serve(TakeApproval, self._take)

    async def _claim(self, _message: ClaimTurn, envelope: Envelope) -> TurnClaimed:
        self.claims.append(envelope.query_id)
        return self.claim_of(envelope.query_id)

    def claim_of(self, query_id: str) -> TurnClaimed:
        """What the holder of a turn is given."""
        return TurnClaimed(
            fence=1,
            attempt=1,
            lease_s=2.0,
            query=self.queries[query_id],
            created_at="2026-01-01T00:00:00Z",
            model=self.model,
            persona=self.persona,
            history=self.history,
            summary=self.summary,
            steps=list(self.steps),
        )

    queries: dict[str, str] = {}

    def _held(self) -> TurnHeld:
        if self.stale:
            raise RequestFailed("conflict", "somebody else has it")
        return TurnHeld(cancelled=self.cancelled)

    async def _journal(self, message: JournalTurn, _envelope: Envelope) -> TurnHeld:
        self.journal.append(message)
        self.journalled.set()
        return self._held()

    async def _step(self, message: JournalStep, _envelope: Envelope) -> TurnHeld:
        self.steps.append(message.step)
        self.on_step(message.step)
        return self._held()

    async def _finish(self, message: FinishTurn, envelope: Envelope) -> Done:
        if self.full:
            self.full -= 1
            raise RequestFailed("storage", "the disk is full")
        self.ends[envelope.query_id] = message.end
        return Done()

    async def _open(self, message: OpenApproval, _envelope: Envelope) -> Approval:
        self._held()
        known = self.approvals.get(message.approval_id)
        if known is None:
            known = self.approvals[message.approval_id] = ApprovalInfo(
                approval_id=message.approval_id,
                call_id=message.call_id,
                tool=message.tool,
                args=message.args,
                reason=message.reason,
            )
        if known.state == "open":
            self.asked.put_nowait(known)
        return Approval(approval=known)

    async def _get(self, message: GetApproval, _envelope: Envelope) -> Approval:
        return Approval(approval=self.approvals[message.approval_id])

    async def _take(self, message: TakeApproval, _envelope: Envelope) -> Done:
        self._held()
        if self.used_up or self.approvals[message.approval_id].state != "approved":
            raise RequestFailed("not_approved", "no")
        self.decide(message.approval_id, "taken")
        self.taken.append(message.approval_id)
        return Done()

    def decide(self, approval_id: str, state: ApprovalState, *, tell: bool = True) -> None:
        """The user's answer, or what else happens to a request."""
        known = self.approvals[approval_id] = replace(self.approvals[approval_id], state=state)
        result = ApprovalResult(approval_id=approval_id, call_id=known.call_id, tool=known.tool, state=state)
        if tell:
            self.bus.publish(result)

    async def _release(self, _message: ReleaseTurn, envelope: Envelope) -> Done:
        self.released.append(envelope.query_id)
        self.let_go.set()
        return Done()


class World:
    """One generator and what surrounds it."""

    agent: GeneratorAgent

    def __init__(self, memory: MemoryBus, bus: BusClient, ledger: Ledger, model: ScriptedOllama) -> None:
        self.memory, self.bus, self.ledger, self.model = memory, bus, ledger, model
        self.tokens: list[Token] = []
        self.thoughts: list[Thinking] = []
        self.moves: list[str] = []
        self.responses: asyncio.Queue[tuple[str, TurnEnd]] = asyncio.Queue()
        self.token = asyncio.Event()
        bus.on(Token, self._on_token)
        bus.on(Thinking, lambda message, _envelope: self.thoughts.append(message))
        self.done = asyncio.Event()
        bus.on(AgentTransition, self._on_move)
        bus.on(ResponseGeneration, lambda m, envelope: self.responses.put_nowait((envelope.query_id, m.end)))

    def _on_move(self, message: AgentTransition, _envelope: Envelope) -> None:
        self.moves.append(message.after)
        if message.after == "DONE":
            self.done.set()

    def _on_token(self, message: Token, _envelope: Envelope) -> None:
        self.tokens.append(message)
        self.token.set()

    def ask(self, query: str, query_id: str = "q1", session_id: str = "s1") -> TurnRef:
        """A question's turn has come."""
        turn = TurnRef(session_id, "default", query_id)
        self.ledger.queries = {**self.ledger.queries, query_id: query}
        self.bus.publish(QueryReceived(query=query, created_at="2026-01-01T00:00:00Z"), turn=turn)
        return turn

    def grant(self, query: str, query_id: str = "q1", *, holder: str) -> None:
        """A question's turn has come, and it is given to somebody."""
        self.ledger.queries = {**self.ledger.queries, query_id: query}
        turn = TurnRef("s1", "default", query_id)
        self.bus.publish(TurnGranted(holder=holder, claim=self.ledger.claim_of(query_id)), turn=turn)
        self.ask(query, query_id)

    async def end(self) -> TurnEnd:
        """The next turn's end."""
        async with asyncio.timeout(10):
            return (await self.responses.get())[1]

    async def answer(self, query: str) -> TurnEnd:
        """Ask, and wait for the end."""
        self.ask(query)
        return await self.end()

    @property
    def text(self) -> str:
        """The answer as it was streamed."""
        return "".join(token.text for token in self.tokens)

    async def tool(self, name: str, run: Any, *, schema: dict[str, Any] | None = None, **policies: Any) -> BusClient:
        """A tool process of its own: `run(call)` gives the outcome and the text, or None for silence."""
        client = await self.memory.client(name)

        def on_call(call: ToolCall, envelope: Envelope) -> None:
            ended = run(call)
            if ended is not None:
                result = ToolResult(tool=call.tool, call_id=call.call_id, outcome=ended[0], result=ended[1])
                client.publish(result, turn=envelope.turn, correlation_id=envelope.message_id)

        client.on(ToolCall, on_call, key=name)
        parameters = schema or {"type": "object", "properties": {}}
        described = ToolSchema(
            tool=name,
            name=name,
            description=name,
            parameters=parameters,
            policies=Policies(**policies),
            pid=4242,
            boot="b4242",
        )
        client.publish(described)
        return client


SETTINGS = {"first_chunk_s": 5.0, "stall_s": 5.0, "journal_s": 0.01, "retries": 1}


@pytest.fixture
def settings() -> dict[str, Any]:
    """generator.yaml's values in a test; a test module may override this fixture."""
    return SETTINGS


@pytest.fixture
async def world(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> AsyncIterator[World]:
    """A running generator."""
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    async with ScriptedOllama() as model:
        monkeypatch.setenv("LOCAL2_MODELS__OLLAMA_HOST", model.url)
        monkeypatch.setenv("LOCAL2_MODELS__DEFAULT", "scripted")
        monkeypatch.setenv("LOCAL2_MODELS__BACKEND", "ollama")
        memory = MemoryBus()
        bus = await memory.client("test")
        surrounding = World(memory, bus, Ledger(await memory.client("conversation")), model)
        config = load("generator", GeneratorConfig)
        config = type(config)(**{**{f: getattr(config, f) for f in config.__struct_fields__}, **settings})
        agent = GeneratorAgent(config, memory.make("generator"), SystemConfig(id="system", drain_s=1.0))
        surrounding.agent = agent
        task = asyncio.create_task(agent.run())
        await agent.bus.wait_ready()
        yield surrounding
        agent.stop()
        await task
        for client in (bus, surrounding.ledger.bus):
            await client.close()
