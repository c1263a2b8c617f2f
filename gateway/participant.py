"""What is the gateway on the bus?

It serves from its first moment, so that a page and `local2` can see the stack come up, and says
goodbye to its clients before it leaves.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, ClassVar

import structlog

from bus.config import Section
from gateway.app import Parts, build
from gateway.config import GatewayConfig
from gateway.directory import Directory
from gateway.hub import Hub
from gateway.routes.page import Page
from gateway.server import InLoopServer, address, listen
from gateway.version import version
from participants.participant import Participant, instance_of

log = structlog.get_logger()
_CLOSE_S = 2.0


class GatewayParticipant(Participant):
    """HTTP, WebSocket and the web page."""

    CONFIG_NAME: ClassVar[str] = "gateway"
    KIND: ClassVar[str] = "gateway"
    Config: ClassVar[type[Section]] = GatewayConfig
    config: GatewayConfig

    async def setup(self) -> None:
        """Listen on the bus, and on the port."""
        self.hub = Hub(self.bus, lambda: self.config)
        self.hub.listen()
        self.directory = Directory(self.bus, instance_of(self.system))
        self.directory.listen()
        listener = listen(self.config.host, self.config.port)
        self.address = address(listener)
        self._web = build(
            Parts(
                bus=self.bus,
                config=lambda: self.config,
                hub=self.hub,
                directory=self.directory,
                offload=self.offload,
                version=version(),
                page=Page(),
            )
        )
        self._server = InLoopServer(self._web.app)
        self._serving = self.spawn(self._server.serve(sockets=[listener]), name="serve http")
        log.info("listening", address=self.address)

    def linked(self) -> None:
        """The bus is (again) there: messages may have been lost meanwhile."""
        self.directory.ask()
        self.hub.catchup.refresh()

    def reconfigured(self, before: Any) -> None:
        """Limits take effect at once, an address does not."""
        if (before.host, before.port) != (self.config.host, self.config.port):
            log.warning("restart_needed", key="host, port")

    async def drain(self) -> None:
        """Close in this order: new questions, sockets (with what still waits for them), then open requests."""
        self._web.observers.drain()
        await self._web.chat.drain(_CLOSE_S)
        self._server.stop()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._serving), self.system.drain_s)
        self.hub.catchup.silence.close()

    def _announce(self, state: str, note: str = "") -> None:
        super()._announce(state, note or self.address)
