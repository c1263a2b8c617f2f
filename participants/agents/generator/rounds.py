"""How is a model asked for one round of a turn, and asked again where that helps?

A model error is tried again while nothing was streamed, the last time without tools; silence and mere thinking
are asked for an answer. Each a bounded number of times.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

import structlog

from bus.envelope import TurnRef
from bus.messages.ledger import TurnClaimed
from bus.messages.memory import MemoryContext
from bus.messages.persona import PersonaInfo
from bus.messages.tool import ToolSchema
from participants.agents.generator import prompts
from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.journal import TurnJournal
from participants.agents.generator.model_round import Round, RoundFailed, play
from participants.agents.generator.reader import AnswerReader
from participants.agents.generator.remembered import Remembered, remembered
from participants.agents.generator.states import Action, State
from participants.backend.backends import Backends, NoModel
from participants.backend.thinking import Piece
from participants.kernel.execute import ToolDispatcher
from participants.kernel.printed.once import once
from participants.kernel.reading import read_json
from participants.state_machine import StateMachine

log = structlog.get_logger()
_RETRY_PAUSE_S = 0.3
_MEMORY_SHARE = 8


class Tokens(Protocol):
    """Learns how many bytes a model's tokens hold, from the server's own counts."""

    def bytes_per_token(self, model: str) -> float:
        """The figure to estimate with."""
        ...

    def learn(self, model: str, estimated: int, counted: int) -> None:
        """Compare an estimate with the server's count."""
        ...


class ModelRounds:
    """The model's side of one attempt.

    Args:
        claim: What the ledger gave.
        persona: Who answers; None for no persona.
        note: Told once with the first round.
        config: generator.yaml.
        backends: The model server.
        tools: The dispatcher.
        tokens: The token estimator.
        machine: This turn's states.
        journal: The steps so far.
        told: Takes each piece of text.
        counts: What happened, for the status.
    """

    def __init__(
        self,
        claim: TurnClaimed,
        *,
        persona: PersonaInfo | None,
        note: str,
        config: GeneratorConfig,
        backends: Backends,
        tools: ToolDispatcher,
        tokens: Tokens,
        machine: StateMachine[State, Action],
        journal: TurnJournal,
        told: Callable[[Piece], None],
        counts: Counter[str],
    ) -> None:
        self._claim, self._persona, self._note, self._config = claim, persona, note, config
        self._backends, self._tools, self._tokens, self._machine = backends, tools, tokens, machine
        self._journal, self._told, self._counts = journal, told, counts
        self._model = ""
        self._demo = False
        self._prompt_tokens: int | None = None
        self._answer_tokens: int | None = None
        self._left_out = 0
        self.remembered = Remembered()

    def remember(self, context: MemoryContext, turn: TurnRef) -> None:
        """What is remembered stands in the prompts from now on, each kind in at most an eighth of the room."""
        room = self._prompt_limit // _MEMORY_SHARE

        def fits(text: str) -> bool:
            return prompts.estimate([{"content": text}]) <= room

        self.remembered = remembered(context, turn, fits)

    @property
    def _prompt_limit(self) -> int:
        """Tokens that a prompt may take."""
        return self._config.num_ctx - self._config.answer_tokens

    def figures(self) -> dict[str, Any]:
        """What a turn's end says of them."""
        return {
            "model": self._model,
            "demo": self._demo,
            "prompt_tokens": self._prompt_tokens,
            "answer_tokens": self._answer_tokens,
            "num_ctx": self._config.num_ctx,
            "left_out": self._left_out,
            "facts": self.remembered.facts,
            "recalled": self.remembered.recalled,
            "not_recalled": self.remembered.reason,
        }

    async def round(self, *, with_tools: bool) -> Round:
        """One round: text, calls or both. Without tools a call is no answer.

        Raises:
            RoundFailed: Also the last try failed.
            NoModel: Nobody answers.
        """
        think, tries = self._config.think, self._config.retries
        while True:
            done, failure = Round(), None
            try:
                await self._play(done, with_tools=with_tools, think=think)
            except RoundFailed as error:
                failure = error
            self._count(done)
            if failure is None and (done.text.strip() or (done.calls and with_tools)):
                return done
            if tries == 0 or (failure is not None and (done.spoke or not failure.retryable)):
                break
            tries -= 1
            if failure is None:
                think = False
                said = "only thought" if done.thought else "said nothing"
                self._machine.do(Action.RETRY, f"It {said}; it is asked again for an answer.")
            else:
                with_tools = with_tools and not (failure.code == "model_error" and tries == 0)
                await self._prepare_retry(failure)
        if failure is not None:
            raise failure
        return done

    async def _prepare_retry(self, error: RoundFailed) -> None:
        self._machine.do(Action.RETRY, f"{error.message} Trying once more.")
        if error.code in ("model_unreachable", "model_missing"):
            await self._backends.refresh()
        await asyncio.sleep(_RETRY_PAUSE_S)

    async def _play(self, done: Round, *, with_tools: bool, think: bool) -> None:
        model = self._begin()
        tools = self._tools.registry.definitions() if with_tools else []
        prompt = self._prompt(model, tools, closing="" if with_tools else prompts.NO_MORE_TOOLS)
        self._left_out = prompt.left_out
        await play(
            self._backends,
            self._config,
            model=model,
            messages=prompt.messages,
            tools=tools,
            think=think,
            told=self._told,
            into=done,
            reader=lambda: AnswerReader(self._tools.registry.enabled(), self._claim.query),
        )
        self._counts["printed_calls"] += len(done.printed)
        done.calls = once(done.calls, done.printed, self._tools.registry)
        if done.prompt_tokens:
            self._tokens.learn(model, prompt.tokens, done.prompt_tokens)

    def _begin(self) -> str:
        """The model that is asked. Raises NoModel."""
        self._model = model = self._backends.model(self._claim.model)
        self._demo = self._backends.info.demo
        if self._machine.can(Action.GENERATE):
            self._machine.do(Action.GENERATE, self._note)
        return model

    def _prompt(self, model: str, tools: list[dict[str, Any]], closing: str) -> prompts.Prompt:
        try:
            return prompts.fit(
                system=prompts.system(
                    self._config.system_prompt, self._persona, self.remembered.head, self._claim.summary
                ),
                history=self._claim.history,
                query=self._claim.query,
                steps=self._journal.steps,
                tools=tools,
                limit=self._prompt_limit,
                bytes_per_token=self._tokens.bytes_per_token(model),
                closing=closing,
                notes=self.remembered.notes,
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

    # ------------------------------------------------------------------ filling in

    async def fill(self, schema: ToolSchema) -> Any:
        """What the model makes of a command's line as arguments, asked once and unseen; None where it fails."""
        done = Round()
        if self._backends.info.kind == "none":
            await self._backends.refresh()
        try:
            await play(
                self._backends,
                self._config,
                model=self._begin(),
                messages=prompts.filling(schema, self._claim.query),
                tools=[],
                think=False,
                told=_unseen,
                into=done,
                reader=lambda: AnswerReader([], ""),
                form=schema.parameters,
            )
            return read_json(done.text)
        except (RoundFailed, NoModel, ValueError) as error:
            log.info("command_not_filled", tool=schema.tool, reason=str(error))
            return None
        finally:
            self._count(done)


def _unseen(_piece: Piece) -> None:
    """What is filled in is shown as the call's arguments."""
