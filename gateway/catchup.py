"""What is done for a socket that may have missed something of a turn?

Its gate closes, the turn is looked up, and the gate opens with the snapshot, or the turn ends with
its last frame. A turn that is silent for too long is compared with the ledger.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from bus.client import BusClient
from bus.errors import RequestFailed
from bus.messages.ledger import TurnInfo
from gateway import events, wire
from gateway.config import GatewayConfig
from gateway.events import OPEN, Event
from gateway.lookup import Lookup
from gateway.outbox import Key
from gateway.rooms import Rooms
from gateway.silence import Silence
from gateway.socket import Socket

_AGAIN_S = 0.25
"""The generator's journal is written so often: what a snapshot lacks is there by then."""


class CatchUp:
    """Looks turns up for sockets.

    Args:
        bus: For asking the ledger and the generator.
        rooms: Who watches.
        config: gateway.yaml.
        pass_on: Offers an event to all who watch a session.
    """

    def __init__(
        self,
        bus: BusClient,
        rooms: Rooms,
        config: Callable[[], GatewayConfig],
        pass_on: Callable[[Key, str, Event], None],
    ) -> None:
        self.submitting: Counter[str] = Counter()
        """Questions on their way to the ledger, by query_id: nothing is looked up that may not be there yet."""
        self.silence = Silence(lambda: config().silence_s, self._check_soon)
        self._bus, self._rooms, self._pass_on = bus, rooms, pass_on
        self._lookup = Lookup(bus)
        rooms.on_empty = self.silence.unwatched

    async def resume(self, socket: Socket, key: Key, after: wire.Position | None) -> None:
        """Watch a session, and send where each of its open turns stands."""
        view = self._rooms.watch(socket, key)
        view.resuming += 1
        for gate in view.gates.values():
            gate.close()
        try:
            turns = await self._turns(socket, key)
        finally:
            view.resuming -= 1
        if turns is not None and socket.views.get(key) is view:
            self._resumed(socket, key, turns, after)

    async def _turns(self, socket: Socket, key: Key) -> list[TurnInfo] | None:
        """A session's turns, as soon as the ledger is there; None when the client has gone meanwhile."""
        told = False
        while socket.alive:
            try:
                turns = await self._lookup.session(key)
            except RequestFailed as error:
                socket.tell(wire.Error(error.code, error.message, False, None, key[1]))
                return []
            if turns is not None:
                return turns
            if not told:
                words = "The conversation store does not answer; what it has is shown as soon as it is back."
                socket.tell(wire.Error("conversation_unavailable", words, True, None, key[1]))
                told = True
        return None

    def _resumed(self, socket: Socket, key: Key, turns: list[TurnInfo], after: wire.Position | None) -> None:
        known = {turn.query_id: turn for turn in turns if turn.status in OPEN}
        named = [after.query_id] if after is not None else []
        for query_id in [*known, *named]:
            if not socket.has_ended(query_id):
                socket.gate(key, query_id).close()
        for found, query_id, _gate in list(socket.closed()):
            if found == key:
                self.ask(socket, key, query_id, known.get(query_id))

    def ask(self, socket: Socket, key: Key, query_id: str, known: TurnInfo | None = None) -> None:
        """Send a turn's snapshot or last frame to a socket, as soon as there is one.

        Args:
            socket: The client.
            key: The user and the session.
            query_id: The turn.
            known: What the ledger has just said of it.
        """
        if socket.starved or query_id in self.submitting or key not in socket.views or socket.has_ended(query_id):
            return
        gate = socket.gate(key, query_id)
        gate.close()
        if not gate.asked and not socket.views[key].resuming:
            gate.asked = True
            self._bus.spawn(self._settle(socket, key, query_id, known), name="snapshot")

    async def _settle(self, socket: Socket, key: Key, query_id: str, known: TurnInfo | None) -> None:
        gate = socket.gate(key, query_id)
        try:
            while socket.wants(key, query_id):
                found = await self._lookup.standing(key, query_id, known)
                known = None
                if found is not None and socket.wants(key, query_id):
                    self._tell(socket, key, query_id, found)
                if socket.wants(key, query_id):
                    await asyncio.sleep(_AGAIN_S)
        finally:
            gate.asked = False

    def _tell(self, socket: Socket, key: Key, query_id: str, found: list[Event]) -> None:
        if found[0].terminal:
            self.silence.over(query_id)
        else:
            self.silence.heard(key, query_id)
        socket.settle(key, query_id, found)

    def fed(self, socket: Socket) -> None:
        """A slow client has taken all that waited: go on with snapshots."""
        socket.starved = False
        for key, query_id, _gate in list(socket.closed()):
            self.ask(socket, key, query_id)

    def refresh(self) -> None:
        """Something may be missing in any turn: look up all that are watched."""
        for socket in self._rooms.sockets:
            socket.close_gates()
            for key, query_id, _gate in list(socket.closed()):
                self.ask(socket, key, query_id)

    # ------------------------------------------------------------------ silence

    def _check_soon(self, key: Key, query_id: str) -> None:
        self._bus.spawn(self._check(key, query_id), name="check a silent turn")

    async def _check(self, key: Key, query_id: str) -> None:
        """A lost last message must not leave a client waiting."""
        try:
            info = await self._lookup.info(key, query_id)
        except RequestFailed as error:
            self._pass_on(key, query_id, events.failed(error.code, error.message, False, query_id, key[1]))
            return
        if info is None:
            return
        if info.status not in OPEN:
            self._pass_on(key, query_id, events.ended(info.end, query_id, info.session_id))
            return
        for socket in self._rooms.watchers(key):
            if socket.lags(key, query_id, info.attempt, info.n):
                self.ask(socket, key, query_id)
