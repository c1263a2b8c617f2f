"""What is told to who watches, without the work waiting for it?

Each message costs its sender a tenth of a millisecond, and then wakes everybody who listens, on the same few
cores. So states and activities are told a moment later than they change, in order, several at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from bus.envelope import TurnRef
from bus.messages.base import Message

_DELAY_S = 0.003


class Hints:
    """Messages that wait for a quieter moment.

    Args:
        publish: Sends one.
    """

    def __init__(self, publish: Callable[[Message, TurnRef], object]) -> None:
        self._publish = publish
        self._waiting: list[tuple[Message, TurnRef]] = []
        self._timer: asyncio.TimerHandle | None = None

    def tell(self, message: Message, turn: TurnRef) -> None:
        """Publish it soon."""
        self._waiting.append((message, turn))
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY_S, self.flush)

    def flush(self) -> None:
        """Publish all that waits now: what follows must not overtake it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            waiting, self._waiting = self._waiting, []
            for message, turn in waiting:
                self._publish(message, turn)
