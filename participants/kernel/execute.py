"""How does one tool call get from the model's wish to one result?

Every ending is a `ToolRecord` with one of the outcomes of bus/messages/tool.py. The dispatcher talks
to tools over the bus only, and compares no tool's name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Annotated, Any

import msgspec
import structlog
from msgspec import Meta

from bus.client import BusClient
from bus.config import Section
from bus.envelope import Envelope, TurnRef
from bus.messages.control import OpsProcess, Presence
from bus.messages.ledger import ToolRecord
from bus.messages.tool import CancelTool, ToolActivity, ToolCall, ToolResult, ToolSchema, ToolSchemaRequest
from participants.kernel.registry import Registry
from participants.kernel.validate import InvalidArguments, check, decode

log = structlog.get_logger()


class ToolDispatcherConfig(Section, frozen=True, kw_only=True):
    """tool_dispatcher.yaml: how the generator runs tools."""

    tool_timeout: Annotated[float, Meta(description="Seconds; a tool's own timeout_s goes first.", gt=0)] = 20.0
    resend_s: Annotated[float, Meta(description="A call that no tool says it runs is sent again.", gt=0)] = 0.5
    grace_s: Annotated[float, Meta(description="Seconds past the tool's own timeout.", ge=0)] = 1.0


@dataclass(slots=True)
class _Waiting:
    """A call that runs somewhere."""

    schema: ToolSchema
    result: asyncio.Future[ToolResult]
    running: asyncio.Event = field(default_factory=asyncio.Event)
    pid: int = 0


class ToolDispatcher:
    """Discovers tools and runs calls.

    Args:
        bus: The generator's client.
        config: tool_dispatcher.yaml.
        changed: Called when the set of tools changed.
    """

    def __init__(self, bus: BusClient, config: ToolDispatcherConfig, *, changed: Callable[[], None]) -> None:
        self._bus, self.config, self._changed = bus, config, changed
        self.registry = Registry()
        self._waiting: dict[str, _Waiting] = {}

    # ------------------------------------------------------------------ discovery

    def listen(self) -> None:
        """Register on the bus; before it opens."""
        self._bus.on(ToolSchema, self._on_schema)
        self._bus.on(ToolResult, self._on_result)
        self._bus.on(ToolActivity, self._on_activity)
        self._bus.on(OpsProcess, self._on_process)
        self._bus.on(Presence, self._on_presence)

    def ask(self) -> None:
        """Ask all tools to announce themselves."""
        self._bus.publish(ToolSchemaRequest())

    def _on_schema(self, schema: ToolSchema, _envelope: Envelope) -> None:
        if self.registry.announce(schema):
            self._changed()
        elif schema.name in self.registry.refused:
            log.warning("tool_refused", tool=schema.tool, reason=self.registry.refused[schema.name])

    def _on_process(self, process: OpsProcess, _envelope: Envelope) -> None:
        if process.event in ("died", "fatal", "stopped", "wedged"):
            self._gone(process.name, process.pid)

    def _on_presence(self, presence: Presence, _envelope: Envelope) -> None:
        if presence.state == "gone":
            self._gone(presence.name, presence.pid)

    def _gone(self, name: str, pid: int) -> None:
        for waiting in self._waiting.values():
            if (
                waiting.schema.name == name
                and pid in (0, waiting.pid or waiting.schema.pid)
                and not waiting.result.done()
            ):
                waiting.result.set_exception(ProcessLookupError(name))
        if self.registry.process_gone(name, pid):
            self._changed()

    # ------------------------------------------------------------------ a call

    async def run(self, name: str, arguments: Any, call_id: str, turn: TurnRef) -> ToolRecord:
        """Run one call to its end. Cancelling this coroutine stops the tool, too."""
        started = monotonic()
        schema = self.registry.get(name)
        if schema is None:
            return self._unknown(name, call_id)
        try:
            args = decode(arguments)
            check(args, schema.parameters)
        except InvalidArguments as error:
            return self._told(
                ToolRecord(call_id=call_id, tool=schema.tool, outcome="invalid_arguments", result=str(error)), turn
            )
        record = ToolRecord(call_id=call_id, tool=schema.tool, args=args)
        activity = ToolActivity(tool=schema.tool, call_id=call_id, event="dispatched", args=args)
        self._bus.hints.tell(activity, turn)
        ended = await self._outcome(schema, record, turn)
        return self._told(msgspec.structs.replace(ended, seconds=round(monotonic() - started, 4)), turn)

    def _unknown(self, name: str, call_id: str) -> ToolRecord:
        names = ", ".join(self.registry.nearest(name)) or "none"
        return ToolRecord(
            call_id=call_id,
            tool=name[:64],
            outcome="unknown",
            result=f"There is no tool called {name[:64]!r}. The tools are: {names}.",
        )

    def _told(self, record: ToolRecord, turn: TurnRef) -> ToolRecord:
        activity = ToolActivity(
            tool=record.tool,
            call_id=record.call_id,
            event="ended",
            outcome=record.outcome,
            result=record.result,
            sources=record.sources,
            seconds=record.seconds,
        )
        self._bus.hints.tell(activity, turn)
        return record

    async def _outcome(self, schema: ToolSchema, record: ToolRecord, turn: TurnRef) -> ToolRecord:
        timeout_s = schema.policies.timeout_s or self.config.tool_timeout
        waiting = _Waiting(schema, asyncio.get_running_loop().create_future())
        self._waiting[record.call_id] = waiting
        call = ToolCall(tool=schema.tool, call_id=record.call_id, args=record.args, timeout_s=timeout_s)
        try:
            async with asyncio.timeout(timeout_s + self.config.grace_s):
                result = await self._answer(waiting, call, turn)
        except TimeoutError:
            self._cancel(call, turn)
            return _ended(record, "timeout", f"{schema.tool} gave no answer within {timeout_s:g} s.")
        except ProcessLookupError:
            return _ended(record, "crashed", f"{schema.tool} crashed during the call. Go on without it.")
        except asyncio.CancelledError:
            self._cancel(call, turn)
            raise
        finally:
            del self._waiting[record.call_id]
        text = cut(result.result, schema.policies.max_result_chars)
        return msgspec.structs.replace(record, outcome=result.outcome, result=text, sources=result.sources)

    async def _answer(self, waiting: _Waiting, call: ToolCall, turn: TurnRef) -> ToolResult:
        """Send the call until some process says that it runs it (a tool runs the same call once), then wait."""
        while not waiting.running.is_set() and not waiting.result.done():
            self._bus.publish(call, turn=turn)
            await asyncio.wait([waiting.result], timeout=self.config.resend_s)
        return await waiting.result

    def _cancel(self, call: ToolCall, turn: TurnRef) -> None:
        self._bus.publish(CancelTool(tool=call.tool, call_id=call.call_id), turn=turn)

    def _on_activity(self, activity: ToolActivity, _envelope: Envelope) -> None:
        waiting = self._waiting.get(activity.call_id)
        if waiting is not None and activity.event == "running":
            waiting.pid = activity.pid
            waiting.running.set()

    def _on_result(self, result: ToolResult, _envelope: Envelope) -> None:
        waiting = self._waiting.get(result.call_id)
        if waiting is not None and waiting.schema.tool == result.tool and not waiting.result.done():
            waiting.result.set_result(result)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; what was cut is said."""
    return text if len(text) <= limit else f"{text[:limit]}\n[cut here: {len(text) - limit} more characters]"


def _ended(record: ToolRecord, outcome: str, result: str) -> ToolRecord:
    return msgspec.structs.replace(record, outcome=outcome, result=result)
