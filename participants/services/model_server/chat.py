"""A chat request from its messages to its events: first the router, where tools are offered, then the answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec
import structlog

from participants.services.model_server import router
from participants.services.model_server.errors import Refused
from participants.services.model_server.generation import Delta, Done, Engine, Event, Json, Message, Work
from participants.services.model_server.router import Decision, Tool
from participants.services.model_server.wire import ToolDefinition

log = structlog.get_logger()


class Called(msgspec.Struct, frozen=True):
    """The model calls a tool."""

    tool: str
    arguments: Json


def tools_of(definitions: Sequence[ToolDefinition] | None) -> list[Tool]:
    """The offered tools; of two with one name the first counts."""
    tools: dict[str, Tool] = {}
    for definition in definitions or ():
        function = definition.function
        tools.setdefault(function.name, Tool(function.name, function.description or "", function.parameters or {}))
    return list(tools.values())


async def respond(engine: Engine, answer: Work, tools: Sequence[Tool]) -> AsyncGenerator[Event | Called, None]:
    """The events of one turn: a call and the end, or text and the end. Without `tools` nothing is routed."""
    if tools:
        decision, done = await _route(engine, answer.messages, tools)
        if decision.tool:
            yield Called(decision.tool, decision.arguments)
            yield done
            return
    async with aclosing(engine.stream(answer)) as events:
        async for event in events:
            yield event


async def _route(engine: Engine, messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[Decision, Done]:
    try:
        reply, done = await gather(engine, router.routing(tools, messages))
    except Refused as error:
        # A tool's schema that no grammar can hold must not cost the user the answer.
        log.warning("routing_failed", reason=str(error), tools=[tool.name for tool in tools])
        return Decision(), Done("stop")
    return router.decision_of(reply, tools), done


async def gather(engine: Engine, work: Work) -> tuple[str, Done]:
    """The whole text, and the end."""
    text, done = "", Done("stop")
    async with aclosing(engine.stream(work)) as events:
        async for event in events:
            match event:
                case Delta():
                    text += event.text
                case Done():
                    done = event
    return text, done
