"""What does the gateway know of one connected client?

Which sessions it watches, a gate for each of their turns that is open, and what waits to be sent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gateway import wire
from gateway.config import GatewayConfig
from gateway.events import Event, encode
from gateway.gate import Gate, Verdict
from gateway.outbox import Key, Outbox, Waiting

_ENDED = 512
"""Turns remembered as told to the end, so that no second last frame goes out."""


@dataclass(slots=True)
class View:
    """One watched session."""

    gates: dict[str, Gate] = field(default_factory=dict[str, Gate])
    resuming: int = 0
    """Resumes under way: turns that turn up meanwhile wait for their snapshot."""


class Socket:
    """One client.

    Args:
        user: Who speaks, until a frame names another user.
        config: For the limits.
    """

    def __init__(self, user: str, config: GatewayConfig) -> None:
        self.user = user
        self.outbox = Outbox(config.queue_frames, config.queue_bytes)
        self.views: OrderedDict[Key, View] = OrderedDict()
        self.starved = False
        """Too slow: turns are closed until the queue is empty again."""
        self.alive = True
        self.pending = 0
        self._ended: OrderedDict[str, None] = OrderedDict()

    # ------------------------------------------------------------------ notices

    def tell(self, frame: wire.ServerEvent) -> None:
        """Send a frame that belongs to no turn; dropped where there is no room even without the turns'."""
        item = Waiting(encode(frame))
        if not self.outbox.put(item):
            self._starve()
            self.outbox.put(item)

    # ------------------------------------------------------------------ turns

    def has_ended(self, query_id: str) -> bool:
        """Whether this client was given the turn's last frame."""
        return query_id in self._ended

    def gate(self, key: Key, query_id: str) -> Gate:
        """The turn's gate; a new one is closed."""
        gates = self.views[key].gates
        if query_id not in gates:
            gates[query_id] = Gate(closed=True)
        return gates[query_id]

    def offer(self, key: Key, query_id: str, event: Event) -> bool:
        """Pass a live event on as its gate says; True where a snapshot is wanted."""
        if query_id in self._ended:
            return False
        gate = self.views[key].gates.get(query_id)
        if gate is None:
            if event.terminal:
                self._send(key, query_id, event)
                return False
            gate = self.gate(key, query_id)
        verdict = gate.offer(event)
        if verdict is Verdict.SEND:
            self._send(key, query_id, event)
        return gate.closed and not gate.asked

    def accept(self, key: Key, query_id: str, first: Sequence[Event]) -> None:
        """The turn was just accepted: its gate opens, unless a snapshot is on its way."""
        gate = self.gate(key, query_id)
        if gate.closed and not gate.asked and not self.views[key].resuming and not self.starved:
            self._send_all(key, query_id, gate.open(first))
        else:
            self._send_all(key, query_id, first)

    def insert(self, key: Key, query_id: str, events: Sequence[Event]) -> None:
        """Send events past the gate."""
        self._send_all(key, query_id, events)

    def waits(self, key: Key, query_id: str) -> bool:
        """Whether this client knows nothing of the turn yet, and has not asked."""
        gate = self.views[key].gates.get(query_id)
        return query_id not in self._ended and (gate is None or (gate.closed and not gate.asked))

    def wants(self, key: Key, query_id: str) -> bool:
        """Whether a snapshot of the turn can be used now."""
        view = self.views.get(key)
        gate = view.gates.get(query_id) if view is not None else None
        return self.alive and not self.starved and gate is not None and gate.closed

    def lags(self, key: Key, query_id: str, attempt: int, n: int) -> bool:
        """Whether the turn has come further than what was sent."""
        gate = self.views[key].gates.get(query_id)
        return gate is not None and (gate.closed or (attempt, n) > (gate.attempt, gate.n))

    def settle(self, key: Key, query_id: str, found: Sequence[Event]) -> None:
        """What was looked up of a turn is here: its last frame, or a snapshot and what goes with it."""
        gate = self.gate(key, query_id)
        first, *others = found
        if query_id not in self._ended:
            events = [first] if first.terminal else gate.resume(first, others)
            self._send_all(key, query_id, events)

    def forget(self, key: Key, query_id: str) -> None:
        """The turn was not accepted."""
        if key in self.views:
            self.views[key].gates.pop(query_id, None)

    def closed(self) -> Iterator[tuple[Key, str, Gate]]:
        """The turns that wait for a snapshot."""
        for key, view in self.views.items():
            for query_id, gate in view.gates.items():
                if gate.closed:
                    yield key, query_id, gate

    def close_gates(self) -> None:
        """Something may be missing in any turn."""
        for view in self.views.values():
            for gate in view.gates.values():
                gate.close()

    def _send_all(self, key: Key, query_id: str, events: Iterable[Event]) -> None:
        for event in events:
            self._send(key, query_id, event)
            if self.starved or event.terminal:
                return

    def _send(self, key: Key, query_id: str, event: Event) -> None:
        if event.terminal:
            self._end(key, query_id)
        if not self.outbox.put(Waiting(event.text, key, query_id)):
            self._starve()
            self._reopen(key, query_id)

    def _end(self, key: Key, query_id: str) -> None:
        self.views[key].gates.pop(query_id, None)
        self._ended[query_id] = None
        while len(self._ended) > _ENDED:
            self._ended.popitem(last=False)

    def _starve(self) -> None:
        self.starved = True
        for item in self.outbox.clear():
            self._reopen(item.key, item.query_id)
        self.close_gates()

    def _reopen(self, key: Key, query_id: str) -> None:
        """A frame of this turn did not go out, maybe its last: look the turn up again once there is room."""
        self._ended.pop(query_id, None)
        if key in self.views:
            self.gate(key, query_id).close()
