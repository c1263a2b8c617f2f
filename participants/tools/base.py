"""What is a tool? One yaml that says what it is, and one `run` that does it.

The base class announces the schema, takes calls, bounds them, and answers each exactly once. A call
whose id was seen before is not run again: it gets the same answer.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections import OrderedDict
from collections.abc import Awaitable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
import structlog
from msgspec import Meta, Struct
from msgspec.structs import replace

from bus.config import Section
from bus.envelope import NO_TURN, Envelope, TurnRef, encode_payload
from bus.errors import EnvelopeError, Local2Error, RequestFailed, RequestTimeout
from bus.fault_points import FaultPoint, reached
from bus.messages.base import Message
from bus.messages.control import ToolTransition
from bus.messages.tool import (
    CancelTool,
    Command,
    Policies,
    ToolActivity,
    ToolCall,
    ToolResult,
    ToolSchema,
    ToolSchemaRequest,
)
from participants.participant import Participant
from participants.state_machine import StateMachine

log = structlog.get_logger()
M = TypeVar("M", bound=Message)
_turn: ContextVar[TurnRef] = ContextVar("turn", default=NO_TURN)
_REMEMBERED_CALLS = 256
_QUICK_S = 0.01
_LONGEST_RESULT = 1_000_000
"""Characters; more does not fit into a message. What the model is told is cut much shorter, by the dispatcher."""
_LONGEST_SOURCES = 4_000_000
"""The same, in bytes."""
_read_sources = msgspec.json.Decoder(list[dict[str, Any]]).decode


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


Machine = StateMachine[State, Action]


class ToolFailed(Local2Error):
    """The tool could not do it; the text is for the model: what happened, and what to try instead."""


class ToolConfig(Section, frozen=True, kw_only=True):
    """What every tool's yaml holds."""

    tool: Annotated[str, Meta(description="The name that the model calls.", min_length=1, max_length=64)]
    description: Annotated[str, Meta(description="What it does and when to call it, for the model.", min_length=1)]
    parameters: Annotated[dict[str, Any], Meta(description="A JSON schema of type object.")]
    policies: Annotated[Policies, Meta(description="How it wants to be run.")] = Policies()
    commands: Annotated[list[Command], Meta(description="Slash commands that call it.")] = []
    critique_rubric_name: Annotated[
        str, Meta(description="The rubric for answers that used it; empty for the default.")
    ] = ""
    critique_priority: Annotated[int, Meta(description="Of several tools' rubrics the highest counts.")] = 0


class Found(Struct, frozen=True, kw_only=True):
    """A tool's answer, where it has more than text."""

    text: str
    sources: list[dict[str, Any]] = []
    untrusted: bool = False
    """Whether content from outside is in it. A tool whose results always come from outside says so in its policies."""


class BaseTool(Participant):
    """A tool. A subclass names CONFIG_NAME (and Config, where its yaml holds more) and writes `run`."""

    KIND: ClassVar[str] = "tool"
    Config: ClassVar[type[Section]] = ToolConfig
    config: ToolConfig

    def run_call(self, args: dict[str, Any]) -> str | Found | Awaitable[str | Found]:
        """Do it. `args` fit the schema.

        A coroutine function runs on the loop and must not block it. A plain function may block: it runs in a
        thread, and so does a coroutine function whose policies say `offloaded`, on a loop of its own. At its
        deadline nobody waits for a thread any more, but it holds its place until it ends: give what it calls
        a timeout.

        Raises:
            ToolFailed: With words for the model.
        """
        raise NotImplementedError

    @property
    def turn(self) -> TurnRef:
        """Who asks, and in which conversation, while `run_call` runs: from the call's envelope, never its arguments."""
        return _turn.get()

    async def ask(self, message: Message, expect: type[M], *, who: str, timeout_s: float | None = None) -> M:
        """Ask a service for the user whose call this is.

        Args:
            message: The request.
            expect: The answer's class.
            who: What the model is told that does not answer, such as "The memory".
            timeout_s: Seconds; None for bus.yaml's.

        Raises:
            ToolFailed: The call names no user; or the service is away, refused, or answered something else.
        """
        if not self.turn.user_id:
            raise ToolFailed("This call belongs to no user, so nobody may be asked for it.")
        try:
            return await self.bus.request(message, expect, turn=self.turn, timeout_s=timeout_s)
        except RequestFailed as error:
            raise ToolFailed(error.message) from error
        except (RequestTimeout, EnvelopeError) as error:
            log.warning("service_silent", subject=message.subject, reason=str(error))
            raise ToolFailed(f"{who} does not answer now. Go on without it, and tell the user.") from error

    # ------------------------------------------------------------------ life

    async def setup(self) -> None:
        """Listen for calls."""
        self._answers: OrderedDict[str, ToolResult | None] = OrderedDict()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._make_room()
        self._listen()
        self.bus.on(ToolSchemaRequest, lambda _message, _envelope: self.announce())

    def _listen(self) -> None:
        self.bus.on(ToolCall, self._on_call, key=self.config.tool)
        self.bus.on(CancelTool, self._on_cancel, key=self.config.tool)

    def _make_room(self) -> None:
        places = self.config.policies.concurrency
        self._slots = asyncio.Semaphore(places)
        self._calls = self.add_pool("calls", places)

    def linked(self) -> None:
        """The bus is (again) there: whoever collects schemas may have missed ours."""
        self.announce()

    def reconfigured(self, before: Any) -> None:
        """The schema, a policy or even the name may have changed."""
        if before.policies.concurrency != self.config.policies.concurrency:
            self._make_room()
        if before.tool != self.config.tool:
            self._publish_schema(before, withdrawn=True)
            self._listen()
        self.announce()

    def announce(self) -> None:
        """Publish the schema; once we drain, that it is withdrawn."""
        self._publish_schema(self.config, withdrawn=self.state in ("draining", "gone"))

    def _publish_schema(self, config: ToolConfig, *, withdrawn: bool) -> None:
        self.bus.publish(
            ToolSchema(
                tool=config.tool,
                name=self.CONFIG_NAME,
                description=config.description,
                parameters=self.parameters_of(config),
                policies=config.policies,
                commands=config.commands,
                critique_rubric_name=config.critique_rubric_name,
                critique_priority=config.critique_priority,
                withdrawn=withdrawn,
                pid=os.getpid(),
                boot=self.bus.boot,
            )
        )

    def parameters_of(self, config: Any) -> dict[str, Any]:
        """Called for each announcement: a tool whose choices stand elsewhere in its yaml puts them in here."""
        return config.parameters

    async def drain(self) -> None:
        """Withdraw, and finish what runs; a call that was under way to us meanwhile is still taken."""
        self.announce()
        while self._running:
            await asyncio.wait(self._running.values())

    # ------------------------------------------------------------------ a call

    def _on_call(self, call: ToolCall, envelope: Envelope) -> None:
        if call.boot not in ("", self.bus.boot):
            return  # it is for the process before us, which may have run it
        if call.call_id in self._answers:
            answer = self._answers[call.call_id]
            if answer is not None:
                self._say(answer, envelope)
            return
        reached(FaultPoint.CALL_HEARD)
        self._answers[call.call_id] = None
        while len(self._answers) > _REMEMBERED_CALLS:
            self._answers.popitem(last=False)
        machine = StateMachine(
            TRANSITIONS,
            State.WAITING,
            lambda before, action, after, _note: self._moved(call, envelope, before, action, after),
        )
        work = self.spawn(self._serve(call, envelope, machine), name=f"call {call.tool}")
        self._running[call.call_id] = work
        work.add_done_callback(lambda work: self._ended(call, envelope, machine, work))

    def _on_cancel(self, cancel: CancelTool, _envelope: Envelope) -> None:
        task = self._running.get(cancel.call_id)
        if task is not None:
            task.cancel()

    async def _serve(self, call: ToolCall, envelope: Envelope, machine: Machine) -> None:
        self._answer(call, envelope, machine, await self._run(call, envelope, machine))

    def _ended(self, call: ToolCall, envelope: Envelope, machine: Machine, work: asyncio.Task[None]) -> None:
        """A call that was stopped, maybe before it began, has not said so itself."""
        self._running.pop(call.call_id, None)
        if work.cancelled():
            self._answer(call, envelope, machine, _result(call, "cancelled", "The call was stopped."))
        elif work.exception() is not None:  # no Exception at all, such as a panic in Rust; it is logged already
            self._answer(call, envelope, machine, _result(call, "failed", _inside(call)))

    def _answer(self, call: ToolCall, envelope: Envelope, machine: Machine, answer: ToolResult) -> None:
        """Called once at the end of each call."""
        reached(FaultPoint.CALL_DONE)
        answer = self._answers[call.call_id] = _readable(call, answer)
        self._say(answer, envelope)
        machine.do(Action.END)

    def _say(self, answer: ToolResult, envelope: Envelope) -> None:
        self.bus.publish(answer, turn=envelope.turn, correlation_id=envelope.message_id)

    async def _run(self, call: ToolCall, envelope: Envelope, machine: Machine) -> ToolResult:
        """The time that it waits for a free place counts, too: after it nobody waits for the answer."""
        limit = asyncio.timeout(call.timeout_s)
        _turn.set(envelope.turn)  # this task's alone
        try:
            async with limit, self._slots:
                machine.do(Action.RUN)
                with self._telling_that_it_runs(call, envelope):
                    return _result(call, "ok", await self._do(call.args))
        except ToolFailed as error:
            return _result(call, "failed", str(error))
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                return _result(call, "timeout", f"{call.tool} took longer than {call.timeout_s:g} s and was stopped.")
            log.exception("tool_failed", tool=call.tool)
            return _result(call, "failed", _inside(call))

    async def _do(self, args: dict[str, Any]) -> Any:
        run = self.run_call
        if not inspect.iscoroutinefunction(run):
            return await self._calls.run(run, args)
        if self.config.policies.offloaded:
            return await self._calls.run(lambda: asyncio.run(run(args)))
        return await run(args)

    @contextmanager
    def _telling_that_it_runs(self, call: ToolCall, envelope: Envelope) -> Generator[None]:
        """A call that takes a while says so, or it would be sent again; of a quick one the result says enough."""
        activity = ToolActivity(tool=call.tool, call_id=call.call_id, event="running", pid=os.getpid())
        loop = asyncio.get_running_loop()
        later = loop.call_later(_QUICK_S, lambda: self.bus.publish(activity, turn=envelope.turn))
        try:
            yield
        finally:
            later.cancel()

    def _moved(self, call: ToolCall, envelope: Envelope, before: State, action: Action, after: State) -> None:
        move = ToolTransition(tool=call.tool, before=before, action=action, after=after)
        self.bus.hints.tell(move, envelope.turn)


def _readable(call: ToolCall, answer: ToolResult) -> ToolResult:
    """The answer, if a message can carry it, and its sources are what the message says."""
    try:
        encode_payload(answer.result)
        body = bytes(encode_payload(answer.sources))
        if len(body) > _LONGEST_SOURCES:
            raise ValueError(f"sources of {len(body)} bytes: at most {_LONGEST_SOURCES}")
        return replace(answer, sources=_read_sources(body)) if answer.sources else answer
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        log.exception("tool_failed", tool=call.tool)
        return _result(call, "failed", f"{call.tool} gave no usable result; its log says why. Go on without it.")


def _inside(call: ToolCall) -> str:
    return f"{call.tool} failed inside; its log says why. Go on without it."


def _result(call: ToolCall, outcome: str, found: str | Found) -> ToolResult:
    """Raises TypeError where a tool returned neither text nor `Found`."""
    if not isinstance(found, Found):
        found = Found(text=found)
    if not isinstance(found.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  a tool may do anything
        raise TypeError(f"expected text, got {type(found.text).__name__}")
    return ToolResult(
        tool=call.tool,
        call_id=call.call_id,
        outcome=outcome,
        result=found.text[:_LONGEST_RESULT],
        sources=found.sources,
        untrusted=bool(found.untrusted),
    )
