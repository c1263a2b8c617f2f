"""Which routes are there, and what stands before all of them?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.routing import WebSocketRoute

from bus.client import BusClient
from gateway.auth import App, Guard, Policy
from gateway.commands import Commands
from gateway.config import GatewayConfig
from gateway.directory import Directory
from gateway.hub import Hub
from gateway.observers import BusEndpoint
from gateway.routes import memory, replies, search, sessions, settings, status, web
from gateway.routes.page import Page
from gateway.ws import ChatEndpoint


@dataclass(frozen=True)
class Parts:
    """What the routes work with.

    Args:
        bus: The gateway's place on the bus.
        config: gateway.yaml; asked for at each use, so that a reload takes effect.
        hub: All chat sockets.
        directory: Who was heard.
        offload: Runs blocking work in the pool.
        version: LoCAL2's.
        page: The web UI's files.
    """

    bus: BusClient
    config: Callable[[], GatewayConfig]
    hub: Hub
    directory: Directory
    offload: Callable[..., Awaitable[Any]]
    version: str
    page: Page


@dataclass(frozen=True)
class Web:
    """The application, and what has to be drained with it."""

    app: App
    chat: ChatEndpoint
    observers: BusEndpoint


def build(parts: Parts) -> Web:
    """The ASGI application. No API pages: their scripts come from elsewhere."""
    api = FastAPI(title="LoCAL2", version=parts.version, docs_url=None, redoc_url=None, openapi_url=None)
    replies.install(api)
    chat = ChatEndpoint(parts.hub, Commands(parts.bus, parts.hub, parts.directory))
    observers = BusEndpoint(parts.bus, parts.config)
    api.router.routes += [
        WebSocketRoute("/ws/chat", chat),
        WebSocketRoute("/ws/chat/{session_id}", chat),
        WebSocketRoute("/ws/bus", observers),
        WebSocketRoute("/ws/bus/{session_id}", observers),
    ]
    for router in routers(parts.bus, parts.directory, parts.offload, parts.version):
        api.include_router(router)
    api.router.routes += parts.page.routes()
    return Web(Guard(api, lambda: policy(parts.config())), chat, observers)


def routers(
    bus: BusClient, directory: Directory, offload: Callable[..., Awaitable[Any]], version: str
) -> list[APIRouter]:
    """The REST interface. The web UI's types are generated from what these take and answer."""
    writing = asyncio.Lock()
    return [
        status.router(bus, directory, version),
        sessions.router(bus),
        search.router(bus),
        memory.router(bus),
        settings.router(bus, offload, writing),
        web.router(bus, offload, writing),
    ]


def policy(config: GatewayConfig) -> Policy:
    """Who may come in, as gateway.yaml says."""
    return Policy(
        hosts=frozenset({f"{config.host}:{config.port}", config.host}),
        origins=frozenset(config.allowed_origins),
        max_body_bytes=config.max_body_bytes,
    )
