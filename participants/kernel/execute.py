"""How does one tool call get from the model's wish to one result?

Every ending is a `ToolRecord` with one of the outcomes of bus/messages/tool.py. The dispatcher talks
to tools over the bus only, and compares no tool's name. A call is sent to one process: another one leaves
it alone, so that what may not run twice does not, whoever is restarted meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
import structlog
from msgspec import Meta
from msgspec.structs import replace

from bus.client import BusClient
from bus.config import Section
from bus.envelope import Envelope, TurnRef, encode_payload
from bus.messages.control import OpsProcess, Presence, PresenceRequest
from bus.messages.ledger import ToolRecord
from bus.messages.tool import CancelTool, ToolActivity, ToolCall, ToolResult, ToolSchema, ToolSchemaRequest
from bus.repeat import Repeat
from participants.kernel import results
from participants.kernel.registry import Registry
from participants.kernel.validate import InvalidArguments, fit, shown

log = structlog.get_logger()
T = TypeVar("T")
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_LONGEST_NAME = 64
_ANNOUNCING_S = 1.5
"""How long tools may take to announce themselves when they are asked to."""
_LONGEST_ARGUMENTS = 1_000_000


class ToolDispatcherConfig(Section, frozen=True, kw_only=True):
    """tool_dispatcher.yaml: how the generator runs tools."""

    tool_timeout: Annotated[float, Meta(description="Seconds; a tool's own timeout_s goes first.", gt=0)] = 20.0
    resend_s: Annotated[float, Meta(description="A call that no tool says it runs is sent again.", ge=0.01)] = 0.5
    back_s: Annotated[
        float, Meta(description="How long a crashed tool may take to be back for a second try.", ge=0)
    ] = 5.0


class Prepared(NamedTuple):
    """A call that can be sent, or one that has ended already.

    Attributes:
        record: With the tool's own name, the validated arguments and the process meant; or with its outcome.
        schema: The tool's; None where there is none.
    """

    record: ToolRecord
    schema: ToolSchema | None

    @property
    def over(self) -> bool:
        """Whether there is nothing to send."""
        return self.schema is None or self.record.outcome != "running"


class ProcessGone(Exception):
    """The tool's process died during the call."""


@dataclass(slots=True)
class _Waiting:
    """A call that runs somewhere."""

    schema: ToolSchema
    result: asyncio.Future[ToolResult]
    sending: Repeat


def _carried(args: dict[str, Any]) -> dict[str, Any]:
    """The arguments as a message carries them, so that what is validated, approved and run is the same.

    Raises:
        InvalidArguments: No message can.
    """
    try:
        body = encode_payload(args)
        if len(body) <= _LONGEST_ARGUMENTS:
            return _decode(body)
    except (msgspec.MsgspecError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise InvalidArguments(f"arguments: they cannot be passed on: {error}") from error
    raise InvalidArguments(f"arguments: {len(body)} bytes are too long, {_LONGEST_ARGUMENTS} are allowed")


def _shown(arguments: Any) -> dict[str, Any]:
    """What a model gave, to show in the record of a call that is not sent."""
    try:
        return _carried(shown(arguments))
    except InvalidArguments:
        return {}


class ToolDispatcher:
    """Discovers tools and runs calls.

    Args:
        bus: The generator's client.
        config: tool_dispatcher.yaml.
        changed: Called when the set of tools changed.
    """

    def __init__(self, bus: BusClient, config: ToolDispatcherConfig, *, changed: Callable[[], None]) -> None:
        self._bus, self.config, self._tell_changed = bus, config, changed
        self.registry = Registry()
        self._waiting: dict[str, _Waiting] = {}
        self._news = asyncio.Event()
        self._asked_at = -_ANNOUNCING_S

    # ------------------------------------------------------------------ discovery

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._bus.on(ToolSchema, self._on_schema)
        self._bus.on(ToolResult, self._on_result)
        self._bus.on(ToolActivity, self._on_activity)
        self._bus.on(OpsProcess, self._on_process)
        self._bus.on(Presence, self._on_presence)

    def ask(self) -> None:
        """The bus is (again) there: ask all tools to announce themselves, and all programs that tools may need.

        A result may have been lost meanwhile: a tool that gets the same call once more gives its answer once more.
        """
        self._asked_at = asyncio.get_running_loop().time()
        self._bus.publish(ToolSchemaRequest())
        self._bus.publish(PresenceRequest())
        for waiting in self._waiting.values():
            waiting.sending.again()

    def _on_schema(self, schema: ToolSchema, _envelope: Envelope) -> None:
        before = self.registry.reason(schema)
        changed = self.registry.announce(schema)
        reason = self.registry.reason(schema)
        if changed:
            self._end_calls(schema.name, lambda old: not schema.withdrawn and old.boot != schema.boot)
        if changed or reason != before:
            self._changed()
        if reason and reason != before:
            log.warning("tool_refused", tool=schema.tool, program=schema.name, reason=reason)

    def _on_process(self, process: OpsProcess, _envelope: Envelope) -> None:
        if process.event in ("died", "fatal", "stopped", "wedged"):
            self._gone(process.name, process.pid)

    def _on_presence(self, presence: Presence, _envelope: Envelope) -> None:
        if presence.state == "gone":
            self._gone(presence.name, presence.pid)
        elif presence.state == "ready" and self.registry.program_here(presence.name, presence.pid):
            self._changed()

    def _gone(self, name: str, pid: int) -> None:
        self._end_calls(name, lambda old: pid in (0, old.pid))
        if self.registry.process_gone(name, pid):
            self._changed()

    def _end_calls(self, name: str, meant: Callable[[ToolSchema], bool]) -> None:
        """The process that runs these calls is dead: nobody will answer them."""
        for waiting in self._waiting.values():
            if waiting.schema.name == name and meant(waiting.schema) and not waiting.result.done():
                waiting.result.set_exception(ProcessGone(name))

    def _changed(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
        self._tell_changed()

    async def until(self, found: Callable[[], T | None], within_s: float) -> T | None:
        """What `found` gives, as soon as a change of the tools lets it give something; None after `within_s`."""
        try:
            async with asyncio.timeout(within_s):
                while (value := found()) is None:
                    await self._news.wait()
        except TimeoutError:
            return None
        return value

    async def settled(self, found: Callable[[], T | None]) -> T | None:
        """What `found` gives; just after the start also what the tools that are still announcing let it give."""
        left = self._asked_at + _ANNOUNCING_S - asyncio.get_running_loop().time()
        return found() if left <= 0 else await self.until(found, left)

    # ------------------------------------------------------------------ a call

    def prepare(self, name: str, arguments: Any, call_id: str) -> Prepared:
        """What a model wants, as a call of a tool that is there, with arguments that fit."""
        found = self.registry.find(name)
        record = ToolRecord(call_id=call_id, tool=found.tool or name[:_LONGEST_NAME], args=_shown(arguments))
        if (schema := found.schema) is None:
            return Prepared(results.ended(record, found.outcome, found.words), None)
        record = replace(record, boot=schema.boot)
        try:
            args = _carried(fit(arguments, schema.parameters))
        except InvalidArguments as error:
            return Prepared(results.ended(record, "invalid_arguments", str(error)), None)
        return Prepared(replace(record, args=args), schema)

    async def execute(self, call: Prepared, turn: TurnRef) -> ToolRecord:
        """Run a call to its end, if it has none yet, and tell of it. Cancelling this coroutine stops the tool, too."""
        record, schema = call
        started = monotonic()
        begun = ToolActivity(tool=record.tool, call_id=record.call_id, event="dispatched", args=record.args)
        self._bus.hints.tell(begun, turn)
        if schema is not None and not call.over:
            ended = await self._outcome(schema, record, turn)
            record = replace(ended, seconds=round(monotonic() - started, 4))
        activity = ToolActivity(
            tool=record.tool,
            call_id=record.call_id,
            event="ended",
            outcome=record.outcome,
            result=record.result,
            sources=record.sources,
            untrusted=record.untrusted,
            seconds=record.seconds,
        )
        self._bus.hints.tell(activity, turn)
        return record

    def tell_now(self) -> None:
        """Publish what is still to be said of the calls so far."""
        self._bus.hints.flush()

    async def _outcome(self, schema: ToolSchema, record: ToolRecord, turn: TurnRef) -> ToolRecord:
        timeout_s = schema.policies.timeout_s or self.config.tool_timeout
        until = asyncio.get_running_loop().time() + timeout_s
        try:
            async with asyncio.timeout_at(until):
                result = await self._tries(schema, record, until, turn)
        except TimeoutError:
            self._cancel(record, turn)
            return results.timed_out(record, timeout_s)
        except ProcessGone:
            return results.crashed(record)
        except asyncio.CancelledError:
            self._cancel(record, turn)
            raise
        return results.taken(record, result, schema.policies)

    async def _tries(self, schema: ToolSchema, record: ToolRecord, until: float, turn: TurnRef) -> ToolResult:
        """The answer; where running it twice does no harm, that of the next process, if need be.

        Raises:
            ProcessGone: The process died, and there was no other to ask, or may not be.
        """
        try:
            return await self._try(schema, record, until, turn)
        except ProcessGone:
            if not schema.policies.idempotent:
                raise
        following = await self.until(lambda: self._following(schema), self.config.back_s)
        if following is None:
            raise ProcessGone(schema.name)
        log.info("tool_tried_again", tool=schema.tool)
        return await self._try(following, record, until, turn)

    def _following(self, schema: ToolSchema) -> ToolSchema | None:
        """The same tool, served by another process."""
        now = self.registry.get(schema.tool)
        return now if now is not None and now.tool == schema.tool and now.boot != schema.boot else None

    async def _try(self, schema: ToolSchema, record: ToolRecord, until: float, turn: TurnRef) -> ToolResult:
        """Send the call until its process says that it runs it (it runs the same call once), then wait."""
        loop = asyncio.get_running_loop()
        call = ToolCall(
            tool=schema.tool, call_id=record.call_id, args=record.args, timeout_s=until - loop.time(), boot=schema.boot
        )
        sending = Repeat(self.config.resend_s, lambda: self._bus.publish(call, turn=turn))
        waiting = self._waiting[record.call_id] = _Waiting(schema, loop.create_future(), sending)
        try:
            return await waiting.result
        finally:
            waiting.sending.stop()
            del self._waiting[record.call_id]

    def _cancel(self, record: ToolRecord, turn: TurnRef) -> None:
        self._bus.publish(CancelTool(tool=record.tool, call_id=record.call_id), turn=turn)

    def _on_activity(self, activity: ToolActivity, _envelope: Envelope) -> None:
        waiting = self._waiting.get(activity.call_id)
        if waiting is not None and activity.event == "running":
            waiting.sending.stop()

    def _on_result(self, result: ToolResult, _envelope: Envelope) -> None:
        waiting = self._waiting.get(result.call_id)
        if waiting is not None and waiting.schema.tool == result.tool and not waiting.result.done():
            waiting.result.set_result(result)
