"""When is a conversation summed up, and what is said of it?

By itself where its prompt has become long, and when its user asks. It runs while no user waits for a model. Whatever
fails changes nothing: the prompt stays as it is, and the user is told why.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, NamedTuple, TypeVar

import structlog

from bus.config import Section
from bus.envelope import Envelope, TurnRef
from bus.errors import Local2Error, RequestFailed
from bus.messages.compaction import CompactionResult, CompactSession
from bus.messages.control import Done
from bus.messages.generation import ResponseGeneration
from bus.messages.ledger import PastTurn, SaveSummary, SummariseTurns, TurnEnd, TurnsToSummarise
from participants.backend.ask import NoAnswer
from participants.backend.backends import NoModel
from participants.backend.helper import HelperModel
from participants.background import Background
from participants.services.base import BaseService
from participants.services.compaction import prompts
from participants.services.compaction.config import CompactionConfig

log = structlog.get_logger()
_CHARS_A_TOKEN = 2.5
_TRIES = 5
_PAUSE_S = 1.0
R = TypeVar("R")
_MOST_SESSIONS = 1000
SHORT = "There is nothing to sum up yet: the newest questions and answers stay as they are."
TWICE = "This conversation is being summed up already."


class Part(NamedTuple):
    """What is summed up at once."""

    found: TurnsToSummarise
    turns: list[PastTurn]
    upto: str
    is_last: bool


class ModelService(BaseService):
    """Sums up conversations."""

    CONFIG_NAME: ClassVar[str] = "compaction"
    Config: ClassVar[type[Section]] = CompactionConfig
    ALSO_READS: ClassVar[tuple[str, ...]] = ("models",)
    config: CompactionConfig

    async def setup(self) -> None:
        """Listen for long answers, and for users who ask."""
        self._model = HelperModel(self.bus, "memory")
        self._model.listen()
        self._background = Background(self.bus)
        self._background.listen()
        self._running: set[str] = set()
        self._resting: OrderedDict[str, int] = OrderedDict()
        self.bus.serve(CompactSession, self._asked)
        self.bus.on(ResponseGeneration, self._on_response)

    def reconfigured(self, before: Any) -> None:
        """Another model may be there now."""
        self._model.reconfigured()

    async def farewell(self) -> None:
        """Leave no connection open. What was not summed up is, the next time."""
        await self._model.close()

    # ------------------------------------------------------------------ when

    async def _asked(self, _message: CompactSession, request: Envelope) -> Done:
        """A user asks: what is in the way is said at once."""
        session = TurnRef(request.session_id, request.user_id)
        if session.session_id in self._running:
            raise RequestFailed("running", TWICE)
        self._running.add(session.session_id)
        try:
            await self._model.model()
            if not (await self._to_summarise(session)).turns:
                raise RequestFailed("short", SHORT)
        except NoModel as error:
            self._running.discard(session.session_id)
            raise RequestFailed("unavailable", str(error)) from error
        except BaseException:
            self._running.discard(session.session_id)
            raise
        self._begin(session)
        return Done()

    def _on_response(self, message: ResponseGeneration, envelope: Envelope) -> None:
        session = TurnRef(envelope.session_id, envelope.user_id)
        if not self.config.automatic or session.session_id in self._running:
            return
        if not is_long(message.end, self.config.threshold) or self._rests(session.session_id):
            return
        self._begin(session)

    def _rests(self, session_id: str) -> bool:
        """After a failure the next few answers of a session are let pass."""
        left = self._resting.pop(session_id, 0)
        if left > 1:
            self._resting[session_id] = left - 1
        return left > 0

    def _begin(self, session: TurnRef) -> None:
        self._running.add(session.session_id)
        self.spawn(self._compact(session), name=f"compact {session.session_id}")

    # ------------------------------------------------------------------ what

    async def _compact(self, session: TurnRef) -> None:
        try:
            result = await self._summed_up(session)
        except (NoModel, NoAnswer, Local2Error) as error:
            result = CompactionResult(state="failed", message=f"Nothing was changed: {error}")
        except Exception:  # its user waits for word of it
            log.exception("compaction_failed")
            result = CompactionResult(state="failed", message="Nothing was changed: see the log of compaction.")
        finally:
            self._running.discard(session.session_id)
        if result.state == "failed":
            self._resting[session.session_id] = self.config.rest_turns
            if len(self._resting) > _MOST_SESSIONS:
                self._resting.popitem(last=False)
        if result.state != "refused":
            self.bus.publish(result, turn=session)

    async def _summed_up(self, session: TurnRef) -> CompactionResult:
        """Sum up part after part, each saved by itself; refused where there is nothing to sum up.

        Raises:
            NoModel: Nobody can do it.
            NoAnswer: The model gave no summary.
            Local2Error: The ledger is away, or refuses.
        """
        result = CompactionResult(state="refused")
        while (part := await self._next_part(session)).turns:
            if result.state == "refused":
                self.bus.publish(CompactionResult(state="started", message="Older turns are summed up."), turn=session)
            result = await self._saved(session, part)
            if part.is_last:
                break
        return result

    async def _next_part(self, session: TurnRef) -> Part:
        found = await self._when_idle(lambda: self._to_summarise(session))
        turns = prompts.fitting(found.turns, await self._room())
        is_last = len(turns) == len(found.turns)
        upto = found.upto if is_last or not turns else turns[-1].query_id
        return Part(found, turns, upto, is_last)

    async def _saved(self, session: TurnRef, part: Part) -> CompactionResult:
        text = await self._asked_model(part)
        before = part.found.before
        save = SaveSummary(upto=part.upto, text=text, before=before.upto if before else "")
        await self._when_idle(lambda: self.bus.request(save, Done, turn=session))
        stands_for = (before.turns if before else 0) + len(part.turns)
        return CompactionResult(state="done", upto=part.upto, turns=stands_for)

    async def _when_idle(self, work: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Do it while no question of the session is being answered; wait where one came in between."""
        for left in range(_TRIES - 1, -1, -1):
            try:
                return await self._background.run(work)
            except RequestFailed as error:
                if error.code != "running" or left == 0:
                    raise
            await asyncio.sleep(_PAUSE_S)
        raise AssertionError("unreachable: the last try returns or raises")

    async def _asked_model(self, part: Part) -> str:
        chars = await self._room()
        messages = prompts.summarising(part.found.before, part.turns, chars)

        async def ask() -> str:
            return await self._model.ask(messages, most_tokens=self.config.summary_tokens, limit_s=self.config.model_s)

        return await self._background.run(ask)

    async def _to_summarise(self, session: TurnRef) -> TurnsToSummarise:
        return await self.bus.request(SummariseTurns(tail=self.config.tail_turns), TurnsToSummarise, turn=session)

    async def _room(self) -> int:
        """Characters of conversation that fit into a prompt, beside the last summary and the next one."""
        tokens = await self._model.num_ctx() - 3 * self.config.summary_tokens
        return int(max(500, tokens) * _CHARS_A_TOKEN)


def is_long(end: TurnEnd, threshold: float) -> bool:
    """Whether the next prompt of this conversation will be long, or something was left out of this one already."""
    if end.status != "answered" or not end.num_ctx or end.prompt_tokens is None:
        return False
    return end.left_out > 0 or end.prompt_tokens + (end.answer_tokens or 0) >= threshold * end.num_ctx
