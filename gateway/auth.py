"""Who is asking, and may this request come in at all?

The server listens on this machine only, but any page in the user's browser can send requests to
it. `admit` decides from a request's head, as a pure function; `Guard` applies it to HTTP and
WebSocket alike, bounds bodies, and puts the security headers on every answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

DEFAULT_USER = "default"
_LONGEST_ID = 64
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?")
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#@\s]+)")
_BODIES = ("application/json", "application/x-ndjson")
"""Neither can be sent by a page of elsewhere without being asked for first (a preflight)."""
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
SECURITY_HEADERS: Headers = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class InvalidUser(ValueError):
    """A user_id that cannot be one; the text says what is expected."""


def principal(claimed_user_id: str | None) -> str:
    """The user on whose behalf a request is served: the claimed one until there are accounts.

    Raises:
        InvalidUser: Empty after all, too long, or with control characters.
    """
    if claimed_user_id is None or claimed_user_id == "":
        return DEFAULT_USER
    if not is_id(claimed_user_id):
        raise InvalidUser(f"user_id: expected 1 to {_LONGEST_ID} characters without control characters.")
    return claimed_user_id


def is_id(text: str, longest: int = _LONGEST_ID) -> bool:
    """Whether `text` can be an id: short, not blank, printable."""
    printable = all(not unicodedata.category(c).startswith("C") for c in text)
    return 0 < len(text) <= longest and printable and not text.isspace()


def is_origin(text: str) -> bool:
    """Whether `text` is an origin as browsers send it: lower case, no path."""
    found = _ORIGIN.fullmatch(text)
    return found is not None and split_authority(found["authority"]) is not None


def split_authority(text: str) -> tuple[str, int | None] | None:
    """The name and the port of a Host header; None where it is none."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    return (found["name"], port) if port is None or 1 <= port <= 65535 else None


@dataclass(frozen=True)
class Head:
    """What `admit` looks at.

    Args:
        kind: `http` or `websocket`.
        headers: Lower-case names to all their values.
    """

    kind: str
    method: str
    path: str
    headers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @classmethod
    def of(cls, scope: Scope) -> Head:
        """The head of an ASGI scope."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1").strip())
        return cls(scope["type"], scope.get("method", "GET"), scope["path"], headers)

    def one(self, name: str) -> str | None:
        """The only value of a header; None where it is missing."""
        return self.headers.get(name, [None])[0]

    def repeated(self, names: Iterable[str]) -> bool:
        """Whether one of these stands there twice."""
        return any(len(self.headers.get(name, ())) > 1 for name in names)


@dataclass(frozen=True)
class Policy:
    """Who may come in.

    Args:
        hosts: Further values of Host, besides this machine's names with any port.
        origins: Further origins, besides the server's own.
        max_body_bytes: Of an HTTP request.
    """

    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    max_body_bytes: int = 1_048_576


@dataclass(frozen=True)
class Denied:
    """Why a request is refused, for the client."""

    status: int
    code: str
    message: str


def admit(head: Head, policy: Policy) -> Denied | None:
    """None, or why this request may not come in. The order is that of trust: host, origin, then the form."""
    if head.repeated(("host", "origin", "content-type", "content-length")):
        return Denied(400, "bad_request", "A header stands there twice.")
    return _host(head, policy) or _origin(head, policy) or _form(head, policy)


def _host(head: Head, policy: Policy) -> Denied | None:
    """A page of another site that points its own name at this machine (DNS rebinding) still sends that name."""
    host = (head.one("host") or "").lower()
    authority = split_authority(host)
    if authority is not None and (authority[0] in _LOOPBACK_NAMES or host in policy.hosts):
        return None
    return Denied(403, "host_refused", "This server answers to localhost and 127.0.0.1 only.")


def _origin(head: Head, policy: Policy) -> Denied | None:
    """Browsers name the page that asks; a page of this server names just the host that it talks to."""
    origin = head.one("origin")
    if origin is None:
        return _without_origin(head)
    own = f"http://{(head.one('host') or '').lower()}"
    if is_origin(origin) and (origin == own or origin in policy.origins):
        return None
    return Denied(403, "origin_refused", "Pages of other sites may not talk to this server (see allowed_origins).")


def _without_origin(head: Head) -> Denied | None:
    """A program, or a browser's plain GET. Browsers always name the origin of a WebSocket or a change."""
    browser = any(name.startswith("sec-fetch-") for name in head.headers)
    if not browser:
        return None
    if head.kind == "websocket" or head.method in _CHANGING:
        return Denied(403, "origin_missing", "A browser's request without an Origin is not served.")
    foreign = head.one("sec-fetch-site") in ("cross-site", "same-site")
    if foreign and head.one("sec-fetch-mode") != "navigate":
        return Denied(403, "origin_refused", "Pages of other sites may not load from this server.")
    return None


def _form(head: Head, policy: Policy) -> Denied | None:
    """A form of another site can send text/plain without asking first, but not JSON."""
    if head.kind != "http":
        return None
    length = head.one("content-length") or "0"
    if not re.fullmatch("[0-9]{1,18}", length):
        return Denied(400, "bad_request", "Content-Length is no number.")
    if int(length) > policy.max_body_bytes:
        return too_large(policy)
    has_body = int(length) > 0 or "transfer-encoding" in head.headers
    kind = (head.one("content-type") or "").partition(";")[0].strip().lower()
    if head.method in _CHANGING and (has_body or kind) and kind not in _BODIES:
        words = "Send the body as application/json, or lines of it as application/x-ndjson."
        return Denied(415, "not_json", words)
    return None


def too_large(policy: Policy) -> Denied:
    """The refusal of a body over the limit."""
    return Denied(413, "too_large", f"A body may have {policy.max_body_bytes} bytes (gateway.yaml: max_body_bytes).")


class Guard:
    """The one ASGI middleware for HTTP and WebSocket.

    Args:
        app: What it guards.
        policy: Asked for at each request, so that a reload takes effect.
    """

    def __init__(self, app: App, policy: Callable[[], Policy]) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        policy = self._policy()
        denied = admit(Head.of(scope), policy)
        if denied is not None:
            await deny(scope, send, denied)
        elif scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive, policy), _secured(send))


class BodyTooLarge(Exception):
    """A body without a stated length went over the limit."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(too_large(policy).message)
        self.denied = too_large(policy)


def _bounded(receive: Receive, policy: Policy) -> Receive:
    seen = 0

    async def bounded() -> Event:
        nonlocal seen
        event = await receive()
        seen += len(event.get("body", b""))
        if seen > policy.max_body_bytes:
            raise BodyTooLarge(policy)
        return event

    return bounded


def _secured(send: Send) -> Send:
    async def secured(event: Event) -> None:
        if event["type"] == "http.response.start":
            event["headers"] = [*event.get("headers", []), *SECURITY_HEADERS]
        await send(event)

    return secured


async def deny(scope: Scope, send: Send, denied: Denied) -> None:
    """Answer a request, or a WebSocket's handshake, with a refusal in JSON."""
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008, "reason": denied.message[:100]})
        return
    kind = "websocket.http.response" if scope["type"] == "websocket" else "http.response"
    body = msgspec.json.encode({"error": {"code": denied.code, "message": denied.message}})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *SECURITY_HEADERS]
    await send({"type": f"{kind}.start", "status": denied.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
