"""How is one address asked, with a limit on everything?

Redirects are not followed here: each hop is the caller's decision. Nothing of one request reaches the next: no
cookies, no referrer, no proxy from the environment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httpx
from msgspec import Struct

from participants.web.addresses import AllowList
from participants.web.errors import TooSlow, Unreachable, WebError
from participants.web.inflate import ACCEPTED, decoder
from participants.web.transport import CheckedTransport, Resolve, resolve

USER_AGENT = "LoCAL2/0.1"
_IDLE_S = 10.0


class Limits(Struct, frozen=True, kw_only=True):
    """What one request may take."""

    seconds: float
    max_bytes: int
    """Of the body, unpacked."""


class Reply(Struct, frozen=True, kw_only=True):
    """What a server said."""

    url: str
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    cut: str = ""
    """Why the body is not whole; empty where it is."""

    @property
    def content_type(self) -> str:
        """The media type, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


async def get(
    url: str,
    limits: Limits,
    *,
    allow: AllowList,
    headers: Mapping[str, str] | None = None,
    resolve: Resolve = resolve,
) -> Reply:
    """Ask for `url`. A body that is too long or too slow is cut, and the reply says so.

    Raises:
        WebError: One of its kinds: there is no answer to speak of.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limits.seconds
    sent = {"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": ACCEPTED, "Connection": "close"}
    sent |= dict(headers or {})
    timeouts = httpx.Timeout(min(_IDLE_S, limits.seconds)).as_dict()
    try:
        # No httpx.Client: it keeps cookies, and trips over redirects that it was told not to follow.
        request = httpx.Request("GET", url, headers=sent, extensions={"timeout": timeouts})
        async with CheckedTransport(allow, resolve) as transport:
            async with asyncio.timeout_at(deadline):
                response = await transport.handle_async_request(request)
            try:
                body, cut = await _body(response, limits, deadline)
            finally:
                await response.aclose()
    except (TimeoutError, httpx.TimeoutException) as error:
        raise TooSlow(f"{_place(url)} did not answer within {limits.seconds:g} s.") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise Unreachable(f"{_place(url)} could not be reached: {_reason(error)}.") from error
    return Reply(
        url=url,
        status=response.status_code,
        headers={name.lower(): value for name, value in response.headers.items()},
        body=body,
        cut=cut,
    )


async def _body(response: httpx.Response, limits: Limits, deadline: float) -> tuple[bytes, str]:
    """What came within the limits, and which one ended it."""
    out = bytearray()
    unpack = decoder(response.headers.get("content-encoding", ""))
    try:
        async with asyncio.timeout_at(deadline):
            async for part in response.aiter_raw():
                out += unpack.feed(part, limits.max_bytes + 1 - len(out))
                if len(out) > limits.max_bytes:
                    return bytes(out[: limits.max_bytes]), f"it is longer than {limits.max_bytes:,} bytes"
    except (TimeoutError, httpx.TimeoutException):
        return bytes(out), f"it did not end within {limits.seconds:g} s"
    except (httpx.RemoteProtocolError, httpx.ReadError):
        return bytes(out), "the connection broke"
    except WebError:
        if not out:
            raise
        return bytes(out), "the rest is damaged"
    return bytes(out), ""


def _place(url: str) -> str:
    """The host of a URL for a message: what stands behind it may hold a secret."""
    try:
        return httpx.URL(url).netloc.decode("ascii", "replace") or "The server"
    except httpx.InvalidURL:
        return "The server"


def _reason(error: Exception) -> str:
    words = str(error).partition("\n")[0][:160].rstrip(".")
    return words or type(error).__name__
