"""Votes and grades become one figure."""

from __future__ import annotations

import asyncio

import pytest

from bus.config import SystemConfig
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.critique import CritiqueResult, Grade, RewardEvent, UserFeedback
from bus.messages.ledger import GetTurn, Turn, TurnEnd, TurnInfo
from bus.testing import MemoryBus
from participants.services.reward.decide import reward
from participants.services.reward.service import RewardConfig, RewardService

TURN = TurnRef("s1", "ann", "q1")


@pytest.mark.parametrize(
    ("sentiment", "score", "worth"),
    [(0, None, 0.0), (1, None, 1.0), (-1, 5, -1.0), (1, 1, 1.0), (0, 5, 0.5), (0, 3, 0.0), (0, 1, -0.5)],
)
def test_the_users_vote_counts_whole_and_the_critics_score_half(
    sentiment: int, score: int | None, worth: float
) -> None:
    assert reward(sentiment, score) == worth


async def test_each_event_says_all_that_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("LOCAL2_HOME", str(tmp_path))
    bus = MemoryBus()
    known: dict[str, TurnInfo] = {}

    def turn(_message: GetTurn, envelope: Envelope) -> Turn:
        if envelope.query_id not in known:
            raise RequestFailed("not_found", "gone")
        return Turn(turn=known[envelope.query_id])

    ledger = await bus.client("conversation")
    ledger.serve(GetTurn, turn)
    heard: asyncio.Queue[RewardEvent] = asyncio.Queue()
    ledger.on(RewardEvent, lambda event, _envelope: heard.put_nowait(event))
    service = RewardService(RewardConfig(id="reward"), bus.make("reward"), SystemConfig(id="system"))
    running = asyncio.create_task(service.run())
    await service.bus.wait_ready(5)

    async def told(message: UserFeedback | CritiqueResult, sentiment: int, grade: Grade | None) -> RewardEvent:
        end = TurnEnd(status="answered", finish_reason="stop")
        known["q1"] = TurnInfo(
            query_id="q1",
            session_id="s1",
            query="?",
            created_at="",
            status="answered",
            end=end,
            grade=grade,
            sentiment=sentiment,
        )
        ledger.publish(message, turn=TURN)
        return await asyncio.wait_for(heard.get(), 10)

    four = Grade(score=4)
    ledger.publish(UserFeedback(sentiment=1), turn=TurnRef("s1", "ann", "deleted"))
    ledger.publish(CritiqueResult(grade=Grade(reason="It is an echo.")), turn=TURN)
    first = await told(CritiqueResult(grade=four), 0, four)
    assert (first.source, first.score, first.sentiment, first.reward) == ("critic", 4, 0, 0.25)
    vote = await told(UserFeedback(sentiment=-1), -1, four)
    assert (vote.source, vote.score, vote.sentiment, vote.reward) == ("user", 4, -1, -1.0)
    taken_back = await told(UserFeedback(sentiment=0), 0, four)
    assert (taken_back.sentiment, taken_back.reward) == (0, 0.25)
    service.stop()
    await running
    await ledger.close()
