"""What does the gateway do about each frame of a chat client?"""

from __future__ import annotations

import uuid
from collections.abc import Coroutine
from typing import Any, assert_never

import structlog

from bus.client import BusClient
from bus.envelope import TurnRef
from bus.errors import EnvelopeError, RequestFailed, RequestTimeout
from bus.fault_points import FaultPoint, reached
from bus.messages.approval import Approval, DecideApproval
from bus.messages.base import Message
from bus.messages.compaction import CompactSession
from bus.messages.control import Done
from bus.messages.ledger import VoteTurn
from bus.messages.query import CancelTurn, SubmitTurn, TurnAccepted
from gateway import wire
from gateway.auth import InvalidUser, principal
from gateway.directory import Directory
from gateway.frames import Refused
from gateway.hub import Hub
from gateway.socket import Socket

log = structlog.get_logger()
_AWAY = "The conversation store does not answer. Ask again in a moment: the same question is never asked twice."


class Commands:
    """Carries out frames.

    Args:
        bus: For asking the ledger.
        hub: Who watches what.
        directory: Which personas there are.
    """

    def __init__(self, bus: BusClient, hub: Hub, directory: Directory) -> None:
        self._bus, self._hub, self._directory = bus, hub, directory

    def run(self, socket: Socket, frame: wire.ClientFrame, url_session: str) -> None:
        """Begin what a frame asks for; it does not wait for any answer.

        Args:
            socket: The client.
            frame: What it sent.
            url_session: The session in its URL, or empty.

        Raises:
            Refused: With words for the client.
        """
        match frame:
            case wire.Query():
                self._query(socket, frame, url_session)
            case wire.Stop():
                self._begin(socket, self._stop(socket, frame.query_id), "stop")
            case wire.Resume():
                key = (socket.user, frame.session_id)
                self._begin(socket, self._hub.catchup.resume(socket, key, frame.after), "resume")
            case wire.Approve():
                self._begin(socket, self._approve(socket, frame), "approve")
            case wire.Feedback():
                self._begin(socket, self._vote(socket, frame), "vote")
            case wire.Compact():
                self._begin(socket, self._compact(socket, frame.session_id), "compact")
            case wire.Ping():
                socket.tell(wire.Pong())
            case _:
                assert_never(frame)

    def _begin(self, socket: Socket, work: Coroutine[Any, Any, None], name: str) -> None:
        socket.pending += 1
        task = self._bus.spawn(work, name=name)
        task.add_done_callback(lambda _task: self._finished(socket))

    @staticmethod
    def _finished(socket: Socket) -> None:
        socket.pending -= 1

    # ------------------------------------------------------------------ query

    def _query(self, socket: Socket, query: wire.Query, url_session: str) -> None:
        query_id = query.query_id or uuid.uuid4().hex
        session_id = query.session_id or url_session or uuid.uuid4().hex
        if socket.pending >= self._hub.config().max_pending:
            words = "Too many requests of this connection wait for an answer: ask again in a moment."
            raise Refused("too_many_requests", words, query_id, session_id)
        if query.user_id is not None:
            try:
                socket.user = principal(query.user_id)
            except InvalidUser as error:
                raise Refused("bad_user", str(error), query_id, session_id) from error
        if query.persona and (fault := self._directory.persona_fault(query.persona)):
            raise Refused("unknown_persona", fault, query_id, session_id)
        turn = TurnRef(session_id, socket.user, query_id)
        self._begin(socket, self._submit(socket, turn, query), "submit")

    async def _submit(self, socket: Socket, turn: TurnRef, query: wire.Query) -> None:
        key = (turn.user_id, turn.session_id)
        message = SubmitTurn(
            query=query.query,
            model=query.model or "",
            persona=query.persona or "",
            after=query.after,
            incognito=query.incognito,
        )
        timeout_s = self._hub.config().submit_timeout_s
        self._hub.submitting(socket, key, turn.query_id)
        try:
            answer = await self._bus.request(message, TurnAccepted, turn=turn, timeout_s=timeout_s)
        except RequestFailed as error:
            self._hub.submitted(turn.query_id)
            self._hub.refused(key, turn.query_id)
            socket.tell(wire.Error(error.code, error.message, False, turn.query_id, turn.session_id))
        except (RequestTimeout, EnvelopeError):
            self._hub.submitted(turn.query_id)
            socket.tell(wire.Error("conversation_unavailable", _AWAY, True, turn.query_id, turn.session_id))
        else:
            reached(FaultPoint.ACCEPTANCE_HEARD)
            self._hub.submitted(turn.query_id)
            self._hub.accepted(socket, key, query.query, answer)

    # ------------------------------------------------------------------ approve

    async def _approve(self, socket: Socket, frame: wire.Approve) -> None:
        """The ledger knows whose turn it is, and whether somebody was faster: what stands then is told."""
        message = DecideApproval(approval_id=frame.approval_id, approved=frame.approved)
        try:
            answer = await self._bus.request(message, Approval, turn=TurnRef("", socket.user, ""))
        except RequestFailed as error:
            socket.tell(wire.Error(error.code, error.message, False))
        except (RequestTimeout, EnvelopeError):
            words = "The conversation store does not answer, so nothing was decided. Try again in a moment."
            socket.tell(wire.Error("conversation_unavailable", words, True))
        else:
            about = {"query_id": answer.query_id, "session_id": answer.session_id}
            approval = answer.approval
            socket.tell(wire.ApprovalResult(**about, approval_id=approval.approval_id, state=approval.state))

    # ------------------------------------------------------------------ stop

    async def _stop(self, socket: Socket, query_id: str) -> None:
        turn = TurnRef("", socket.user, query_id)
        try:
            await self._bus.request(CancelTurn(), Done, turn=turn)
        except RequestFailed as error:
            if error.code != "ended":
                socket.tell(wire.Error(error.code, error.message, False))
        except (RequestTimeout, EnvelopeError):
            words = "The conversation store does not answer, so the turn could not be stopped. Try again in a moment."
            socket.tell(wire.Error("conversation_unavailable", words, True))

    # ------------------------------------------------------------------ feedback, compact

    async def _vote(self, socket: Socket, frame: wire.Feedback) -> None:
        """A vote that changes something is told to all who watch the session."""
        turn = TurnRef("", socket.user, frame.query_id)
        await self._carry_out(socket, VoteTurn(sentiment=frame.sentiment), turn, "so the vote was not saved")

    async def _compact(self, socket: Socket, session_id: str) -> None:
        """Word of how it goes comes to all who watch the session."""
        self._hub.rooms.watch(socket, (socket.user, session_id))
        turn = TurnRef(session_id, socket.user)
        await self._carry_out(socket, CompactSession(), turn, "so nothing is summed up")

    async def _carry_out(self, socket: Socket, message: Message, turn: TurnRef, so: str) -> None:
        try:
            await self._bus.request(message, Done, turn=turn)
        except RequestFailed as error:
            socket.tell(wire.Error(error.code, error.message, False))
        except (RequestTimeout, EnvelopeError):
            name = message.subject.partition(".")[0]
            words = f"The part of LoCAL2 that knows ({name}) does not answer, {so}. Try again in a moment."
            socket.tell(wire.Error(f"{name}_unavailable", words, True))
