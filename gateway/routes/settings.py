"""`/api/settings`: what can be set, and what is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import APIRouter
from pydantic import BaseModel

from bus.client import BusClient
from bus.messages.control import ConfigReload
from gateway import settings

Offload = Callable[..., Awaitable[Any]]


class SettingView(BaseModel):
    """One key of one section."""

    section: str
    key: str
    value: Any
    default: Any
    source: str
    description: str
    type: str
    choices: list[Any] | None
    minimum: float | None
    above: float | None
    maximum: float | None
    below: float | None
    restart: bool


class ProblemView(BaseModel):
    """A yaml that cannot be used as it is."""

    section: str
    message: str


class Settings(BaseModel):
    """All that can be set."""

    settings: list[SettingView]
    problems: list[ProblemView]


def router(bus: BusClient, offload: Offload, writing: asyncio.Lock) -> APIRouter:
    """The routes. Files are read and written in the pool, one change after the other (`writing`)."""
    routes = APIRouter(prefix="/api/settings")

    @routes.get("")
    async def get_settings() -> Settings:
        found, problems = await offload(settings.read_all)
        return Settings.model_validate(msgspec.to_builtins({"settings": found, "problems": problems}))

    @routes.patch("/{section}")
    async def change_settings(section: str, changes: dict[str, Any]) -> Settings:
        async with writing:
            await offload(settings.change, section, changes)
            found, problem = await offload(settings.read, section)
        bus.publish(ConfigReload(section=section))
        problems = [problem] if problem is not None else []
        return Settings.model_validate(msgspec.to_builtins({"settings": found, "problems": problems}))

    return routes
