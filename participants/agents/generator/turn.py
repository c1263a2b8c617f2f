"""How is one turn answered, from the claim to the committed end?

A `TurnRun` belongs to one attempt of one turn. It alone changes its text; the agent reads it for
snapshots. Whatever goes wrong inside ends the turn with words and with what was said so far.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from time import monotonic
from typing import Any

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import RequestFailed, RequestTimeout
from bus.fault_points import FaultPoint, reached
from bus.messages.control import Done
from bus.messages.generation import AnswerDialog, ResponseGeneration, Thinking, Token
from bus.messages.ledger import FinishTurn, ReleaseTurn, ToolRecord, TurnClaimed, TurnEnd
from bus.messages.memory import MemoryContext
from bus.messages.persona import PersonaInfo
from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.journal import Said, TurnJournal
from participants.agents.generator.model_round import Round, RoundFailed
from participants.agents.generator.recall import Recall
from participants.agents.generator.remembered import groundedness
from participants.agents.generator.rounds import ModelRounds, Tokens
from participants.agents.generator.states import Action, State
from participants.agents.generator.tool_round import ToolRounds
from participants.agents.generator.typed import TypedCommand
from participants.backend.backends import Backends, NoModel
from participants.backend.thinking import Piece
from participants.kernel.approvals import Approvals
from participants.kernel.execute import ToolDispatcher
from participants.state_machine import StateMachine

log = structlog.get_logger()


class TurnRun:
    """One attempt.

    Args:
        bus: The generator's client.
        turn: Which turn.
        claim: What the ledger gave.
        persona: Who answers; None for no persona.
        note: What to tell the user while it is answered; may be empty.
        recall: What is remembered for it.
        config: generator.yaml.
        backends: The model server.
        tools: The dispatcher.
        approvals: What users decide.
        tokens: The token estimator.
        machine: This turn's states.
        counts: What happened, for the status.
    """

    def __init__(
        self,
        bus: BusClient,
        turn: TurnRef,
        claim: TurnClaimed,
        *,
        persona: PersonaInfo | None,
        note: str,
        recall: Recall,
        config: GeneratorConfig,
        backends: Backends,
        tools: ToolDispatcher,
        approvals: Approvals,
        tokens: Tokens,
        machine: StateMachine[State, Action],
        counts: Counter[str],
    ) -> None:
        self.turn, self.claim, self.machine, self._recall = turn, claim, machine, recall
        self._bus, self._config, self._backends, self._tools, self._counts = bus, config, backends, tools, counts
        self._journal = TurnJournal(bus, turn, claim.fence, claim.steps, self.stop)
        self._rounds = ToolRounds(
            turn,
            config=config,
            tools=tools,
            approvals=approvals,
            machine=machine,
            journal=self._journal,
            history=claim.history,
            pause=self._pause,
        )
        self._rounds.outside = claim.summary is not None and claim.summary.untrusted
        self._model = ModelRounds(
            claim,
            persona=persona,
            note=note,
            config=config,
            backends=backends,
            tools=tools,
            tokens=tokens,
            machine=machine,
            journal=self._journal,
            told=self._told,
            counts=counts,
        )
        self._typed = TypedCommand(
            claim.query, tools=tools, rounds=self._rounds, model=self._model, journal=self._journal, counts=counts
        )
        self._limit: asyncio.Timeout | None = None
        self._left_s: float | None = None
        self.n = -1
        self.draining = False
        self.thinking = ""
        self.answer = ""
        self._started = monotonic()
        self._first_s: float | None = None
        self._work: asyncio.Task[TurnEnd] | None = None
        self._why_stopped = ""

    @property
    def calls(self) -> list[ToolRecord]:
        """The tool calls so far, in request order."""
        return self._rounds.calls

    @property
    def waits(self) -> bool:
        """Whether it waits for its user."""
        return self._rounds.waits

    # ------------------------------------------------------------------ life

    async def run(self) -> None:
        """Answer, commit the end, and tell it. Journals meanwhile, which renews the lease."""
        self._work = asyncio.create_task(self._bounded(), name=f"answer {self.turn.query_id}")
        keep = self._journal.keep(self._said, self._config.journal_s)
        journal = self._bus.spawn(keep, name=f"journal {self.turn.query_id}")
        try:
            end = await self._end()
        finally:
            journal.cancel()
        if end is not None:
            await self._commit(end)

    def _said(self) -> Said:
        return Said(self.n, self.thinking, self.answer)

    def stop(self, why: str) -> None:
        """End the work: `cancelled` (by the user), `lost` (the turn is somebody else's) or `released` (we drain)."""
        if self._work is not None and not self._why_stopped:
            self._why_stopped = why
            self._work.cancel()

    async def _end(self) -> TurnEnd | None:
        assert self._work is not None  # noqa: S101  for the type checker: set by `run`
        try:
            return await self._work
        except asyncio.CancelledError:
            if not self._why_stopped:
                raise
        except (RoundFailed, NoModel) as error:
            if self.draining:  # the model server stops as well: who comes after us answers this turn
                self._why_stopped = "released"
                return await self._stopped()
            return self._failed(error.code, str(error), retryable=getattr(error, "retryable", True))
        except TimeoutError:
            return self._failed(
                "turn_too_long", f"The answer took longer than {self._config.turn_s:g} s and was ended."
            )
        except Exception:  # a fault of ours must end the turn with words, not leave it open
            log.exception("turn_failed")
            return self._failed("internal", "The generator failed inside; its log says why.")
        return await self._stopped()

    async def _stopped(self) -> TurnEnd | None:
        if self._why_stopped == "cancelled":
            self.machine.do(Action.CANCEL)
            return self._figures(status="cancelled", finish_reason="cancelled", reason="Stopped.")
        if self._why_stopped == "released":
            with contextlib.suppress(RequestFailed, RequestTimeout):
                await self._journal.save(self._said())
                await self._bus.request(ReleaseTurn(fence=self.claim.fence), Done, turn=self.turn, timeout_s=2)
        return None

    def _failed(self, code: str, reason: str, *, retryable: bool = True) -> TurnEnd:
        self.machine.do(Action.FAIL, reason)
        finish = "incomplete" if self.answer or code == "empty_answer" else "error"
        return self._figures(status="failed", finish_reason=finish, reason=reason, code=code, retryable=retryable)

    def _figures(self, **how: Any) -> TurnEnd:
        return TurnEnd(
            answer=self.answer,
            thinking=self.thinking,
            tool_calls=self.calls,
            **self._model.figures(),
            groundedness=groundedness(self.calls, self._model.remembered.recalled),
            untrusted=self._rounds.tainted,
            first_token_s=self._first_s,
            seconds=round(monotonic() - self._started, 4),
            **how,
        )

    async def _commit(self, end: TurnEnd) -> None:
        """Save the end, however long the ledger is away within reason, and tell it only then."""
        reached(FaultPoint.ANSWER_WHOLE)
        try:
            await self._journal.surely(FinishTurn(fence=self.claim.fence, end=end), Done)
        except (RequestTimeout, RequestFailed) as error:
            log.warning("end_not_saved", query_id=self.turn.query_id, reason=str(error))
            return  # the ledger offers the turn again, or somebody else has it
        reached(FaultPoint.END_COMMITTED)
        self._bus.hints.flush()
        self._bus.publish(ResponseGeneration(query=self.claim.query, end=end), turn=self.turn)
        self._bus.publish(AnswerDialog(query=self.claim.query, answer=end.answer), turn=self.turn)
        if self.machine.can(Action.FINISH):
            self.machine.do(Action.FINISH)

    # ------------------------------------------------------------------ the work

    async def _bounded(self) -> TurnEnd:
        async with asyncio.timeout(self._config.turn_s) as self._limit:
            return await self._answer()

    def _pause(self, paused: bool) -> None:
        """The time in which its user thinks does not count."""
        assert self._limit is not None  # noqa: S101  for the type checker: tools run within it
        now, until = asyncio.get_running_loop().time(), self._limit.when()
        if paused:
            self._left_s = None if until is None else until - now
            self._limit.reschedule(None)
        elif self._left_s is not None:
            self._limit.reschedule(now + self._left_s)

    async def _answer(self) -> TurnEnd:
        """A command's answer, or rounds of the model and its tools until it answers."""
        await self._rounds.resume()
        if not self._journal.steps and (words := await self._typed.run()):
            return self._said_at_once(words)
        if not self.claim.incognito:
            self._remember(await self._recall.of(self.turn))
        if self._backends.info.kind == "none":
            await self._backends.refresh()
        for iteration in range(self._config.max_tool_iterations + 1):
            if words := self._typed.result_alone():
                return self._said_at_once(words)
            stuck = self._rounds.stuck()
            last = iteration == self._config.max_tool_iterations or bool(stuck)
            if last:
                self._cut(stuck or "too many rounds")
            try:
                done = await self._model.round(with_tools=not last)
            except (RoundFailed, NoModel):
                if not self.answer and (words := self._typed.result_alone(unworded=True)):
                    return self._said_at_once(words)
                raise
            await self._journal.saved()
            if self.calls:
                reached(FaultPoint.RESULTS_SAVED)
            if not done.calls or last:
                return self._answered(done, looped=last)
            if self.answer and not self.answer.endswith("\n"):
                self._told(Piece("answer", "\n\n"))
            await self._rounds.run(done)
        raise AssertionError("unreachable: the last round returns")

    def _remember(self, context: MemoryContext) -> None:
        self._model.remember(context, self.turn)
        self._rounds.outside |= self._model.remembered.untrusted

    def _cut(self, why: str) -> None:
        self._counts["loops_cut"] += 1
        log.warning("tool_loop_cut", query_id=self.turn.query_id, why=why, calls=len(self.calls))

    def _answered(self, done: Round, *, looped: bool) -> TurnEnd:
        if not self.answer.strip() or (looped and not done.text.strip()):
            raise RoundFailed("empty_answer", _why_empty(done, looped=looped))
        self.machine.do(Action.PUBLISH)
        reason = "The answer reached its length limit." if done.done_reason == "length" else ""
        return self._figures(status="answered", finish_reason="length" if reason else "stop", reason=reason)

    def _said_at_once(self, words: str) -> TurnEnd:
        """An answer that no model gave."""
        self._told(Piece("answer", words))
        self.machine.do(Action.PUBLISH)
        return self._figures(status="answered", finish_reason="stop")

    def _told(self, piece: Piece) -> None:
        """Publish a piece, and keep it."""
        self._bus.hints.flush()
        if self._first_s is None:
            self._first_s = round(monotonic() - self._started, 4)
        self.n += 1
        if piece.kind == "answer":
            self.answer += piece.text
            self._bus.publish(Token(text=piece.text, attempt=self.claim.attempt, n=self.n), turn=self.turn)
            reached(FaultPoint.TEXT_BEGUN)
            return
        if piece.retract:
            self.answer = self.answer.removesuffix(piece.text)
        self.thinking += piece.text
        thought = Thinking(text=piece.text, attempt=self.claim.attempt, n=self.n, retract=piece.retract)
        self._bus.publish(thought, turn=self.turn)


def _why_empty(done: Round, *, looped: bool) -> str:
    if looped:
        return "The model kept calling tools and did not answer. Ask again in other words, or choose another model."
    if done.done_reason == "length":
        return (
            "The model used its whole length limit for thinking and did not answer. Ask again, or raise answer_tokens."
        )
    return "The model gave an empty answer. Ask again."
