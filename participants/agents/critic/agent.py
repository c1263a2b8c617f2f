"""When is an answer graded, and what comes of it?

The ledger says which answers wait; events only hint. One is graded at a time, and only while no user waits for a model.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, ClassVar

import structlog

from bus.config import Section
from bus.envelope import TurnRef
from bus.errors import RequestFailed
from bus.messages.control import BackendChanged, Done
from bus.messages.critique import CritiqueResult, Grade
from bus.messages.generation import GeneratorStatus, ResponseGeneration
from bus.messages.ledger import EndedTurn, GradeTurn, Overdue, OverdueTurns
from bus.messages.tool import ToolSchemaRequest
from participants.agents.base import BaseAgent
from participants.agents.critic import prompts, score, worth
from participants.agents.critic.config import CriticConfig
from participants.agents.critic.rubrics import Rubrics
from participants.agents.critic.states import Action, State
from participants.agents.critic.transitions import TRANSITIONS
from participants.backend.ask import NoAnswer
from participants.backend.backends import NoModel
from participants.backend.helper import HelperModel
from participants.background import Background
from participants.nudged import Nudged
from participants.state_machine import StateMachine

log = structlog.get_logger()
_FEEDBACK_TOKENS = 400
_CHARS_A_TOKEN = 2.5
"""On the careful side, and with the rubric's own room taken off."""


class CriticAgent(BaseAgent):
    """The agent that grades."""

    CONFIG_NAME: ClassVar[str] = "critic"
    Config: ClassVar[type[Section]] = CriticConfig
    ALSO_READS: ClassVar[tuple[str, ...]] = ("models",)
    config: CriticConfig

    async def setup(self) -> None:
        """Listen for answers, and for what tools say of them."""
        self._note = ""
        self._model = HelperModel(self.bus, "critic")
        self._model.listen()
        self._background = Background(self.bus)
        self._background.listen()
        self._rubrics = Rubrics(self.bus)
        self._rubrics.listen()
        self._grading = Nudged(self._some, "grade", again_s=30.0)
        self.bus.on(ResponseGeneration, lambda _message, _envelope: self._grading.nudge())
        self.bus.on(GeneratorStatus, lambda _message, _envelope: self._model_may_be_there())
        self.bus.on(BackendChanged, lambda _message, _envelope: self._model_may_be_there())

    async def started(self) -> None:
        """Begin to work off what waits."""
        self.spawn(self._grading.run(), name="grade")

    def linked(self) -> None:
        """Whatever was said while the bus was away, or before we came, is asked for."""
        self.bus.publish(ToolSchemaRequest())
        self._grading.nudge()

    def reconfigured(self, before: Any) -> None:
        """It may be switched on now, or have another model."""
        self._model.reconfigured()
        self._grading.nudge()

    async def farewell(self) -> None:
        """Leave no connection open. What was not graded still waits."""
        await self._model.close()

    def _model_may_be_there(self) -> None:
        if self._note:
            self._grading.nudge()

    # ------------------------------------------------------------------ grading

    async def _some(self) -> bool:
        """Grade the oldest few; whether there may be more."""
        if not self.config.enabled:
            return False
        overdue = await self.bus.request(OverdueTurns(stage="graded", limit=5), Overdue)
        for turn in overdue.turns:
            if not await self._one(turn):
                return False
        return bool(overdue.turns)

    async def _one(self, turn: EndedTurn) -> bool:
        """Grade one answer, and say so; False where that has to wait for a model."""
        ref = TurnRef(turn.session_id, turn.user_id, turn.query_id)
        machine = self.machine(TRANSITIONS, State.IDLE, ref)
        try:
            grade = await self._grade(turn, machine)
        except NoModel as error:
            if error.code != "role_off":
                self._say_missing(str(error))
                return False
            grade = Grade(reason=str(error))
        self._say_missing("")
        machine.do(Action.SKIP if grade.score is None else Action.FINISH, grade.reason)
        try:
            await self.bus.request(GradeTurn(grade=grade), Done, turn=ref)
        except RequestFailed as error:  # it was deleted meanwhile
            log.info("not_saved", reason=str(error))
            return True
        self.bus.publish(CritiqueResult(grade=grade), turn=ref)
        return True

    async def _grade(self, turn: EndedTurn, machine: StateMachine[State, Action]) -> Grade:
        """An answer's grade, or why it has none.

        Raises:
            NoModel: Nobody can grade.
        """
        reason = worth.why_not(turn, datetime.now(UTC), self.config.oldest_s)
        if reason:
            return Grade(reason=reason)
        model = await self._model.model()
        rubric = self._rubrics.of(turn.end.tool_calls, self.config.rubric)
        machine.do(Action.GRADE)
        try:
            answer = await self._asked(turn, rubric, machine)
        except NoAnswer as error:
            return Grade(reason=str(error), rubric_name=rubric, model=model)
        verdict = score.read(answer)
        return Grade(
            score=verdict.score, rubric_name=rubric, feedback=verdict.feedback, reason=verdict.reason, model=model
        )

    async def _asked(self, turn: EndedTurn, rubric: str, machine: StateMachine[State, Action]) -> str:
        """What the model says, asked a few times where it fails.

        Raises:
            NoModel: There is none any more.
            NoAnswer: Each time it failed; with the last reason.
        """
        pause_s = self.config.again_s
        for left in range(self.config.tries - 1, -1, -1):
            try:
                return await self._background.run(lambda: self._ask(turn, rubric))
            except NoAnswer as error:
                if left == 0:
                    raise
                machine.do(Action.RETRY, str(error))
            await asyncio.sleep(pause_s)
            pause_s *= 2
        raise AssertionError("unreachable: the last try returns or raises")

    async def _ask(self, turn: EndedTurn, rubric: str) -> str:
        room = await self._model.num_ctx() // 2  # half of it, so that no model cuts the rubric off
        messages = prompts.grading(turn, prompts.RUBRICS[rubric], int(room * _CHARS_A_TOKEN))
        return await self._model.ask(messages, most_tokens=_FEEDBACK_TOKENS, limit_s=self.config.model_s)

    def _say_missing(self, note: str) -> None:
        """A missing model is said once, and once more when it is there."""
        if note != self._note:
            self._note = note
            self._announce(self.state, note)
            if note:
                log.warning("no_critic", reason=note)
