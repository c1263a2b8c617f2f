"""Which turns does the generator take, and what does it tell of itself?"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from typing import Any, ClassVar

import httpx
import structlog

from bus.config import Section, load
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed, RequestTimeout
from bus.fault_points import FaultPoint, reached
from bus.messages.control import Backend, BackendChanged, BackendRequest, Done, Warm
from bus.messages.generation import CancelGeneration, GeneratorStatus, GetSnapshot, GetStatus, TurnSnapshot
from bus.messages.ledger import ClaimTurn, TurnClaimed, TurnGranted
from bus.messages.query import QueryReceived
from participants.agents.base import BaseAgent
from participants.agents.generator import prompts
from participants.agents.generator.config import GeneratorConfig
from participants.agents.generator.model_round import options
from participants.agents.generator.personas import PersonaBook
from participants.agents.generator.recall import Recall
from participants.agents.generator.states import Action, State
from participants.agents.generator.transitions import TRANSITIONS
from participants.agents.generator.turn import TurnRun
from participants.backend.backends import Backends
from participants.kernel import commands
from participants.kernel.approvals import Approvals
from participants.kernel.execute import ToolDispatcher, ToolDispatcherConfig
from participants.models import ModelsConfig

log = structlog.get_logger()
_SETTLE_S = 0.1
"""Changes that come together are told together."""
_EMBEDDED_S = 30.0
"""How long the embedded backend may be silent: it is while it loads its model."""
_LOOK_AGAIN_S = 10.0
"""How often a missing Ollama is looked for."""


class TokenEstimate:
    """How many bytes a token holds, by model, corrected by the server's counts."""

    def __init__(self) -> None:
        self._bytes: dict[str, float] = {}

    def bytes_per_token(self, model: str) -> float:
        """The figure to estimate with."""
        return self._bytes.get(model, prompts.BYTES_PER_TOKEN)

    def learn(self, model: str, estimated: int, counted: int) -> None:
        """Move a quarter of the way to what the server counted; short prompts say little."""
        if counted < 50 or estimated < 50:
            return
        old = self.bytes_per_token(model)
        self._bytes[model] = min(prompts.MOST_BYTES_PER_TOKEN, max(1.0, old + 0.25 * (old * estimated / counted - old)))


class GeneratorAgent(BaseAgent):
    """The agent that answers."""

    CONFIG_NAME: ClassVar[str] = "generator"
    Config: ClassVar[type[Section]] = GeneratorConfig
    ALSO_READS: ClassVar[tuple[str, ...]] = ("models", "tool_dispatcher")
    config: GeneratorConfig

    async def setup(self) -> None:
        """Listen for turns, tools and questions about the state."""
        self._runs: dict[str, TurnRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._tokens = TokenEstimate()
        self._told_soon: asyncio.TimerHandle | None = None
        self._warmed = ""
        self._backends = Backends(load("models", ModelsConfig), self._embedded, self._timeouts())
        self._tools = ToolDispatcher(self.bus, load("tool_dispatcher", ToolDispatcherConfig), changed=self._changed)
        self._tools.listen()
        self.bus.on(TurnGranted, self._on_granted, key=self.bus.boot)
        self._approvals = Approvals(self.bus)
        self._approvals.listen()
        self._counts: Counter[str] = Counter()
        self._personas = PersonaBook(self.bus)
        self._personas.listen()
        self._recall = Recall(self.bus, lambda: self.config.recall_s)
        self._recall.listen()
        self.bus.on(QueryReceived, self._on_query)
        self.bus.on(CancelGeneration, self._on_cancel)
        self.bus.on(BackendChanged, self._on_backend)
        self.bus.serve(GetSnapshot, self._snapshot)
        self.bus.serve(GetStatus, self._status_asked)

    def linked(self) -> None:
        """Tools may have come and gone while the bus was away."""
        self._tools.ask()

    async def started(self) -> None:
        """Look for a model server, and go on looking while there is none."""
        self.spawn(self._look_for_models(), name="look for models")

    def reconfigured(self, before: Any) -> None:
        """Turns that run keep the settings they began with."""
        self._backends.config = load("models", ModelsConfig)
        self._tools.config = load("tool_dispatcher", ToolDispatcherConfig)
        self._backends.forget()
        self.spawn(self._look_again(), name="look for models again")

    async def _look_again(self) -> None:
        await self._backends.refresh()
        self._changed()

    async def drain(self) -> None:
        """Running turns may end; what does not in time is handed back, so that the next process takes it at once."""
        for run in list(self._runs.values()):
            run.draining = True
            if run.waits:
                run.stop("released")
        await self._wait_idle(self.system.drain_s / 2)
        for run in list(self._runs.values()):
            run.stop("released")
        await self._wait_idle(self.system.drain_s / 2)

    async def farewell(self) -> None:
        """Leave no connection open."""
        await self._backends.close()

    async def _wait_idle(self, seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=seconds)

    # ------------------------------------------------------------------ turns

    def _on_query(self, _message: QueryReceived, envelope: Envelope) -> None:
        self._begin(envelope.turn, None)

    def _on_granted(self, message: TurnGranted, envelope: Envelope) -> None:
        self._begin(envelope.turn, message.claim)

    def _begin(self, turn: TurnRef, claim: TurnClaimed | None) -> None:
        query_id = turn.query_id
        if self.state == "draining" or query_id in self._tasks or self._busy >= self._most_turns():
            return  # the ledger offers it again
        task = self._tasks[query_id] = self.spawn(self._take(turn, claim), name=f"turn {query_id}")
        task.add_done_callback(lambda _task: self._tasks.pop(query_id, None))

    @property
    def _busy(self) -> int:
        """Turns that take a place; one that waits for its user does not."""
        return len(self._tasks) - sum(run.waits for run in self._runs.values())

    def _most_turns(self) -> int:
        return self.config.embedded_max_turns if self._backends.info.kind == "embedded" else self.config.max_turns

    async def _take(self, turn: TurnRef, claim: TurnClaimed | None) -> None:
        claim = claim or await self._claim(turn)
        if claim is None:
            return
        reached(FaultPoint.TURN_TAKEN)
        machine = self.machine(TRANSITIONS, State.IDLE, turn)
        persona, note = await self._personas.find(claim.persona)
        machine.do(Action.RECEIVE)
        run = TurnRun(
            self.bus,
            turn,
            claim,
            persona=persona,
            note=note,
            recall=self._recall,
            config=self.config,
            backends=self._backends,
            tools=self._tools,
            approvals=self._approvals,
            tokens=self._tokens,
            machine=machine,
            counts=self._counts,
        )
        self._runs[turn.query_id] = run
        self._changed()
        try:
            await run.run()
        finally:
            del self._runs[turn.query_id]
            self._changed()

    async def _claim(self, turn: TurnRef) -> TurnClaimed | None:
        ask = ClaimTurn(holder=self.bus.boot, pid=os.getpid(), name=self.CONFIG_NAME, takes_grants=True)
        try:
            return await self.bus.request(ask, TurnClaimed, turn=turn)
        except (RequestFailed, RequestTimeout) as error:
            log.info("claim_refused", query_id=turn.query_id, reason=str(error))
            return None

    def _on_cancel(self, _message: CancelGeneration, envelope: Envelope) -> None:
        run = self._runs.get(envelope.query_id)
        if run is not None:
            run.stop("cancelled")

    async def _snapshot(self, _message: GetSnapshot, envelope: Envelope) -> TurnSnapshot:
        run = self._runs.get(envelope.query_id)
        if run is None or envelope.user_id not in ("", run.turn.user_id):
            raise RequestFailed("not_found", "This turn is not being answered here.")
        return TurnSnapshot(
            state=run.machine.state,
            attempt=run.claim.attempt,
            n=run.n,
            thinking=run.thinking,
            answer=run.answer,
            tool_calls=run.calls,
        )

    # ------------------------------------------------------------------ models

    def _timeouts(self) -> httpx.Timeout:
        longest = max(self.config.first_chunk_s, self.config.stall_s) + 5
        return httpx.Timeout(longest, connect=3.0)

    async def _embedded(self) -> Backend:
        return await self.bus.request(BackendRequest(), Backend, timeout_s=_EMBEDDED_S)

    def _on_backend(self, message: BackendChanged, _envelope: Envelope) -> None:
        self._backends.embedded_is(message.state)
        self._changed()

    async def _look_for_models(self) -> None:
        while True:
            before = self._backends.info
            await self._backends.refresh()
            if before != self._backends.info:
                self._backends.forget()
                self._changed()
            if self._backends.info.kind == "ollama":
                return
            await asyncio.sleep(_LOOK_AGAIN_S if self._backends.info.state in ("ready", "idle") else 1.0)

    # ------------------------------------------------------------------ status

    def _changed(self) -> None:
        """Tell the state soon: changes that come together are told together."""
        if self._told_soon is None:
            self._told_soon = asyncio.get_running_loop().call_later(_SETTLE_S, self._tell)

    def _tell(self) -> None:
        self._told_soon = None
        self.bus.publish(self._status())
        head = f"{self.config.system_prompt}{self._tools.registry.definitions()}"
        if self._backends.info.kind == "embedded" and head != self._warmed:
            self._warmed = head
            self.spawn(self._warm(), name="warm")

    async def _warm(self) -> None:
        """The embedded model reads the prompt's head ahead of the first question."""
        head = Warm(system=self.config.system_prompt, tools=self._tools.registry.definitions())
        try:
            await self.bus.request(head, Done, timeout_s=10)
        except (RequestFailed, RequestTimeout) as error:
            log.info("not_warmed", reason=str(error))

    async def _status_asked(self, _message: GetStatus, _envelope: Envelope) -> GeneratorStatus:
        await self._backends.refresh()
        return self._status()

    def _status(self) -> GeneratorStatus:
        return GeneratorStatus(
            backend=self._backends.info,
            roles=self._backends.roles(),
            models=self._backends.models,
            tools=[schema.tool for schema in self._tools.registry.enabled()],
            turns={query_id: run.machine.state for query_id, run in self._runs.items()},
            max_turns=self._most_turns(),
            history_chars=int(self.config.num_ctx * prompts.MOST_BYTES_PER_TOKEN),
            options=options(self.config),
            commands=commands.listed(self._tools.registry),
            refused=self._tools.registry.refused,
            counts=dict(self._counts),
        )
