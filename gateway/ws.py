"""How is one chat socket served?

One task reads and never waits for an answer, so that stop and ping work while an answer streams;
one task writes. Raw ASGI: between a chunk on the bus and the network there is one queue and one
task switch.
"""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import parse_qs

import structlog

from gateway import frames
from gateway.auth import Denied, InvalidUser, Receive, Scope, Send, deny, is_id, principal
from gateway.commands import Commands
from gateway.frames import Refused
from gateway.hub import Hub
from gateway.socket import Socket

log = structlog.get_logger()
GOING_AWAY = 1012
GOODBYE = "LoCAL2 restarts; connect again in a moment. What was asked goes on."


class ChatEndpoint:
    """`/ws/chat` and `/ws/chat/{session_id}`.

    Args:
        hub: All sockets.
        commands: What frames do.
    """

    def __init__(self, hub: Hub, commands: Commands) -> None:
        self._hub, self._commands = hub, commands
        self._writers: set[asyncio.Task[None]] = set()
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        url_session = scope.get("path_params", {}).get("session_id", "")
        try:
            user = principal(parse_qs(scope["query_string"].decode("latin-1")).get("user_id", [None])[0])
        except InvalidUser as error:
            await deny(scope, send, Denied(400, "bad_user", str(error)))
            return
        denied = self._denied(url_session)
        if denied is not None:
            await deny(scope, send, denied)
            return
        await send({"type": "websocket.accept"})
        await self._serve(Socket(user, self._hub.config()), url_session, receive, send)

    def _denied(self, url_session: str) -> Denied | None:
        if self.draining:
            return Denied(503, "restarting", GOODBYE)
        if len(self._hub.rooms.sockets) >= self._hub.config().max_sockets:
            return Denied(503, "too_many_sockets", "Too many pages are open (gateway.yaml: max_sockets). Close some.")
        if url_session and not is_id(url_session, frames.LONGEST_ID):
            return Denied(400, "bad_session", "The session's id in the address is no id.")
        return None

    async def _serve(self, socket: Socket, url_session: str, receive: Receive, send: Send) -> None:
        self._hub.rooms.join(socket)
        writer = asyncio.create_task(self._write(socket, send), name="write to a client")
        self._writers.add(writer)
        try:
            await self._read(socket, url_session, receive)
        finally:
            self._hub.rooms.leave(socket)
            writer.cancel()
            self._writers.discard(writer)
            with contextlib.suppress(asyncio.CancelledError):
                await writer

    async def _read(self, socket: Socket, url_session: str, receive: Receive) -> None:
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return
            try:
                frame = frames.read(event.get("text"), self._hub.config().max_frame_bytes)
                self._commands.run(socket, frame, url_session)
            except Refused as refused:
                socket.tell(refused.frame())

    async def _write(self, socket: Socket, send: Send) -> None:
        outbox = socket.outbox
        with contextlib.suppress(OSError, RuntimeError):  # the client is gone; the reader notices as well
            while True:
                while (text := outbox.pop()) is not None:
                    await send({"type": "websocket.send", "text": text})
                if outbox.closed:
                    break
                if socket.starved:
                    self._hub.catchup.fed(socket)
                await outbox.wait()
            await send({"type": "websocket.close", "code": GOING_AWAY, "reason": GOODBYE})

    async def drain(self, timeout_s: float) -> None:
        """Send what waits, then say goodbye to all."""
        self.draining = True
        for socket in self._hub.rooms.sockets:
            socket.outbox.close()
        if self._writers:
            await asyncio.wait(self._writers, timeout=timeout_s)
