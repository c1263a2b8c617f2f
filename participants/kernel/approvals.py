"""How does a turn learn what its user decided?

The ledger tells it as an event, which may be lost: so it is looked up, too. Nothing is remembered here;
after a restart the same question finds the same answer.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable

from bus.client import BusClient
from bus.envelope import Envelope, TurnRef
from bus.errors import RequestTimeout
from bus.messages.approval import Approval, ApprovalInfo, ApprovalResult, GetApproval

_LOOK_AGAIN_S = 1.0


class Approvals:
    """Waits for answers.

    Args:
        bus: The generator's client.
    """

    def __init__(self, bus: BusClient) -> None:
        self._bus = bus
        self._waiting: dict[str, asyncio.Event] = {}

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._bus.on(ApprovalResult, self._on_result)

    def _on_result(self, result: ApprovalResult, _envelope: Envelope) -> None:
        waiting = self._waiting.get(result.approval_id)
        if waiting is not None:
            waiting.set()

    async def settled(self, approval_id: str, opening: Awaitable[Approval], turn: TurnRef) -> ApprovalInfo:
        """Open a request, and give it once it is open no longer; a ledger that is away is waited for.

        Args:
            approval_id: The request.
            opening: Opens it.
            turn: The turn that waits.

        Raises:
            RequestFailed: There is none any more.
        """
        told = self._waiting[approval_id] = asyncio.Event()  # first, or a quick answer is missed
        try:
            asked = (await opening).approval
            while asked.state == "open":
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(told.wait(), _LOOK_AGAIN_S)
                told.clear()
                with contextlib.suppress(RequestTimeout):
                    look = GetApproval(approval_id=approval_id)
                    asked = (await self._bus.request(look, Approval, turn=turn)).approval
        finally:
            self._waiting.pop(approval_id, None)
        return asked
