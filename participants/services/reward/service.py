"""Who is told what an answer was worth?

A vote and a grade come as events of their own, at any time and in any order. What the other one was is asked of the
ledger, so that each reward says all that is known.
"""

from __future__ import annotations

from typing import ClassVar

import structlog

from bus.config import Section
from bus.envelope import Envelope, TurnRef
from bus.errors import Local2Error
from bus.messages.critique import CritiqueResult, RewardEvent, UserFeedback
from bus.messages.ledger import GetTurn, Turn
from participants.services.base import BaseService
from participants.services.reward.decide import reward

log = structlog.get_logger()


class RewardConfig(Section, frozen=True, kw_only=True):
    """reward.yaml."""


class RewardService(BaseService):
    """Turns votes and grades into rewards."""

    CONFIG_NAME: ClassVar[str] = "reward"
    Config: ClassVar[type[Section]] = RewardConfig

    async def setup(self) -> None:
        """Listen for votes and grades."""
        self.bus.on(UserFeedback, self._on_vote)
        self.bus.on(CritiqueResult, self._on_grade)

    async def _on_vote(self, _vote: UserFeedback, envelope: Envelope) -> None:
        await self._tell("user", envelope.turn)

    async def _on_grade(self, result: CritiqueResult, envelope: Envelope) -> None:
        if result.grade.score is not None:
            await self._tell("critic", envelope.turn)

    async def _tell(self, source: str, turn: TurnRef) -> None:
        """Publish what the answer is worth now. The ledger has the vote and the grade before they are told."""
        try:
            info = (await self.bus.request(GetTurn(), Turn, turn=turn)).turn
        except Local2Error as error:  # it was deleted meanwhile
            log.info("no_reward", reason=str(error))
            return
        score = info.grade.score if info.grade else None
        worth = reward(info.sentiment, score)
        self.bus.publish(RewardEvent(source=source, sentiment=info.sentiment, score=score, reward=worth), turn=turn)
