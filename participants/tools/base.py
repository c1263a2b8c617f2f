"""What is a tool? One yaml that says what it is, and one `run` that does it.

The base class announces the schema, takes calls, bounds them, and answers each exactly once. A call
whose id was seen before is not run again: it gets the same answer.
"""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from enum import StrEnum
from typing import Annotated, Any, ClassVar

import structlog
from msgspec import Meta, Struct

from bus.config import Section
from bus.envelope import Envelope
from bus.errors import Local2Error
from bus.messages.control import ToolTransition
from bus.messages.tool import CancelTool, Policies, ToolActivity, ToolCall, ToolResult, ToolSchema, ToolSchemaRequest
from participants.participant import Participant
from participants.state_machine import StateMachine

log = structlog.get_logger()
_REMEMBERED_CALLS = 256


class State(StrEnum):
    """Where one call is."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    ENDED = "ENDED"


class Action(StrEnum):
    """What happens to one call."""

    RUN = "RUN"
    END = "END"


TRANSITIONS = {
    (State.WAITING, Action.RUN): State.RUNNING,
    (State.WAITING, Action.END): State.ENDED,
    (State.RUNNING, Action.END): State.ENDED,
}


class ToolFailed(Local2Error):
    """The tool could not do it; the text is for the model: what happened, and what to try instead."""


class ToolConfig(Section, frozen=True, kw_only=True):
    """What every tool's yaml holds."""

    tool: Annotated[str, Meta(description="The name that the model calls.", min_length=1, max_length=64)]
    description: Annotated[str, Meta(description="What it does and when to call it, for the model.", min_length=1)]
    parameters: Annotated[dict[str, Any], Meta(description="A JSON schema of type object.")]
    policies: Annotated[Policies, Meta(description="How it wants to be run.")] = Policies()


class Found(Struct, frozen=True, kw_only=True):
    """A tool's answer, where it has more than text."""

    text: str
    sources: list[dict[str, Any]] = []


class BaseTool(Participant):
    """A tool. A subclass names CONFIG_NAME (and Config, where its yaml holds more) and writes `run`."""

    KIND: ClassVar[str] = "tool"
    Config: ClassVar[type[Section]] = ToolConfig
    config: ToolConfig

    async def run_call(self, args: dict[str, Any]) -> str | Found:
        """Do it. `args` fit the schema. Blocking work goes through `self.offload`.

        Raises:
            ToolFailed: With words for the model.
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ life

    async def setup(self) -> None:
        """Listen for calls."""
        self._answers: OrderedDict[str, ToolResult | None] = OrderedDict()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(self.config.policies.concurrency)
        self.bus.on(ToolCall, self._on_call, key=self.config.tool)
        self.bus.on(CancelTool, self._on_cancel, key=self.config.tool)
        self.bus.on(ToolSchemaRequest, lambda _message, _envelope: self.announce())

    def linked(self) -> None:
        """The bus is (again) there: whoever collects schemas may have missed ours."""
        self.announce()

    def reconfigured(self, before: Any) -> None:
        """The schema or a policy may have changed."""
        self.announce()

    def announce(self, *, withdrawn: bool = False) -> None:
        """Publish the schema."""
        self.bus.publish(
            ToolSchema(
                tool=self.config.tool,
                name=self.CONFIG_NAME,
                description=self.config.description,
                parameters=self.config.parameters,
                policies=self.config.policies,
                withdrawn=withdrawn,
                pid=os.getpid(),
            )
        )

    async def drain(self) -> None:
        """Take no more calls, and finish those that run."""
        self.announce(withdrawn=True)
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    # ------------------------------------------------------------------ a call

    def _on_call(self, call: ToolCall, envelope: Envelope) -> None:
        if call.call_id in self._answers:
            answer = self._answers[call.call_id]
            if answer is not None:
                self.bus.publish(answer, turn=envelope.turn, correlation_id=envelope.message_id)
            return
        self._answers[call.call_id] = None
        while len(self._answers) > _REMEMBERED_CALLS:
            self._answers.popitem(last=False)
        task = self.spawn(self._handle(call, envelope), name=f"call {call.tool}")
        self._running[call.call_id] = task
        task.add_done_callback(lambda _task: self._running.pop(call.call_id, None))

    def _on_cancel(self, cancel: CancelTool, _envelope: Envelope) -> None:
        task = self._running.get(cancel.call_id)
        if task is not None:
            task.cancel()

    async def _handle(self, call: ToolCall, envelope: Envelope) -> None:
        machine = StateMachine(TRANSITIONS, State.WAITING, lambda *move: self._moved(call, envelope, *move))
        try:
            async with self._slots:
                machine.do(Action.RUN)
                self._tell_running(call, envelope)
                answer = await self._result(call)
        except asyncio.CancelledError:
            answer = ToolResult(tool=call.tool, call_id=call.call_id, outcome="cancelled", result="The call was stopped.")
        self._answers[call.call_id] = answer
        self.bus.publish(answer, turn=envelope.turn, correlation_id=envelope.message_id)
        machine.do(Action.END)

    def _tell_running(self, call: ToolCall, envelope: Envelope) -> None:
        activity = ToolActivity(tool=call.tool, call_id=call.call_id, event="running", pid=os.getpid())
        self.bus.publish(activity, turn=envelope.turn)

    async def _result(self, call: ToolCall) -> ToolResult:
        def ended(outcome: str, found: str | Found) -> ToolResult:
            text, sources = (found.text, found.sources) if isinstance(found, Found) else (found, [])
            return ToolResult(tool=call.tool, call_id=call.call_id, outcome=outcome, result=text, sources=sources)

        try:
            async with asyncio.timeout(call.timeout_s):
                return ended("ok", await self.run_call(call.args))
        except ToolFailed as error:
            return ended("failed", str(error))
        except TimeoutError:
            return ended("timeout", f"{call.tool} took longer than {call.timeout_s:g} s and was stopped.")
        except Exception:  # noqa: BLE001  whatever a tool does, its caller gets an answer
            log.exception("tool_failed", tool=call.tool)
            return ended("failed", f"{call.tool} failed inside; its log says why. Go on without it.")

    def _moved(self, call: ToolCall, envelope: Envelope, before: State, action: Action, after: State, _note: str) -> None:
        move = ToolTransition(tool=call.tool, before=before, action=action, after=after)
        self.bus.publish(move, turn=envelope.turn)
