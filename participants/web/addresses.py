"""Which addresses may a tool connect to?

A page decides where its links and redirects lead, and a model follows them. So nothing but public addresses is
connected to, unless the user's own allow-list names it: the router, the cloud's metadata service and the programs
on this machine all answer whoever can reach them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from participants.web.errors import Refused

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Written out, since what `is_global` says differs between Python 3.11 and 3.13.
_NOT_PUBLIC: dict[Network, str] = {
    ip_network(network): name
    for network, name in {
        "0.0.0.0/8": "this machine's",
        "10.0.0.0/8": "a private",
        "100.64.0.0/10": "a provider-internal",
        "127.0.0.0/8": "a loopback",
        "169.254.0.0/16": "a link-local",
        "172.16.0.0/12": "a private",
        "192.0.0.0/24": "a reserved",
        "192.0.2.0/24": "a documentation",
        "192.88.99.0/24": "a relay",
        "192.168.0.0/16": "a private",
        "198.18.0.0/15": "a benchmark",
        "198.51.100.0/24": "a documentation",
        "203.0.113.0/24": "a documentation",
        "224.0.0.0/4": "a multicast",
        "240.0.0.0/4": "a reserved",
        "::/128": "this machine's",
        "::1/128": "a loopback",
        "::ffff:0:0/96": "an embedded IPv4",
        "64:ff9b::/96": "an embedded IPv4",
        "64:ff9b:1::/48": "an embedded IPv4",
        "2001::/32": "a tunnel",
        "2001::/23": "a reserved",
        "2001:db8::/32": "a documentation",
        "2002::/16": "a tunnel",
        "3fff::/20": "a documentation",
        "fc00::/7": "a private",
        "fe80::/10": "a link-local",
        "fec0::/10": "a private",
        "ff00::/8": "a multicast",
    }.items()
}
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]*))*")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?")

# Services that act on lines of text, so that a GET request could make them do something; browsers refuse these too.
_BAD_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6679, 6697, 10080, 11211}
    | set(range(6665, 6670))
)


class Allowed(NamedTuple):
    """One line of an allow-list: a name or a network, and a port where it holds for that one only."""

    name: str
    network: Network | None
    port: int | None


class AllowList:
    """The user's own hosts: `nas.local`, `192.168.1.5:8123`, `[fd00::1]:80`, `10.0.0.0/8`.

    Raises:
        ValueError: An entry is none of these; the text quotes it.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._allowed = [_parse(entry) for entry in entries]

    def names(self, host: str, port: int) -> bool:
        """Whether the user vouches for this name, wherever it leads."""
        return any(entry.name == host.rstrip(".") and entry.port in (None, port) for entry in self._allowed)

    def holds(self, address: Address, port: int) -> bool:
        """Whether the user vouches for this address."""
        return any(
            entry.network is not None and address in entry.network and entry.port in (None, port)
            for entry in self._allowed
        )


def _parse(entry: str) -> Allowed:
    text = entry.strip().lower()
    found = re.fullmatch(r"\[([^\]]+)\](?::(\d+))?|([^:]+):(\d+)|(.+)", text)
    host = (found and (found[1] or found[3] or found[5])) or ""
    port = int((found and (found[2] or found[4])) or 0)
    if found and port <= 65535:
        try:
            return Allowed("", ip_network(host, strict=False), port or None)
        except ValueError:
            if _HOST.fullmatch(host) and not _NUMERIC.fullmatch(host):
                return Allowed(host.rstrip("."), None, port or None)
    raise ValueError(f"expected a host, host:port, an address or a network such as 10.0.0.0/8, got {entry!r}")


ANYWHERE = AllowList(["0.0.0.0/0", "::/0"])
"""For addresses that the user's own yaml names, be they on this machine."""


def literal(host: str) -> Address | None:
    """`host` as the address that it spells, or None where it is a name.

    Raises:
        Refused: It is neither; also an address in a notation that programs read differently (0x7f.1, 2130706433).
    """
    try:
        return ip_address(host)
    except ValueError:
        pass
    if _NUMERIC.fullmatch(host.lower().rstrip(".")):
        raise Refused(f"{host!r} is an address in an unusual notation, and is not connected to.")
    if not _HOST.fullmatch(host.lower()) or len(host) > 253:
        raise Refused(f"{host[:80]!r} is no host name.")
    return None


def why_not(address: Address) -> str:
    """Of which kind an address is that is not public; empty for a public one."""
    if isinstance(address, IPv6Address) and address.scope_id:
        return "a link-local"
    for network, kind in _NOT_PUBLIC.items():
        if address in network:
            return kind
    public = isinstance(address, IPv4Address) or address in _GLOBAL_UNICAST
    return "" if public else "a reserved"


def check(host: str, port: int, addresses: Iterable[Address], allow: AllowList) -> None:
    """Whether `host` may be connected to at all of these addresses.

    Raises:
        Refused: One of them is not public and not allowed, or the port belongs to another kind of service.
    """
    if not 0 < port < 65536:
        raise Refused(f"There is no port {port}.")
    if allow.names(host, port):
        return
    for address in addresses:
        if allow.holds(address, port):
            continue
        kind = why_not(address)
        if kind:
            raise Refused(f"{host} is {kind} address, and only public ones are connected to.")
        if port in _BAD_PORTS or (port < 1024 and port not in (80, 443)):
            raise Refused(f"Port {port} is not one that web pages are served on.")
