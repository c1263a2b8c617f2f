"""How do the bus's events reach the sockets that watch?

Handlers are plain functions on the bus's fast path: they encode once, and put the frame into each
watching socket's queue. Whatever may have been missed (a gap, a reconnect, a slow client, silence)
ends in the same way: catchup.py looks the turn up, and its snapshot or its last frame is sent.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from bus.client import BusClient
from bus.envelope import Envelope
from bus.fault_points import FaultPoint, reached
from bus.messages.approval import ApprovalRequest, ApprovalResult
from bus.messages.compaction import CompactionResult
from bus.messages.control import AgentTransition
from bus.messages.critique import CritiqueResult, UserFeedback
from bus.messages.generation import ResponseGeneration, Thinking, Token
from bus.messages.ledger import SessionChanged
from bus.messages.memory import UserContextUpdated
from bus.messages.query import TurnAccepted, TurnQueued
from bus.messages.tool import ToolActivity
from gateway import events, wire
from gateway.catchup import CatchUp
from gateway.config import GatewayConfig
from gateway.events import OPEN, Event
from gateway.outbox import Key
from gateway.rooms import Rooms
from gateway.socket import Socket

log = structlog.get_logger()
_ANSWERER = "generator"


class Hub:
    """All sockets, what they watch, and the events for them.

    Args:
        bus: For listening and asking.
        config: gateway.yaml; asked for at each use, so that a reload takes effect.
    """

    def __init__(self, bus: BusClient, config: Callable[[], GatewayConfig]) -> None:
        self.config = config
        self.rooms = Rooms(config)
        self.catchup = CatchUp(bus, self.rooms, config, self._pass_on)
        self._bus = bus
        self._silence = self.catchup.silence

    def listen(self) -> None:
        """Register with the bus."""
        self._bus.on(Token, self._on_chunk)
        self._bus.on(Thinking, self._on_chunk)
        self._bus.on(AgentTransition, self._on_agent)
        self._bus.on(ToolActivity, self._on_tool)
        self._bus.on(ApprovalRequest, self._on_approval_request)
        self._bus.on(ApprovalResult, self._on_approval_result)
        self._bus.on(TurnQueued, self._on_queued)
        self._bus.on(ResponseGeneration, self._on_response)
        self._bus.on(SessionChanged, self._on_session)
        self._bus.on(CritiqueResult, self._on_critique)
        self._bus.on(UserFeedback, self._on_vote)
        self._bus.on(CompactionResult, self._on_compaction)
        self._bus.on(UserContextUpdated, self._on_facts)
        self._bus.on_gap = self._on_gap

    # ------------------------------------------------------------------ from the bus

    def _on_chunk(self, message: Token | Thinking, envelope: Envelope) -> None:
        if self._watched(envelope):
            self._relay(envelope, events.chunk(message, envelope))

    def _on_agent(self, message: AgentTransition, envelope: Envelope) -> None:
        """What the memory and the critic do once a turn is over does not open it again."""
        if self._watched(envelope) and (message.agent == _ANSWERER or self._silence.knows(envelope.query_id)):
            self._relay(envelope, events.agent_state(message, envelope))

    def _on_tool(self, message: ToolActivity, envelope: Envelope) -> None:
        if self._watched(envelope) and (event := events.tool(message, envelope)) is not None:
            self._relay(envelope, event)

    def _on_approval_request(self, message: ApprovalRequest, envelope: Envelope) -> None:
        if self._watched(envelope):
            self._relay(envelope, events.approval_request(message, envelope))

    def _on_approval_result(self, message: ApprovalResult, envelope: Envelope) -> None:
        if self._watched(envelope):
            self._relay(envelope, events.approval_result(message, envelope))

    def _on_queued(self, message: TurnQueued, envelope: Envelope) -> None:
        if self._watched(envelope) and (event := events.queue_moved(message, envelope)) is not None:
            self._relay(envelope, event)

    def _on_response(self, message: ResponseGeneration, envelope: Envelope) -> None:
        if self._watched(envelope):
            reached(FaultPoint.ANSWER_HEARD)
            self._relay(envelope, events.response(message, envelope))

    def _on_session(self, message: SessionChanged, envelope: Envelope) -> None:
        for socket in self.rooms.of_user(envelope.user_id):
            socket.tell(wire.SessionChanged(envelope.session_id, message.change))

    # What is said of an answer after its end belongs to no open turn; who misses it finds it with the session.

    def _on_critique(self, message: CritiqueResult, envelope: Envelope) -> None:
        self._tell_watchers(envelope, events.critique(message, envelope))

    def _on_vote(self, message: UserFeedback, envelope: Envelope) -> None:
        self._tell_watchers(envelope, events.vote(message, envelope))

    def _on_compaction(self, message: CompactionResult, envelope: Envelope) -> None:
        frame = wire.Compaction(envelope.session_id, message.state, message.message, message.upto)
        self._tell_watchers(envelope, frame)

    def _tell_watchers(self, envelope: Envelope, frame: wire.ServerEvent) -> None:
        for socket in self.rooms.watchers((envelope.user_id, envelope.session_id)):
            socket.tell(frame)

    def _on_facts(self, _message: UserContextUpdated, envelope: Envelope) -> None:
        for socket in self.rooms.of_user(envelope.user_id):
            socket.tell(wire.ContextUpdated(envelope.user_id))

    def _on_gap(self, envelope: Envelope, lost: int) -> None:
        """The lost message may have been about any turn, so all are looked up."""
        if len(self._silence):
            log.info("gap", subject=envelope.subject, lost=lost)
            self.catchup.refresh()

    def _watched(self, envelope: Envelope) -> bool:
        return bool(envelope.query_id and self.rooms.watchers((envelope.user_id, envelope.session_id)))

    def _relay(self, envelope: Envelope, event: Event) -> None:
        self._pass_on((envelope.user_id, envelope.session_id), envelope.query_id, event)

    def _pass_on(self, key: Key, query_id: str, event: Event) -> None:
        """Offer an event to all who watch."""
        if event.terminal:
            self._silence.over(query_id)
        else:
            self._open(key, query_id)
        for socket in self.rooms.watchers(key):
            if socket.offer(key, query_id, event):
                self.catchup.ask(socket, key, query_id)

    def _open(self, key: Key, query_id: str) -> None:
        """The turn is open, unless this comes late: after its last frame nothing more is expected of it."""
        if not all(socket.has_ended(query_id) for socket in self.rooms.watchers(key)):
            self._silence.heard(key, query_id)

    # ------------------------------------------------------------------ accepted or not

    def submitting(self, socket: Socket, key: Key, query_id: str) -> None:
        """A question is on its way to the ledger: its events wait until it is known to be accepted."""
        self.rooms.watch(socket, key)
        self.catchup.submitting[query_id] += 1

    def submitted(self, query_id: str) -> None:
        """The ledger has answered, or not in time."""
        self.catchup.submitting[query_id] -= 1
        if self.catchup.submitting[query_id] <= 0:
            del self.catchup.submitting[query_id]

    def accepted(self, socket: Socket, key: Key, query: str, answer: TurnAccepted) -> None:
        """Tell the asker, and everybody else who watches and does not know the turn yet."""
        query_id = answer.query_id
        first = [events.accepted(query_id, key[1], answer.query or query, answer.created_at)]
        if answer.status == "received" and answer.position:
            first.append(events.queued(answer.position, query_id, key[1]))
        if answer.status in OPEN:
            self._open(key, query_id)
        if key in socket.views:
            self._tell_asker(socket, key, first, answer)
        others = [other for other in self.rooms.watchers(key) if other is not socket and other.waits(key, query_id)]
        for other in others if answer.status == "received" else []:
            other.accept(key, query_id, first)

    def _tell_asker(self, socket: Socket, key: Key, first: list[Event], answer: TurnAccepted) -> None:
        if answer.status == "received":
            socket.accept(key, answer.query_id, first)
            return
        socket.insert(key, answer.query_id, first)  # it was asked before: its text has begun, or it is over
        self.catchup.ask(socket, key, answer.query_id)

    def refused(self, key: Key, query_id: str) -> None:
        """The ledger did not take the question: nothing of it will follow."""
        for socket in self.rooms.watchers(key):
            socket.forget(key, query_id)
