"""The memory agent, with a real ledger and a real store on one in-memory bus, and a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bus.client import BusClient
from bus.config import SystemConfig
from bus.envelope import Envelope, TurnRef
from bus.messages.control import AgentTransition, Backend, BackendRequest, Done, Presence
from bus.messages.critique import CritiqueResult, Grade
from bus.messages.generation import BackendInfo, GeneratorStatus, GetStatus, ResponseGeneration
from bus.messages.ledger import (
    ClaimTurn,
    DeleteTurn,
    FinishTurn,
    GradeTurn,
    ToolRecord,
    TurnClaimed,
    TurnEnd,
    VoteTurn,
)
from bus.messages.memory import FactKept, ListMemories, Memory, MemoryContext, MemoryPage, MemoryRef, RememberFact
from bus.messages.query import SubmitTurn, TurnAccepted
from bus.testing import MemoryBus
from participants.agents.memory.agent import MemoryAgent
from participants.agents.memory.config import MemoryConfig
from participants.participant import Participant
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.service import ConversationService
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.service import MemoryService
from tests.support.scripted_ollama import ScriptedOllama
from tests.support.scripted_ollama_script import Hang, Say

SYSTEM = SystemConfig(id="system")
RULES = MemoryConfig(id="memory", use_model=False, recall_s=10.0)
WITHIN_S = 20.0
STATUS = GeneratorStatus(
    backend=BackendInfo(kind="ollama", state="ready"),
    roles=[],
    models=[],
    tools=[],
    turns={},
    max_turns=8,
    options={"num_ctx": 4096},
)


class Scene:
    """All who take part, and what was said."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.contexts: dict[str, MemoryContext] = {}
        self.moves: list[tuple[str, str]] = []
        self._news = asyncio.Event()
        self._running: dict[str, tuple[Participant, asyncio.Task[None]]] = {}

    async def open(self) -> None:
        """Start the ledger and the store."""
        self.asker: BusClient = await self.bus.client("asker")
        self.asker.serve(BackendRequest, lambda _message, _envelope: Backend(state="absent"))
        self.asker.serve(GetStatus, lambda _message, _envelope: STATUS)
        self.asker.on(MemoryContext, self._on_context)
        self.asker.on(AgentTransition, self._on_move)
        await self.start(ConversationService(ConversationConfig(id="l"), self.bus.make("conversation"), SYSTEM))
        await self.start_store()

    async def start(self, participant: Participant) -> None:
        """Start one."""
        name = participant.CONFIG_NAME
        self._running[name] = participant, asyncio.create_task(participant.run())
        await participant.bus.wait_ready(5)

    async def start_store(self) -> None:
        """Start the store."""
        config = MemoryStoreConfig(id="store", embed_s=5.0)
        await self.start(MemoryService(config, self.bus.make("memory_store"), SYSTEM))

    async def remember(self, rules: MemoryConfig = RULES) -> None:
        """Start the memory agent."""
        await self.start(MemoryAgent(rules, self.bus.make("memory"), SYSTEM))

    async def stop(self, name: str) -> None:
        """Stop one."""
        participant, task = self._running.pop(name)
        participant.stop()
        await task

    async def close(self) -> None:
        """Stop all."""
        for name in reversed(list(self._running)):
            await self.stop(name)
        await self.asker.close()

    def _on_context(self, context: MemoryContext, envelope: Envelope) -> None:
        self.contexts[envelope.query_id] = context
        self._news.set()

    def _on_move(self, move: AgentTransition, envelope: Envelope) -> None:
        self.moves.append((envelope.query_id, move.after))
        self._news.set()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for news until something is so."""
        async with asyncio.timeout(WITHIN_S):
            while not true():
                self._news.clear()
                await self._news.wait()

    async def moved(self, query_id: str, state: str) -> None:
        """Wait until the agent is at a state with a turn."""
        await self.until(lambda: (query_id, state) in self.moves)

    # ------------------------------------------------------------------ turns

    async def ask(self, turn: TurnRef, query: str, *, incognito: bool = False) -> MemoryContext | None:
        """Ask, and claim as a generator would; what the memory says to it."""
        await self.asker.request(SubmitTurn(query=query, incognito=incognito), TurnAccepted, turn=turn)
        await self.asker.request(ClaimTurn(holder="boot"), TurnClaimed, turn=turn)
        if incognito or "memory" not in self._running:
            return None
        await self.until(lambda: turn.query_id in self.contexts)
        return self.contexts[turn.query_id]

    async def answer(self, turn: TurnRef, answer: str, status: str = "answered", **more: Any) -> None:
        """Commit an answer, and say so."""
        end = TurnEnd(status=status, finish_reason="stop", answer=answer, model="m", **more)
        await self.asker.request(FinishTurn(fence=1, end=end), Done, turn=turn)
        self.asker.publish(ResponseGeneration(query="?", end=end), turn=turn)

    async def talk(
        self, number: int, query: str, answer: str, session: int = 1, user: str = "ann", **more: Any
    ) -> None:
        """A whole turn, and what the memory makes of it."""
        turn = TurnRef(f"s{session}", user, f"q{number}")
        await self.ask(turn, query)
        await self.answer(turn, answer, **more)
        if "memory" in self._running:
            await self.until(
                lambda: any(move[0] == turn.query_id and move[1] in ("KEPT", "SKIPPED") for move in self.moves)
            )

    async def kept(self, user: str = "ann") -> list[Memory]:
        """All that is remembered, newest first."""
        return (await self.asker.request(ListMemories(), MemoryPage, turn=TurnRef("", user))).memories

    async def kept_once(self, true: Callable[[list[Memory]], bool]) -> list[Memory]:
        """The same, asked until something is so."""
        async with asyncio.timeout(WITHIN_S):
            while not true(found := await self.kept()):
                pass
        return found


@pytest.fixture
async def models(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.setenv("LOCAL2_MODELS__EMBEDDING", "scripted-embed")
        yield server


@pytest.fixture
async def scene(tmp_path: Path, models: ScriptedOllama, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    scene = Scene()
    await scene.open()
    yield scene
    await asyncio.wait_for(scene.close(), WITHIN_S)


async def test_what_was_said_in_one_conversation_is_recalled_in_another(scene: Scene) -> None:
    await scene.remember()
    await scene.talk(1, "My boat lies in the harbour of Kiel.", "A fine harbour for a boat.")
    context = await scene.ask(TurnRef("s2", "ann", "q2"), "In which harbour lies my boat?")
    assert context is not None
    assert [engram.query for engram in context.engrams] == ["My boat lies in the harbour of Kiel."]
    other = await scene.ask(TurnRef("s3", "bob", "q3"), "In which harbour lies my boat?")
    assert other is not None
    assert (other.engrams, other.facts, other.reason) == ([], [], "")


async def test_what_was_answered_while_it_was_away_is_kept_when_it_comes(scene: Scene) -> None:
    await scene.talk(1, "Where is Kiel?", "In the north.")
    await scene.remember()
    await scene.moved("q1", "KEPT")
    assert [memory.query_id for memory in await scene.kept()] == ["q1"]


async def test_thanks_failures_and_incognito_leave_nothing(scene: Scene) -> None:
    await scene.remember()
    for number in range(1, 6):
        await scene.talk(number, "thanks", "You are welcome.")
    failed = TurnRef("s1", "ann", "q6")
    await scene.ask(failed, "Where is Kiel?")
    await scene.answer(failed, "In the n", status="failed")
    secret = TurnRef("s9", "ann", "q7")
    assert await scene.ask(secret, "My secret is a whale.", incognito=True) is None
    await scene.answer(secret, "I tell nobody.")
    await scene.talk(8, "Where is Oslo?", "In Norway.")
    assert [memory.query_id for memory in await scene.kept()] == ["q8"]
    assert "q7" not in scene.contexts


async def test_what_was_recalled_is_not_kept_again(scene: Scene) -> None:
    await scene.remember()
    await scene.asker.request(RememberFact(fact="My PIN hint is blue whale."), FactKept, turn=TurnRef("s", "ann", "q0"))
    (fact,) = await scene.kept()
    held = [MemoryRef(memory_id=fact.memory_id, kind="fact")]
    for number in range(1, 4):
        await scene.talk(number, "What is my PIN hint?", "Your PIN hint is blue whale.", facts=held)
    looked_up = ToolRecord(
        call_id="c", tool="t", outcome="ok", result="My PIN hint is blue whale.", sources=[{"memory_id": "x"}]
    )
    await scene.talk(4, "Look up my PIN hint.", "It is blue whale.", tool_calls=[looked_up])
    assert await scene.kept() == [fact]


async def test_a_grade_and_a_vote_come_to_the_engram(scene: Scene) -> None:
    await scene.remember()
    await scene.talk(1, "Where is Kiel?", "In the north.")
    turn = TurnRef("s1", "ann", "q1")
    await scene.asker.request(GradeTurn(grade=Grade(score=5)), Done, turn=turn)
    scene.asker.publish(CritiqueResult(grade=Grade(score=5)), turn=turn)
    await scene.asker.request(VoteTurn(sentiment=-1), Done, turn=turn)
    (engram,) = await scene.kept_once(lambda found: found[0].sentiment == -1)
    assert engram.critic_score == 5
    await scene.asker.request(VoteTurn(sentiment=0), Done, turn=turn)
    await scene.kept_once(lambda found: found[0].sentiment == 0)


async def test_a_deleted_turn_is_forgotten_also_while_it_was_away(scene: Scene) -> None:
    await scene.remember()
    await scene.talk(1, "Where is Kiel?", "In the north.")
    await scene.talk(2, "Where is Oslo?", "In Norway.")
    await scene.asker.request(DeleteTurn(), Done, turn=TurnRef("s1", "ann", "q2"))
    await scene.kept_once(lambda found: len(found) == 1)
    await scene.stop("memory")
    await scene.asker.request(DeleteTurn(), Done, turn=TurnRef("s1", "ann", "q1"))
    await scene.remember()
    await scene.kept_once(lambda found: not found)


async def test_without_the_store_a_turn_is_told_so_at_once(scene: Scene) -> None:
    await scene.remember()
    await scene.stop("memory_store")
    context = await scene.ask(TurnRef("s1", "ann", "q1"), "Where is Kiel?")
    assert context is not None
    assert "does not run" in context.reason
    await scene.answer(TurnRef("s1", "ann", "q1"), "In the north.")
    await scene.start_store()
    await scene.moved("q1", "KEPT")


async def test_a_slow_store_is_not_waited_for(scene: Scene) -> None:
    await scene.stop("memory_store")
    await scene.remember(replace(RULES, recall_s=0.05))
    hung = Presence(name="memory_store", instance="here", kind="service", state="ready", pid=1)
    scene.asker.publish(hung)
    context = await scene.ask(TurnRef("s1", "ann", "q1"), "Where is Kiel?")
    assert context is not None
    assert "longer than 0.05 s" in context.reason


# ---------------------------------------------------------------------- with a model


async def test_a_model_puts_it_in_better_words_when_nobody_waits(scene: Scene, models: ScriptedOllama) -> None:
    filed = {"summary": "The user's boat is in Kiel.", "intent": "fact", "entities": ["Kiel"]}
    models.reply(Say(json.dumps(filed)))
    await scene.remember(replace(RULES, use_model=True))
    await scene.talk(1, "My boat lies in Kiel.", "A fine place.")
    (engram,) = await scene.kept_once(lambda found: found[0].text == filed["summary"])
    assert (engram.query, engram.entities) == ("My boat lies in Kiel.", ["Kiel"])
    sent = [request for request in models.requests if request.path == "/api/chat"][-1].body
    assert (sent["options"]["num_ctx"], "tools" in sent) == (4096, False)


async def test_a_model_that_fails_leaves_what_rules_kept(scene: Scene, models: ScriptedOllama) -> None:
    models.reply(Say("Sorry, I cannot."))
    await scene.remember(replace(RULES, use_model=True))
    await scene.talk(1, "Where is Kiel?", "In the north.")
    await models.next_request("/api/chat")
    assert [memory.text for memory in await scene.kept()] == ["In the north."]


async def test_the_model_is_let_go_when_a_question_comes(scene: Scene, models: ScriptedOllama) -> None:
    models.reply(Hang())
    await scene.remember(replace(RULES, use_model=True))
    await scene.talk(1, "Where is Kiel?", "In the north.")
    request = await models.next_request("/api/chat")
    turn = TurnRef("s2", "ann", "q2")
    await scene.ask(turn, "Where is Oslo?")
    await asyncio.wait_for(request.closed.wait(), WITHIN_S)
    models.reply(Say('{"summary": "North.", "intent": "fact", "entities": []}'))
    await scene.answer(turn, "x", status="failed")
    await scene.kept_once(lambda found: found[0].text == "North.")


async def test_engrams_that_agree_become_one_insight(scene: Scene, models: ScriptedOllama) -> None:
    for _ in range(3):
        models.reply(Say("no JSON"))
    models.reply(Say("The user sails in Kiel."))
    await scene.remember(replace(RULES, use_model=True, insights_pause_s=0.5))
    for number in range(1, 4):
        await scene.talk(number, "My boat sails in Kiel today", "Your boat sails in Kiel", session=number)
    found = await scene.kept_once(lambda found: found[0].kind == "insight")
    assert (found[0].text, len(found[0].sources)) == ("The user sails in Kiel.", 3)
    await scene.asker.request(DeleteTurn(), Done, turn=TurnRef("s1", "ann", "q1"))
    await scene.kept_once(lambda found: len(found) == 2)
