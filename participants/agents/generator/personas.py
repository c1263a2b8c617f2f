"""Which persona answers a turn?

The personas program says which there are; the last word is kept, so that a turn does not lose its
persona while that program is away.
"""

from __future__ import annotations

import structlog

from bus.client import BusClient
from bus.envelope import Envelope
from bus.errors import EnvelopeError, RequestFailed, RequestTimeout
from bus.messages.persona import GetPersonas, PersonaInfo, Personas

log = structlog.get_logger()
_ASK_S = 1.0
"""Well within a turn's lease, which nobody renews meanwhile."""


class PersonaBook:
    """What is known of the personas."""

    def __init__(self, bus: BusClient) -> None:
        self._bus = bus
        self._known: Personas | None = None

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._bus.on(Personas, self._on_personas)

    def _on_personas(self, personas: Personas, _envelope: Envelope) -> None:
        self._known = personas

    async def find(self, name: str) -> tuple[PersonaInfo | None, str]:
        """The persona of that name, or none with words for the user that say why; both empty for no name."""
        if not name:
            return None, ""
        if self._known is None:
            await self._ask()
        if self._known is None:
            return None, f"The persona {name!r} is not there yet (see local2 status): this answer has none."
        found = self._known.named(name)
        if found is None:
            names = self._known.names
            return None, f"There is no persona {name!r} now: this answer has none. The personas are: {names}."
        return found, ""

    async def _ask(self) -> None:
        try:
            self._known = await self._bus.request(GetPersonas(), Personas, timeout_s=_ASK_S)
        except (RequestTimeout, RequestFailed, EnvelopeError) as error:
            log.warning("personas_silent", reason=str(error))
