"""How is a role's model asked for work behind an answer: grading, summing up?

It is asked with the generator's num_ctx: with another one a model that is loaded already would be loaded anew, and
the user's next question would wait for that.
"""

from __future__ import annotations

from typing import Any

import httpx

from bus.client import BusClient
from bus.config import load
from bus.envelope import Envelope
from bus.errors import Local2Error
from bus.messages.control import Backend, BackendRequest
from bus.messages.generation import GeneratorStatus, GetStatus
from participants.backend.ask import NoAnswer, ask
from participants.backend.backends import Backends
from participants.models import ModelsConfig

_EMBEDDED_S = 5.0
_STATUS_S = 2.0
_READ_S = 120.0


class HelperModel:
    """The model of a role.

    Args:
        bus: Knows the generator and the embedded backend.
        role: critic or memory.
    """

    def __init__(self, bus: BusClient, role: str) -> None:
        self._bus, self._role = bus, role
        self._num_ctx: int | None = None
        self._backends = Backends(load("models", ModelsConfig), self._embedded, httpx.Timeout(_READ_S, connect=3.0))

    def listen(self) -> None:
        """Register on the bus."""
        self._bus.on(GeneratorStatus, self._on_status)

    def reconfigured(self) -> None:
        """models.yaml changed."""
        self._backends.config = load("models", ModelsConfig)
        self._backends.forget()

    async def close(self) -> None:
        """Leave no connection open."""
        await self._backends.close()

    async def model(self) -> str:
        """The model's name.

        Raises:
            NoModel: There is none; the text says how to get it.
        """
        await self._backends.refresh()
        return self._backends.helper(self._role)

    async def num_ctx(self) -> int:
        """The generator's tokens of context.

        Raises:
            NoAnswer: It does not say.
        """
        if self._num_ctx is None:
            try:
                status = await self._bus.request(GetStatus(), GeneratorStatus, timeout_s=_STATUS_S)
            except Local2Error as error:
                raise NoAnswer("The generator does not say how its model is loaded.") from error
            self._learn(status)
        if self._num_ctx is None:
            raise NoAnswer("The generator does not say how its model is loaded.")
        return self._num_ctx

    async def ask(
        self, messages: list[dict[str, Any]], *, most_tokens: int, limit_s: float, form: dict[str, Any] | None = None
    ) -> str:
        """The model's answer, without its thinking.

        Args:
            messages: The prompt.
            most_tokens: The answer's length limit.
            limit_s: Seconds in all.
            form: A JSON schema that the answer has to have.

        Raises:
            NoModel: There is none.
            NoAnswer: It failed, took too long, called a tool or said nothing.
        """
        model = await self.model()
        num_ctx = await self.num_ctx()
        return await ask(
            self._backends, model, messages, num_ctx=num_ctx, most_tokens=most_tokens, limit_s=limit_s, form=form
        )

    def _on_status(self, message: GeneratorStatus, _envelope: Envelope) -> None:
        self._learn(message)

    def _learn(self, status: GeneratorStatus) -> None:
        found = status.options.get("num_ctx")
        self._num_ctx = found if isinstance(found, int) and found > 0 else self._num_ctx

    async def _embedded(self) -> Backend:
        return await self._bus.request(BackendRequest(), Backend, timeout_s=_EMBEDDED_S)
