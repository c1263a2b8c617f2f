"""The critic on an in-memory bus, with a real ledger and a scripted model server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bus.client import BusClient
from bus.config import SystemConfig
from bus.envelope import Envelope, TurnRef
from bus.messages.control import Backend, BackendRequest, Done, Presence
from bus.messages.critique import CritiqueResult, Grade
from bus.messages.generation import BackendInfo, GeneratorStatus, GetStatus, ResponseGeneration
from bus.messages.ledger import ClaimTurn, DeleteSession, FinishTurn, GetTurn, Turn, TurnClaimed, TurnEnd
from bus.messages.query import SubmitTurn, TurnAccepted
from bus.testing import MemoryBus
from participants.agents.critic.agent import CriticAgent
from participants.agents.critic.config import CriticConfig
from participants.services.conversation.config import ConversationConfig
from participants.services.conversation.service import ConversationService
from tests.support.scripted_ollama import ScriptedOllama
from tests.support.scripted_ollama_script import Hang, Say, Status

SYSTEM = SystemConfig(id="system")
RULES = CriticConfig(id="critic", again_s=0.01)
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
    """A ledger, a critic, and who asks."""

    def __init__(self) -> None:
        self.bus = MemoryBus()
        self.graded: asyncio.Queue[tuple[str, Grade]] = asyncio.Queue()
        self.notes: asyncio.Queue[str] = asyncio.Queue()
        self.embedded = Backend(state="absent")

    async def open(self) -> None:
        """Start the ledger."""
        self.asker: BusClient = await self.bus.client("asker")
        self.asker.serve(BackendRequest, lambda _message, _envelope: self.embedded)
        self.asker.serve(GetStatus, lambda _message, _envelope: STATUS)
        self.asker.on(CritiqueResult, self._on_result)
        self.asker.on(Presence, lambda presence, _envelope: self.notes.put_nowait(presence.note))
        self.ledger = ConversationService(ConversationConfig(id="l"), self.bus.make("conversation"), SYSTEM)
        self._tasks = [asyncio.create_task(self.ledger.run())]
        await self.ledger.bus.wait_ready(5)

    def _on_result(self, result: CritiqueResult, envelope: Envelope) -> None:
        self.graded.put_nowait((envelope.query_id, result.grade))

    async def judge(self, rules: CriticConfig = RULES) -> CriticAgent:
        """Start the critic."""
        self.critic = CriticAgent(rules, self.bus.make("critic"), SYSTEM)
        self._tasks.append(asyncio.create_task(self.critic.run()))
        await self.critic.bus.wait_ready(5)
        return self.critic

    async def close(self) -> None:
        """Stop all."""
        if len(self._tasks) > 1:
            self.critic.stop()
        self.ledger.stop()
        await asyncio.gather(*self._tasks)
        await self.asker.close()

    async def answered(self, number: int, query: str = "Why?", answer: str = "Because.", **end: Any) -> TurnRef:
        """A whole turn."""
        turn = TurnRef("s1", "ann", f"q{number}")
        await self.asker.request(SubmitTurn(query=query), TurnAccepted, turn=turn)
        await self.asker.request(ClaimTurn(holder="boot"), TurnClaimed, turn=turn)
        made = TurnEnd(status="answered", finish_reason="stop", answer=answer, model="m", **end)
        await self.asker.request(FinishTurn(fence=1, end=made), Done, turn=turn)
        self.asker.publish(ResponseGeneration(query=query, end=made), turn=turn)
        return turn

    async def next(self) -> tuple[str, Grade]:
        """The next grade."""
        return await asyncio.wait_for(self.graded.get(), WITHIN_S)

    async def noted(self, words: str) -> None:
        """Wait until somebody says this of themselves."""
        async with asyncio.timeout(WITHIN_S):
            while words not in await self.notes.get():
                pass


@pytest.fixture
async def models(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server


@pytest.fixture
async def scene(tmp_path: Path, models: ScriptedOllama, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    scene = Scene()
    await scene.open()
    yield scene
    await asyncio.wait_for(scene.close(), WITHIN_S)


async def test_an_answer_is_graded_and_the_ledger_has_it(scene: Scene, models: ScriptedOllama) -> None:
    models.reply(Say("Feedback: Right and short.\n[RESULT] 4"))
    await scene.judge()
    turn = await scene.answered(1)
    query_id, grade = await scene.next()
    assert (query_id, grade.score, grade.rubric_name, grade.feedback, grade.model) == (
        "q1",
        4,
        "realistic",
        "Right and short.",
        "scripted:latest",
    )
    assert (await scene.asker.request(GetTurn(), Turn, turn=turn)).turn.grade == grade
    sent = models.requests[-1].body
    assert (sent["options"]["num_ctx"], "tools" in sent) == (4096, False)


async def test_what_was_answered_while_it_was_away_is_graded_once(scene: Scene, models: ScriptedOllama) -> None:
    await scene.answered(1)
    await scene.answered(2)
    models.reply(Say("[RESULT] 5"))
    models.reply(Say("no result"))
    await scene.judge()
    (first, good), (second, none) = await scene.next(), await scene.next()
    assert (first, good.score, second, none.score) == ("q1", 5, "q2", None)
    assert none.reason == "The grader gave no result."
    await scene.answered(3)
    assert (await scene.next())[0] == "q3"


async def test_what_cannot_be_graded_is_said_without_a_model(scene: Scene, models: ScriptedOllama) -> None:
    await scene.judge()
    await scene.answered(1, "Say hello", "say hello")
    _, grade = await scene.next()
    assert (grade.score, grade.reason) == (None, "The answer only repeats the question.")
    assert [request.path for request in models.requests if request.path == "/api/chat"] == []


async def test_a_model_that_fails_is_asked_again_and_then_left(scene: Scene, models: ScriptedOllama) -> None:
    for _ in range(3):
        models.reply(Status(500, "out of memory"))
    await scene.judge()
    await scene.answered(1)
    _, grade = await scene.next()
    assert (grade.score, "out of memory" in grade.reason) == (None, True)
    models.reply(Status(500, "out of memory"))
    models.reply(Say("[RESULT] 3"))
    await scene.answered(2)
    assert (await scene.next())[1].score == 3


async def test_a_missing_model_is_said_once_with_the_command_and_fails_nothing(
    scene: Scene, models: ScriptedOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL2_MODELS__CRITIC", "prometheus")
    critic = await scene.judge()
    await scene.answered(1)
    await scene.noted("ollama pull prometheus")
    await scene.answered(2)
    monkeypatch.setenv("LOCAL2_MODELS__CRITIC", "scripted")
    models.reply(Say("[RESULT] 2"))
    models.reply(Say("[RESULT] 3"))
    critic.reconfigured(RULES)
    assert [(await scene.next())[1].score for _ in range(2)] == [2, 3]


async def test_on_the_embedded_model_it_is_off_and_says_so(
    scene: Scene, models: ScriptedOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL2_MODELS__BACKEND", "embedded")
    scene.embedded = Backend(state="ready", url=models.url, model="scripted:latest")
    await scene.judge()
    await scene.answered(1)
    _, grade = await scene.next()
    assert (grade.score, "demo model" in grade.reason) == (None, True)


async def test_switched_off_it_asks_nobody(scene: Scene, models: ScriptedOllama) -> None:
    await scene.judge(replace(RULES, enabled=False))
    turn = await scene.answered(1)
    assert (await scene.asker.request(GetTurn(), Turn, turn=turn)).turn.grade is None
    assert models.requests == []


async def test_a_question_goes_first_and_grading_begins_anew(scene: Scene, models: ScriptedOllama) -> None:
    models.reply(Hang())
    await scene.judge()
    await scene.answered(1)
    request = await models.next_request("/api/chat")
    turn = TurnRef("s2", "ann", "q2")
    await scene.asker.request(SubmitTurn(query="Quick?"), TurnAccepted, turn=turn)
    await asyncio.wait_for(request.closed.wait(), WITHIN_S)
    models.reply(Say("[RESULT] 1"))
    await scene.asker.request(ClaimTurn(holder="boot"), TurnClaimed, turn=turn)
    end = TurnEnd(status="failed", finish_reason="error")
    await scene.asker.request(FinishTurn(fence=1, end=end), Done, turn=turn)
    scene.asker.publish(ResponseGeneration(query="Quick?", end=end), turn=turn)
    assert (await scene.next())[1].score == 1


async def test_an_answer_that_is_deleted_meanwhile_does_no_harm(scene: Scene, models: ScriptedOllama) -> None:
    models.reply(Hang())
    await scene.judge(replace(RULES, model_s=0.2, tries=1))
    turn = await scene.answered(1)
    await models.next_request("/api/chat")
    await scene.asker.request(DeleteSession(), Done, turn=turn)
    models.reply(Say("[RESULT] 5"))
    other = TurnRef("s2", "ann", "q2")
    await scene.asker.request(SubmitTurn(query="Why?"), TurnAccepted, turn=other)
    await scene.asker.request(ClaimTurn(holder="boot"), TurnClaimed, turn=other)
    end = TurnEnd(status="answered", finish_reason="stop", answer="So.", model="m")
    await scene.asker.request(FinishTurn(fence=1, end=end), Done, turn=other)
    scene.asker.publish(ResponseGeneration(query="Why?", end=end), turn=other)
    assert (await scene.next())[0] == "q2"
