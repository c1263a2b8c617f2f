"""Who may ask at all: programs of this machine, and pages that this machine serves."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class LoopbackOnly:
    """Middleware that refuses foreign Host headers (DNS rebinding) and foreign Origins (pages of other sites)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := refusal_of(Headers(scope=scope))):
            await JSONResponse({"error": refusal}, 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def refusal_of(headers: Headers) -> str:
    """Why a request with these headers is refused; empty when it is not."""
    host = headers.get("host", "")
    if not is_loopback(f"//{host}"):
        return f"this server answers only to loopback names, and was asked as {host!r}"
    origin = headers.get("origin")
    if origin is not None and not is_loopback(origin):
        return f"pages of {origin!r} may not use this server"
    return ""


def is_loopback(address: str) -> bool:
    """Whether an address with `//` in it names this machine."""
    try:
        name = urlsplit(address).hostname
    except ValueError:
        return False
    if not name:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
