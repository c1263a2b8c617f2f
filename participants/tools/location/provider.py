"""Where does a provider on the web place this machine's address?

Only asked where the user turned it on. Bounded in time and size; a redirect is not followed, since it
would take the question elsewhere than the settings say.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx
import msgspec
import structlog

from participants.tools.location.place import Place, read

log = structlog.get_logger()
_MOST_BYTES = 64 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class LookupFailed(Exception):
    """The provider gave no place; the text says why, without where."""


async def look_up(url: str, timeout_s: float) -> Place:
    """Ask the provider.

    Raises:
        LookupFailed: With words for the model.
    """
    try:
        async with asyncio.timeout(timeout_s):
            status, body = await _get(url, timeout_s)
    except TimeoutError as error:
        raise LookupFailed(f"did not answer within {timeout_s:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        log.warning("lookup_failed", reason=type(error).__name__)
        raise LookupFailed("cannot be reached") from error
    if status == 429:
        raise LookupFailed("wants fewer questions: try again in a few minutes")
    if status != 200:
        raise LookupFailed(f"answered with status {status}")
    place = _place(body)
    if not place.known:
        raise LookupFailed("answered, but named no place")
    return place


async def _get(url: str, timeout_s: float) -> tuple[int, bytes]:
    """Status and body; of a body that is too large the beginning, which is no JSON then."""
    on_this_machine = urlsplit(url).hostname in _LOOPBACK
    headers = {"Accept": "application/json", "User-Agent": "LoCAL2"}
    async with (
        httpx.AsyncClient(timeout=timeout_s, trust_env=not on_this_machine, headers=headers) as client,
        client.stream("GET", url) as answer,
    ):
        body = b""
        async for piece in answer.aiter_bytes(16 * 1024):
            body += piece
            if len(body) > _MOST_BYTES:
                break
        return answer.status_code, body


def _place(body: bytes) -> Place:
    try:
        return read(msgspec.json.decode(body))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Place()  # a web page, or cut
