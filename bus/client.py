"""How does a participant publish, listen and ask on the bus?

The client turns messages into envelopes and back, matches whole subjects, numbers what it sends
and counts what went missing, keeps one inbox for all its requests, and knows when it is connected.
Malformed input is counted and logged, and ends nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import structlog
from msgspec import Struct

from bus import envelope as wire
from bus import subjects
from bus.config import BusConfig
from bus.envelope import NO_TURN, Envelope, GapCounter, Stamp, TurnRef
from bus.errors import BusUnavailable, EnvelopeError, RequestFailed, RequestTimeout
from bus.hints import Hints
from bus.messages.base import Message, read
from bus.messages.control import Probe, Refusal
from bus.repeat import Repeat
from bus.transport import Frames, Transport, ZmqTransport

log = structlog.get_logger()
M = TypeVar("M", bound=Message)
Handler = Callable[[Any, Envelope], Awaitable[None] | None]
Server = Callable[[Any, Envelope], Awaitable[Message] | Message | None]
Observer = Callable[[Envelope, bytes], None]
_PROBE_FIRST_S, _PROBE_LONGEST_S = 0.002, 0.1
_GATHER_S = 0.05
"""After a restart of the proxy: so long do the others need to be back, with their subscriptions."""
_FAULT = Refusal(code="internal", message="Something went wrong here; the log of this service says what.")
_ANSWERED = 512
"""Answers kept, so that a request that was sent again is not served again."""


class Counters(Struct):
    """What happened on this client's side of the bus since the start."""

    sent: int = 0
    received: int = 0
    gaps: int = 0
    dropped: int = 0
    refused: int = 0


@dataclass(slots=True)
class Subscription:
    """One handler, and the bounded queue before it when it is a coroutine function."""

    kind: type[Message]
    handler: Handler
    waiting: deque[tuple[Message, Envelope]] = field(default_factory=deque[tuple[Message, Envelope]])
    limit: int = 10_000
    worker: asyncio.Task[None] | None = None
    serves: bool = False


class BusClient:
    """One process's place on the bus.

    Args:
        config: bus.yaml.
        name: The program's name; with `instance` it makes the inbox.
        instance: The machine.
        sender_id: The yaml's `id:`.
        transport: Another transport, for tests.
    """

    def __init__(
        self, config: BusConfig, *, name: str, instance: str, sender_id: str, transport: Transport | None = None
    ) -> None:
        self.config, self.sender_id = config, sender_id
        self.counters = Counters()
        self.hints = Hints(lambda message, turn: self.publish(message, turn=turn))
        self._stamp = Stamp()
        self._gaps = GapCounter()
        self.inbox = ".".join([subjects.INBOX, subjects.escape(name), subjects.escape(instance), self.boot])
        self._transport = transport
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._observers: list[Observer] = []
        self._pending: dict[str, asyncio.Future[Envelope]] = {}
        self._served: OrderedDict[str, Message | None] = OrderedDict()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._held: deque[tuple[Frames, Envelope]] = deque()
        self._probes: dict[str, asyncio.Event] = {}
        self._ready = asyncio.Event()
        self._probing: asyncio.Task[None] | None = None
        self._linked_before = False
        self.on_gap: Callable[[Envelope, int], None] = lambda _envelope, _lost: None
        self.on_ready: Callable[[], None] = lambda: None

    # ------------------------------------------------------------------ life

    @property
    def boot(self) -> str:
        """This process's id on the bus; another one after a restart."""
        return self._stamp.boot

    @property
    def ready(self) -> bool:
        """Whether a probe has come back since the last connect."""
        return self._ready.is_set()

    @property
    def queued(self) -> int:
        """Messages that wait here, in and out."""
        return len(self._held) + sum(len(s.waiting) for subs in self._subscriptions.values() for s in subs)

    def open(self) -> None:
        """Connect. What is published before `wait_ready` is held, and sent then."""
        if self._transport is None:
            self._transport = ZmqTransport(self.config)
        for subject in self._subscriptions:
            self._transport.subscribe(subject.encode())
        if self._observers:
            self._transport.subscribe(b"")
        self._transport.subscribe(self.inbox.encode())
        self._transport.open(self._on_frames, self._on_link)

    async def wait_ready(self, timeout_s: float = 30.0) -> None:
        """Wait until messages pass both ways.

        Raises:
            BusUnavailable: Not within `timeout_s`: no proxy runs.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._ready.wait()
        except TimeoutError as error:
            where = self.config.publish_to()
            raise BusUnavailable(f"no bus at {where} after {timeout_s:g} s: is the proxy running?") from error

    async def close(self) -> None:
        """Stop handlers and leave; what was published gets bus.yaml's linger time."""
        self.hints.flush()
        tasks = [t for t in [*self._tasks, self._probing, *self._workers()] if t is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for future in self._pending.values():
            future.cancel()
        if self._transport is not None:
            self._transport.close()

    def _workers(self) -> list[asyncio.Task[None] | None]:
        return [s.worker for subs in self._subscriptions.values() for s in subs]

    # ------------------------------------------------------------------ publish

    def publish(
        self,
        message: Message,
        *,
        turn: TurnRef = NO_TURN,
        correlation_id: str = "",
        reply_to: str = "",
        subject: str = "",
    ) -> str:
        """Send a message to all who listen; returns its message_id.

        While the bus is away it is held (up to bus.yaml's `buffer`, then the oldest is dropped and counted).
        """
        subject = subject or message.subject
        envelope = Envelope(
            message_id=self._stamp.message_id(),
            message_type=type(message).__name__,
            subject=subject,
            sender_id=self.sender_id,
            timestamp_utc=wire.now_utc(),
            payload=wire.encode_payload(message),
            seq=self._stamp.seq(subject) if not subject.startswith(subjects.INBOX) else 0,
            correlation_id=correlation_id,
            reply_to=reply_to,
            session_id=turn.session_id,
            user_id=turn.user_id,
            query_id=turn.query_id,
        )
        self._send([subject.encode(), wire.encode(envelope)], envelope)
        return envelope.message_id

    def reply(self, request: Envelope, message: Message) -> None:
        """Answer a request at its inbox; one that names no inbox wants no answer, or wants us to speak elsewhere."""
        if request.reply_to.startswith(f"{subjects.INBOX}."):
            self.publish(message, turn=request.turn, correlation_id=request.message_id, subject=request.reply_to)

    def _send(self, frames: Frames, envelope: Envelope) -> None:
        if len(frames[1]) > self.config.max_message_bytes:
            self.counters.dropped += 1
            log.error("message_too_large", subject=envelope.subject, bytes=len(frames[1]))
        elif self._transport is None or not self._ready.is_set():
            self._hold(frames, envelope)
        elif self._transport.send(frames):
            self.counters.sent += 1
        else:
            self.counters.dropped += 1

    def _hold(self, frames: Frames, envelope: Envelope) -> None:
        self._held.append((frames, envelope))
        if len(self._held) > self.config.buffer:
            self._held.popleft()
            self.counters.dropped += 1

    # ------------------------------------------------------------------ listen

    def on(
        self, kind: type[M], handler: Callable[[M, Envelope], Awaitable[None] | None], *, key: str | None = None
    ) -> None:
        """Call `handler` for each message of `kind`.

        A plain function runs at once; a coroutine function gets one message after the other from a bounded queue.

        Args:
            kind: The message class; its subject is subscribed to.
            handler: Takes the message and its envelope.
            key: For keyed subjects the one key wanted; None for all.
        """
        subject = subjects.keyed(kind.SUBJECT, key) if key is not None else kind.SUBJECT
        known = subject in self._subscriptions
        self._subscriptions.setdefault(subject, []).append(Subscription(kind, handler))
        if self._transport is not None and not known:
            self._transport.subscribe(subject.encode())

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call `observer` with each envelope on the bus and its JSON, whatever the subject; inboxes are left out.

        This brings everybody's traffic here, so it is subscribed to only while somebody observes.

        Returns:
            A function that ends it; further calls do nothing.
        """
        self._observers.append(observer)
        if len(self._observers) == 1 and self._transport is not None:
            self._transport.subscribe(b"")

        def stop() -> None:
            if observer in self._observers:
                self._observers.remove(observer)
                if not self._observers and self._transport is not None:
                    self._transport.unsubscribe(b"")

        return stop

    def serve(
        self,
        kind: type[M],
        server: Callable[[M, Envelope], Awaitable[Message] | Message | None],
        *,
        remember: bool = True,
    ) -> None:
        """Answer requests of `kind`. `server` returns the answer, or raises `RequestFailed`.

        A plain function is called at once; its None leaves the request to another process, or to a repetition.
        A request that its asker sent again is not served again: it gets the same answer.

        Args:
            kind: The request's class.
            server: Takes the message and its envelope.
            remember: False where serving again does no harm and answers are large: then none is kept.
        """

        def receive(message: M, request: Envelope) -> None:
            if request.message_id in self._served:
                answer = self._served[request.message_id]
                if answer is not None:
                    self.reply(request, answer)
                return
            self._served[request.message_id] = None
            while len(self._served) > _ANSWERED:
                self._served.popitem(last=False)
            if inspect.iscoroutinefunction(server):
                self.spawn(self._serve_slowly(server, message, request, remember), name=f"serve {kind.SUBJECT}")
            else:
                self._serve_at_once(server, message, request, remember)

        self.on(kind, receive)
        self._subscriptions[kind.SUBJECT][-1].serves = True

    async def _serve_slowly(self, server: Server, message: Message, request: Envelope, remember: bool) -> None:
        try:
            answer = await cast("Awaitable[Message]", server(message, request))
        except RequestFailed as error:
            answer = Refusal(code=error.code, message=error.message)
        except Exception:
            log.exception("request_failed", subject=request.subject)
            answer = _FAULT
        self._answer(request, answer, remember)

    def _serve_at_once(self, server: Server, message: Message, request: Envelope, remember: bool) -> None:
        try:
            answer = cast("Message | None", server(message, request))
        except RequestFailed as error:
            answer = Refusal(code=error.code, message=error.message)
        except Exception:
            log.exception("request_failed", subject=request.subject)
            answer = _FAULT
        if answer is not None:
            self._answer(request, answer, remember)

    def _answer(self, request: Envelope, answer: Message, remember: bool) -> None:
        if not remember:
            self._served.pop(request.message_id, None)
        elif request.message_id in self._served:
            self._served[request.message_id] = answer
        self.reply(request, answer)

    def spawn(self, work: Any, *, name: str) -> asyncio.Task[Any]:
        """Run a coroutine beside; it is kept from being collected, and a fault in it is logged."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", task=task.get_name(), exc_info=error)

    # ------------------------------------------------------------------ ask

    async def request(
        self, message: Message, expect: type[M], *, turn: TurnRef = NO_TURN, timeout_s: float | None = None
    ) -> M:
        """Ask whoever serves this message, and wait for the answer.

        The request is sent again every `resend_s` until it is answered, so that a restart of the
        proxy or of the service only delays it.

        Raises:
            RequestTimeout: No answer within `timeout_s` (default: bus.yaml).
            RequestFailed: The service refused.
            EnvelopeError: The answer is of another type than `expect`.
        """
        wait_s = self.config.request_timeout_s if timeout_s is None else timeout_s
        future: asyncio.Future[Envelope] = asyncio.get_running_loop().create_future()
        frames, envelope = self._request_frames(message, turn)
        self._pending[envelope.message_id] = future
        sending = Repeat(self.config.resend_s, lambda: self._send(frames, envelope))
        try:
            async with asyncio.timeout(wait_s):
                await future
        except TimeoutError as error:
            raise RequestTimeout(message.subject, wait_s) from error
        finally:
            sending.stop()
            del self._pending[envelope.message_id]
        answer = read(future.result())
        if isinstance(answer, Refusal):
            raise RequestFailed(answer.code, answer.message)
        if not isinstance(answer, expect):
            raise EnvelopeError(f"{message.subject}: expected {expect.__name__}, got {type(answer).__name__}")
        return answer

    def _request_frames(self, message: Message, turn: TurnRef) -> tuple[Frames, Envelope]:
        envelope = Envelope(
            message_id=self._stamp.message_id(),
            message_type=type(message).__name__,
            subject=message.subject,
            sender_id=self.sender_id,
            timestamp_utc=wire.now_utc(),
            payload=wire.encode_payload(message),
            reply_to=self.inbox,
            session_id=turn.session_id,
            user_id=turn.user_id,
            query_id=turn.query_id,
        )
        return [message.subject.encode(), wire.encode(envelope)], envelope

    # ------------------------------------------------------------------ receive

    def _on_frames(self, frames: Frames) -> None:
        self.counters.received += 1
        try:
            envelope = self._open_frames(frames)
            if envelope is not None:
                self._dispatch(envelope)
        except EnvelopeError as error:
            self.counters.refused += 1
            log.warning("message_refused", reason=str(error)[:300])

    def _open_frames(self, frames: Frames) -> Envelope | None:
        if len(frames) != 2:
            raise EnvelopeError(f"expected 2 frames, got {len(frames)}")
        subject = frames[0].decode("utf-8", "replace")
        mine = subject in self._subscriptions or subjects.parent(subject) in self._subscriptions
        watched = bool(self._observers) and not subject.startswith(f"{subjects.INBOX}.")
        if not mine and not watched and not subject.startswith(self.inbox):
            return None  # ZeroMQ matches prefixes: tool.call.web also brings tool.call.web_search
        envelope = wire.decode(frames[1])
        if envelope.subject != subject:
            raise EnvelopeError(f"subject {subject!r} carries an envelope for {envelope.subject!r}")
        if watched:
            self._show(envelope, frames[1])
        return envelope if mine or not watched else None

    def _show(self, envelope: Envelope, body: bytes) -> None:
        for observer in list(self._observers):
            try:
                observer(envelope, body)
            except Exception:
                log.exception("observer_failed", subject=envelope.subject)

    def _dispatch(self, envelope: Envelope) -> None:
        if envelope.subject.startswith(self.inbox):
            self._to_inbox(envelope)
            return
        if envelope.seq and (lost := self._gaps.lost_before(envelope)):
            self.counters.gaps += lost
            self.on_gap(envelope, lost)
        exact = self._subscriptions.get(envelope.subject, [])
        wide = [s for s in self._subscriptions.get(subjects.parent(envelope.subject), []) if s.kind.KEY]
        for subscription in (*exact, *wide):
            self._hand_over(subscription, envelope)

    def _to_inbox(self, envelope: Envelope) -> None:
        if envelope.message_type == Probe.__name__:
            event = self._probes.get(Probe.read(envelope).nonce)
            if event is not None:
                event.set()
        elif (future := self._pending.get(envelope.correlation_id)) is not None and not future.done():
            future.set_result(envelope)

    def _hand_over(self, subscription: Subscription, envelope: Envelope) -> None:
        try:
            message = subscription.kind.read(envelope)
        except EnvelopeError as error:
            if subscription.serves:
                self.reply(envelope, Refusal(code="bad_request", message=str(error)))
            raise
        if not inspect.iscoroutinefunction(subscription.handler):
            self._call(subscription.handler, message, envelope)
            return
        if len(subscription.waiting) >= subscription.limit:
            subscription.waiting.popleft()
            self.counters.dropped += 1
        subscription.waiting.append((message, envelope))
        if subscription.worker is None or subscription.worker.done():
            subscription.worker = asyncio.create_task(self._work(subscription), name=f"on {envelope.subject}")

    def _call(self, handler: Handler, message: Message, envelope: Envelope) -> None:
        try:
            handler(message, envelope)
        except Exception:
            log.exception("handler_failed", subject=envelope.subject)

    async def _work(self, subscription: Subscription) -> None:
        while subscription.waiting:
            message, envelope = subscription.waiting.popleft()
            try:
                await subscription.handler(message, envelope)  # type: ignore[misc]  only coroutine functions come here
            except Exception:
                log.exception("handler_failed", subject=envelope.subject)

    # ------------------------------------------------------------------ readiness

    def _on_link(self, up: bool) -> None:
        self._ready.clear()
        if self._probing is not None:
            self._probing.cancel()
        if up:
            self._probing = asyncio.create_task(self._become_ready(), name="probe")

    async def _become_ready(self) -> None:
        """Two probes in turn, each to a subject subscribed to just before.

        Subscriptions travel in order, so the first proves that all earlier ones are in place, the
        second that the proxy has told our PUB socket of everybody else's.
        """
        for number in range(2):
            await self._probe(f"{self.boot}-{self._stamp.message_id()}-{number}")
        if self._linked_before:
            await asyncio.sleep(_GATHER_S)
        self._linked_before = True
        self._ready.set()
        while self._held:
            frames, envelope = self._held.popleft()
            self._send(frames, envelope)
        self.on_ready()

    async def _probe(self, nonce: str) -> None:
        assert self._transport is not None  # noqa: S101  for the type checker: probes follow `open`
        subject = f"{self.inbox}.{nonce}"
        event = self._probes[nonce] = asyncio.Event()
        self._transport.subscribe(subject.encode())
        pause_s = _PROBE_FIRST_S
        try:
            while not event.is_set():
                self._transport.send([subject.encode(), self._probe_body(subject, nonce)])
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), pause_s)
                pause_s = min(pause_s * 2, _PROBE_LONGEST_S)
        finally:
            del self._probes[nonce]
            self._transport.unsubscribe(subject.encode())

    def _probe_body(self, subject: str, nonce: str) -> bytes:
        return wire.encode(
            Envelope(
                message_id=self._stamp.message_id(),
                message_type=Probe.__name__,
                subject=subject,
                sender_id=self.sender_id,
                timestamp_utc=wire.now_utc(),
                payload=wire.encode_payload(Probe(nonce=nonce)),
            )
        )
