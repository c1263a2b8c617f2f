"""How does one get from an address to a page, hop by hop?"""

from __future__ import annotations

import asyncio

from participants.tools.web_fetch.urls import redirected
from participants.web.addresses import AllowList
from participants.web.client import Limits, Reply, get
from participants.web.errors import Refused, TooSlow
from participants.web.transport import Resolve, resolve

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.9,*/*;q=0.5"


async def fetch(url: str, limits: Limits, allow: AllowList, *, resolve: Resolve = resolve) -> Reply:
    """The reply at the end of the redirects; all hops share the time. Each is a request of its own.

    Raises:
        WebError: A hop leads nowhere, or to where nothing is fetched from.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + limits.seconds
    for _hop in range(MAX_REDIRECTS + 1):
        left = deadline - loop.time()
        if left <= 0:
            raise TooSlow(f"The redirects took longer than {limits.seconds:g} s.")
        here = Limits(seconds=left, max_bytes=limits.max_bytes)
        reply = await get(url, here, allow=allow, headers={"Accept": _ACCEPT}, resolve=resolve)
        location = reply.headers.get("location", "")
        if reply.status not in _REDIRECTS or not location:
            return reply
        url = redirected(url, location)
    raise Refused(f"The page redirects more than {MAX_REDIRECTS} times.")
