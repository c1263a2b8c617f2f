"""Who can be given a turn that it has not asked for?

A process that has claimed a turn answers turns. While it is the only one known, the next claim is made in its
name, which spares the turn a request and its answer. To be wrong about it costs a short lease, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable

from participants.services.conversation.ledger import Holder


class Answerers:
    """The processes that answer turns, as far as they were heard of."""

    def __init__(self) -> None:
        self._known: dict[str, Holder | None] = {}

    @property
    def only(self) -> Holder | None:
        """The one that answers; None where there may be others, or where it has to be asked."""
        if len(self._known) != 1:
            return None
        return next(iter(self._known.values()))

    def heard(self, boot: str) -> None:
        """This process said that it answers turns."""
        self._known.setdefault(boot, None)

    def claimed(self, holder: Holder, *, takes_grants: bool) -> None:
        """This process claimed a turn, and said whether it may be given others."""
        self._known[holder.boot] = holder if takes_grants else None

    def leaves(self, boot: str) -> None:
        """This process takes no more turns, or is gone."""
        self._known.pop(boot, None)

    def lost(self, gone: Callable[[Holder], bool]) -> None:
        """Processes are dead, or silent: whoever of them lives will claim again."""
        self._known = {boot: holder for boot, holder in self._known.items() if holder is None or not gone(holder)}
