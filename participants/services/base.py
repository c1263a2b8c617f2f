"""What is a service? It has no model of its own and answers requests of others."""

from __future__ import annotations

from typing import ClassVar

from participants.participant import Participant


class BaseService(Participant):
    """A service: in `setup`, register an answer for each request with `self.bus.serve(Request, self.answer)`."""

    KIND: ClassVar[str] = "service"
