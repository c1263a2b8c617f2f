"""What does a model make of what is kept, while nobody waits for the model?

Better words for single turns, and one insight of several that agree. Whatever fails leaves things as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.ledger import EndedTurn
from bus.messages.memory import Agreeing, FindAgreeing, KeepInsight, UpdateEngram
from participants.agents.memory import prompts, rules
from participants.agents.memory.config import MemoryConfig
from participants.agents.memory.ingest import Machine, Waiting, ref_of
from participants.agents.memory.states import Action
from participants.backend.ask import NoAnswer
from participants.backend.backends import NoModel
from participants.backend.helper import HelperModel
from participants.background import Background

log = structlog.get_logger()
_SUMMARY_TOKENS = 300
_INSIGHT_TOKENS = 150


class Refining:
    """Asks the model.

    Args:
        bus: Reaches the store.
        model: The model of the role `memory`.
        background: Knows when nobody waits for it.
        waiting: What is to be put in better words.
        config: memory.yaml as it is now.
    """

    def __init__(
        self,
        bus: BusClient,
        model: HelperModel,
        background: Background,
        waiting: Waiting,
        config: Callable[[], MemoryConfig],
    ) -> None:
        self._bus, self._model, self._background, self._waiting, self._config = bus, model, background, waiting, config

    async def one_turn(self) -> bool:
        """Put one turn in better words; whether there may be more."""
        taken = self._waiting.take()
        if taken is None:
            return False
        await self._refine(*taken)
        return True

    async def _refine(self, turn: EndedTurn, machine: Machine) -> None:
        answer = await self._asked(prompts.refining(turn), _SUMMARY_TOKENS, prompts.REFINED_FORM)
        found = prompts.refined(answer) if answer else None
        if found is None:
            return
        kept = rules.engram(turn).text
        better = UpdateEngram(text=found.summary, instead_of=kept, intent=found.intent, entities=found.entities)
        if not await self._gone(better, ref_of(turn)):
            machine.do(Action.REFINE)

    async def one_insight(self) -> bool:
        """Make one insight of engrams that agree; whether there may be more."""
        group = await self._bus.request(FindAgreeing(), Agreeing)
        if not group.engrams:
            return False
        text = prompts.insight(await self._asked(prompts.distilling(group.engrams), _INSIGHT_TOKENS))
        if not text:
            return False  # the same group would come again at once
        sources = [engram.memory_id for engram in group.engrams]
        return not await self._gone(KeepInsight(text=text, sources=sources), TurnRef("", group.user_id))

    async def _asked(self, messages: list[dict[str, Any]], tokens: int, form: dict[str, Any] | None = None) -> str:
        """The model's answer; empty where it gives none."""
        limit_s = self._config().model_s

        async def ask() -> str:
            return await self._model.ask(messages, most_tokens=tokens, limit_s=limit_s, form=form)

        try:
            return await self._background.run(ask)
        except (NoModel, NoAnswer) as error:
            log.info("not_refined", reason=str(error))
            return ""

    async def _gone(self, message: UpdateEngram | KeepInsight, turn: TurnRef) -> bool:
        """Send it; whether what it is about was deleted meanwhile."""
        try:
            await self._bus.request(message, Done, turn=turn)
        except RequestFailed as error:
            log.info("not_kept", reason=str(error))
            return True
        return False
