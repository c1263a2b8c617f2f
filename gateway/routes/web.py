"""`/api/web`: may tools reach the web? The same decision as `local2 setup --web on|off`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import APIRouter
from pydantic import BaseModel, StrictBool

from bus.client import BusClient
from bus.messages.control import ConfigReload
from gateway import web_access


class WebToolView(BaseModel):
    """A tool that reaches the web."""

    name: str
    tool: str
    enabled: bool


class Web(BaseModel):
    """What reaches the web."""

    enabled: bool
    tools: list[WebToolView]
    problems: list[str]


class WebWanted(BaseModel):
    """What the user decides."""

    enabled: StrictBool


def router(bus: BusClient, offload: Callable[..., Awaitable[Any]], writing: asyncio.Lock) -> APIRouter:
    """The routes.

    Args:
        bus: To tell the tools.
        offload: Runs what reads and writes files.
        writing: Held by whoever changes a yaml.
    """
    routes = APIRouter(prefix="/api/web")

    @routes.get("")
    async def get_web() -> Web:
        return _view(await offload(web_access.read))

    @routes.put("")
    async def put_web(wanted: WebWanted) -> Web:
        async with writing:
            now: web_access.WebAccess = await offload(web_access.switch, wanted.enabled)
        for tool in now.tools:
            bus.publish(ConfigReload(section=tool.name))
        return _view(now)

    return routes


def _view(access: web_access.WebAccess) -> Web:
    return Web.model_validate(msgspec.to_builtins(access))
