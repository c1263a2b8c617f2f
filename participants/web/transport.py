"""How is the address that was checked the one that is connected to?

A name is resolved once, each of its addresses is checked, and the request goes to one of these by number. A second
look-up could answer otherwise. TLS and the `Host` header keep the name.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import cache
from ipaddress import ip_address

import certifi
import httpx

from participants.web.addresses import Address, AllowList, check, literal
from participants.web.errors import Unreachable

Resolve = Callable[[str, int], Awaitable[list[Address]]]


async def resolve(host: str, port: int) -> list[Address]:
    """The addresses of a name, in the order in which the system wants them tried.

    Raises:
        Unreachable: It has none.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"There is no host called {host!r}, or this machine is offline.") from error
    return list(dict.fromkeys(ip_address(str(entry[4][0])) for entry in found))


@cache
def tls() -> ssl.SSLContext:
    """The system's certificates and Mozilla's: an interpreter on macOS may know none of its own."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


class CheckedTransport(httpx.AsyncHTTPTransport):
    """Connects to addresses that `allow` and `addresses.check` let through, and to no others.

    Connections are not kept: they are told apart by address, and two names may share one.
    """

    def __init__(self, allow: AllowList, resolve: Resolve = resolve) -> None:
        super().__init__(verify=tls(), trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        self._allow, self._resolve = allow, resolve

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Called by httpx for each request.

        Raises:
            Refused: The address is not allowed; nothing was sent.
        """
        host = request.url.raw_host.decode("ascii")
        port = request.url.port
        if port is None:
            port = 443 if request.url.scheme == "https" else 80
        address = literal(host)
        addresses = [address] if address else await self._resolve(host, port)
        check(host, port, addresses, self._allow)
        return await self._first_that_answers(request, host, addresses)

    async def _first_that_answers(self, request: httpx.Request, host: str, addresses: list[Address]) -> httpx.Response:
        failed: Exception = Unreachable(f"There is no host called {host!r}, or this machine is offline.")
        for address in addresses:
            pinned = httpx.Request(
                request.method,
                request.url.copy_with(host=str(address)),
                headers=request.headers,
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return await super().handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failed = error
        raise failed
