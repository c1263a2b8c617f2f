"""What was deleted from the conversations, and has to be forgotten too?"""

from __future__ import annotations

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.messages.control import Done
from bus.messages.ledger import Deletions, FollowedDeletion, OverdueDeletions
from bus.messages.memory import ForgetTurns


class Forgetting:
    """Follows the ledger's deletions."""

    def __init__(self, bus: BusClient) -> None:
        self._bus = bus

    async def some(self) -> bool:
        """Forget the oldest few; whether there may be more."""
        overdue = await self._bus.request(OverdueDeletions(), Deletions)
        for deletion in overdue.deletions:
            turn = TurnRef(deletion.session_id, deletion.user_id)
            await self._bus.request(ForgetTurns(query_ids=deletion.query_ids), Done, turn=turn)
            await self._bus.request(FollowedDeletion(deletion_id=deletion.deletion_id), Done)
        return bool(overdue.deletions)
