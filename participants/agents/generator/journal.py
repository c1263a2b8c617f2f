"""How does what a turn has said and done reach the ledger?

The text goes there every so often, which renews the lease; steps go there as they happen. A ledger that
is away for a while delays the turn, and does not end it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple, TypeVar

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import RequestFailed, RequestTimeout
from bus.messages.base import Message
from bus.messages.ledger import JournalStep, JournalTurn, Step, ToolRecord, TurnHeld
from participants.agents.generator.model_round import RoundFailed

log = structlog.get_logger()
M = TypeVar("M", bound=Message)
_STORAGE_PAUSE_S = 0.5
_LEDGER_S = 30.0
"""How long a turn waits for a ledger that is away: long enough for it to be restarted more than once."""
_SAVE_S = 2.0
_LOST = frozenset({"conflict", "ended", "not_found"})


class Said(NamedTuple):
    """A turn's text so far, and the number of its last piece."""

    n: int
    thinking: str
    answer: str


class TurnJournal:
    """One attempt's way to the ledger.

    Args:
        bus: The generator's client.
        turn: Which turn.
        fence: From the claim.
        steps: What an earlier attempt journalled.
        stop: Called with `cancelled` (by the user) or `lost` (the turn is somebody else's).
    """

    def __init__(
        self, bus: BusClient, turn: TurnRef, fence: int, steps: Sequence[Step], stop: Callable[[str], None]
    ) -> None:
        self.fence, self.steps = fence, list(steps)
        self._bus, self._turn, self._stop = bus, turn, stop
        self._saved_text = ("", "")
        self._saving: list[asyncio.Task[None]] = []

    # ------------------------------------------------------------------ text

    async def keep(self, said: Callable[[], Said], every_s: float) -> None:
        """Save the text every so often, until cancelled."""
        while True:
            await asyncio.sleep(every_s)
            try:
                if (await self.save(said())).cancelled:
                    self._stop("cancelled")
            except RequestTimeout:
                log.warning("ledger_silent", query_id=self._turn.query_id)
            except RequestFailed as error:
                if error.code in _LOST:
                    self._stop("lost")

    async def save(self, said: Said) -> TurnHeld:
        """Save the text.

        Raises:
            RequestFailed: The ledger refused.
            RequestTimeout: It is away.
        """
        entry = JournalTurn(
            fence=self.fence,
            n=said.n,
            thinking=said.thinking if said.thinking != self._saved_text[0] else None,
            answer=said.answer if said.answer != self._saved_text[1] else None,
        )
        held = await self._bus.request(entry, TurnHeld, turn=self._turn, timeout_s=_SAVE_S)
        self._saved_text = (said.thinking, said.answer)
        return held

    # ------------------------------------------------------------------ steps

    def round(self, text: str, calls: list[ToolRecord]) -> None:
        """Save a round's calls while the next thing begins; `saved` waits for it."""
        self._add(Step(n=len(self.steps), kind="round", text=text, calls=calls))

    def results(self, calls: list[ToolRecord]) -> None:
        """Save the results that a round has so far; once more are there, again."""
        if self.steps[-1].kind == "round":
            self._add(Step(n=len(self.steps), kind="result", calls=calls))
            return
        self.steps[-1] = Step(n=self.steps[-1].n, kind="result", calls=calls)
        before = self._saving[-1] if self._saving else None
        self._begin(self.steps[-1], before)  # in order: an older one must not come last

    def _add(self, step: Step) -> None:
        self.steps.append(step)
        self._begin(step, None)

    def _begin(self, step: Step, before: asyncio.Task[None] | None) -> None:
        self._saving.append(self._bus.spawn(self._save_step(step, before), name=f"step {self._turn.query_id}"))

    async def saved(self) -> None:
        """Wait until all steps are saved.

        Raises:
            RoundFailed: One could not be.
        """
        saving, self._saving = self._saving, []
        for task in saving:
            await task

    async def _save_step(self, step: Step, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        held = await self.ask(JournalStep(fence=self.fence, step=step), TurnHeld)
        if held.cancelled:
            self._stop("cancelled")

    # ------------------------------------------------------------------ anything

    async def ask(self, message: Message, expect: type[M]) -> M:
        """Ask the ledger for what the turn cannot go on without.

        Raises:
            RoundFailed: It refused (then the turn is lost, and stopped), or was away for too long.
        """
        try:
            return await self.surely(message, expect)
        except RequestFailed as error:
            self._stop("lost")
            raise RoundFailed("conflict", str(error)) from error
        except RequestTimeout as error:
            raise RoundFailed("ledger_silent", "The turn could not be saved; nothing more is done.") from error

    async def surely(self, message: Message, expect: type[M]) -> M:
        """Ask the ledger, and wait while it is away or its disk is full.

        Raises:
            RequestTimeout: It was away for too long.
            RequestFailed: It refused, or could not save for too long.
        """
        deadline = monotonic() + _LEDGER_S
        while True:
            try:
                return await self._bus.request(message, expect, turn=self._turn, timeout_s=_LEDGER_S)
            except RequestFailed as error:
                if error.code != "storage" or monotonic() > deadline:
                    raise
                await asyncio.sleep(_STORAGE_PAUSE_S)
