"""How is one turn answered, from the claim to the committed end?

A `TurnRun` belongs to one attempt of one turn. It alone changes its text; the agent reads it for
snapshots. Whatever goes wrong inside ends the turn with words and with what was said so far.
"""

from __future__ import annotations

import asyncio
import contextlib
from time import monotonic
from typing import Any, Protocol

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import RequestFailed, RequestTimeout
from bus.messages.control import Done
from bus.messages.generation import AnswerDialog, ResponseGeneration, Thinking, Token
from bus.messages.ledger import FinishTurn, ReleaseTurn, ToolRecord, TurnClaimed, TurnEnd
from bus.messages.persona import PersonaInfo
from participants.agents.generator import prompts
from participants.agents.generator.backend import Backends, NoModel
from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.journal import Said, TurnJournal
from participants.agents.generator.model_round import Round, RoundFailed, play
from participants.agents.generator.reader import AnswerReader
from participants.agents.generator.states import Action, State
from participants.agents.generator.thinking import Piece
from participants.agents.generator.tool_round import ToolRounds
from participants.kernel.approvals import Approvals
from participants.kernel.execute import ToolDispatcher
from participants.kernel.printed.once import once
from participants.state_machine import StateMachine

log = structlog.get_logger()
_RETRY_PAUSE_S = 0.3


class Tokens(Protocol):
    """Learns how many bytes a model's tokens hold, from the server's own counts."""

    def bytes_per_token(self, model: str) -> float:
        """The figure to estimate with."""
        ...

    def learn(self, model: str, estimated: int, counted: int) -> None:
        """Compare an estimate with the server's count."""
        ...


class TurnRun:
    """One attempt.

    Args:
        bus: The generator's client.
        turn: Which turn.
        claim: What the ledger gave.
        persona: Who answers; None for no persona.
        note: What to tell the user while it is answered; may be empty.
        config: generator.yaml.
        backends: The model server.
        tools: The dispatcher.
        approvals: What users decide.
        tokens: The token estimator.
        machine: This turn's states.
    """

    def __init__(
        self,
        bus: BusClient,
        turn: TurnRef,
        claim: TurnClaimed,
        *,
        persona: PersonaInfo | None,
        note: str,
        config: GeneratorConfig,
        backends: Backends,
        tools: ToolDispatcher,
        approvals: Approvals,
        tokens: Tokens,
        machine: StateMachine[State, Action],
    ) -> None:
        self.turn, self.claim, self.machine = turn, claim, machine
        self._note = note
        self._system = prompts.system(config.system_prompt, persona)
        self._bus, self._config, self._backends, self._tools, self._tokens = bus, config, backends, tools, tokens
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
        self._limit: asyncio.Timeout | None = None
        self._left_s: float | None = None
        self.n = -1
        self.draining = False
        self.thinking = ""
        self.answer = ""
        self._started = monotonic()
        self._first_s: float | None = None
        self._model = ""
        self._demo = False
        self._prompt_tokens: int | None = None
        self._answer_tokens: int | None = None
        self._left_out = 0
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
        finish = "incomplete" if self.answer else "error"
        return self._figures(status="failed", finish_reason=finish, reason=reason, code=code, retryable=retryable)

    def _figures(self, **how: Any) -> TurnEnd:
        return TurnEnd(
            answer=self.answer,
            thinking=self.thinking,
            tool_calls=self.calls,
            model=self._model,
            demo=self._demo,
            prompt_tokens=self._prompt_tokens,
            answer_tokens=self._answer_tokens,
            num_ctx=self._config.num_ctx,
            left_out=self._left_out,
            first_token_s=self._first_s,
            seconds=round(monotonic() - self._started, 4),
            **how,
        )

    async def _commit(self, end: TurnEnd) -> None:
        """Save the end, however long the ledger is away within reason, and tell it only then."""
        try:
            await self._journal.surely(FinishTurn(fence=self.claim.fence, end=end), Done)
        except (RequestTimeout, RequestFailed) as error:
            log.warning("end_not_saved", query_id=self.turn.query_id, reason=str(error))
            return  # the ledger offers the turn again, or somebody else has it
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
        """Rounds of the model and its tools until it answers."""
        if self._backends.info.kind == "none":
            await self._backends.refresh()
        await self._rounds.resume()
        for iteration in range(self._config.max_tool_iterations + 1):
            last = iteration == self._config.max_tool_iterations or self._rounds.repeats()
            done = await self._round(with_tools=not last)
            await self._journal.saved()
            if not done.calls or last:
                return self._answered(done)
            if self.answer and not self.answer.endswith("\n"):
                self._told(Piece("answer", "\n\n"))
            await self._rounds.run(done)
        raise AssertionError("unreachable: the last round returns")

    def _answered(self, done: Round) -> TurnEnd:
        if not self.answer.strip():
            raise RoundFailed("empty_answer", _why_empty(done))
        self.machine.do(Action.PUBLISH)
        reason = "The answer reached its length limit." if done.done_reason == "length" else ""
        return self._figures(status="answered", finish_reason="length" if reason else "stop", reason=reason)

    async def _round(self, *, with_tools: bool) -> Round:
        """One round. A model error is tried again while nothing was streamed; mere thinking is asked for an answer."""
        think, tries = self._config.think, self._config.retries
        while True:
            done, failure = Round(), None
            try:
                await self._play(done, with_tools=with_tools, think=think)
            except RoundFailed as error:
                failure = error
            self._count(done)
            if failure is None and (done.calls or done.text.strip() or not done.thought):
                return done
            if tries == 0 or (failure is not None and (done.spoke or not failure.retryable)):
                break
            tries -= 1
            if failure is None:
                think = False
                self.machine.do(Action.RETRY, "It only thought; it is asked again for an answer.")
            else:
                with_tools = with_tools and not (failure.code == "model_error" and tries == 0)
                await self._prepare_retry(failure)
        if failure is not None:
            raise failure
        return done

    async def _prepare_retry(self, error: RoundFailed) -> None:
        self.machine.do(Action.RETRY, f"{error.message} Trying once more.")
        if error.code in ("model_unreachable", "model_missing"):
            await self._backends.refresh()
        await asyncio.sleep(_RETRY_PAUSE_S)

    async def _play(self, done: Round, *, with_tools: bool, think: bool) -> None:
        self._model = model = self._backends.model(self.claim.model)
        self._demo = self._backends.info.demo
        tools = self._tools.registry.definitions() if with_tools else []
        prompt = self._prompt(model, tools)
        self._left_out = prompt.left_out
        if self.machine.can(Action.GENERATE):
            self.machine.do(Action.GENERATE, self._note)
        await play(
            self._backends,
            self._config,
            model=model,
            messages=prompt.messages,
            tools=tools,
            think=think,
            told=self._told,
            into=done,
            reader=lambda: AnswerReader(self._tools.registry.enabled(), self.claim.query),
        )
        done.calls = once(done.calls, done.printed, self._tools.registry)
        if done.prompt_tokens:
            self._tokens.learn(model, prompt.tokens, done.prompt_tokens)

    def _prompt(self, model: str, tools: list[dict[str, Any]]) -> prompts.Prompt:
        try:
            return prompts.fit(
                system=self._system,
                history=self.claim.history,
                query=self.claim.query,
                steps=self._journal.steps,
                tools=tools,
                limit=self._config.num_ctx - self._config.answer_tokens,
                bytes_per_token=self._tokens.bytes_per_token(model),
            )
        except prompts.PromptTooLong as error:
            words = (
                f"The question is too long for the model: about {error.tokens} tokens, and there is room for "
                f"{error.limit}. Shorten it, or raise num_ctx in generator.yaml."
            )
            raise RoundFailed("prompt_too_long", words, retryable=False) from error

    def _count(self, done: Round) -> None:
        self._prompt_tokens = done.prompt_tokens or self._prompt_tokens
        if done.answer_tokens is not None:
            self._answer_tokens = (self._answer_tokens or 0) + done.answer_tokens

    def _told(self, piece: Piece) -> None:
        """Publish a piece, and keep it."""
        self._bus.hints.flush()
        if self._first_s is None:
            self._first_s = round(monotonic() - self._started, 4)
        self.n += 1
        if piece.kind == "answer":
            self.answer += piece.text
            self._bus.publish(Token(text=piece.text, attempt=self.claim.attempt, n=self.n), turn=self.turn)
            return
        if piece.retract:
            self.answer = self.answer.removesuffix(piece.text)
        self.thinking += piece.text
        thought = Thinking(text=piece.text, attempt=self.claim.attempt, n=self.n, retract=piece.retract)
        self._bus.publish(thought, turn=self.turn)


def _why_empty(done: Round) -> str:
    if done.done_reason == "length":
        return (
            "The model used its whole length limit for thinking and did not answer. Ask again, or raise answer_tokens."
        )
    return "The model gave an empty answer. Ask again."
