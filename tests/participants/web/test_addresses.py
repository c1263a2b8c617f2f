"""Which addresses are connected to, and which never."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from participants.web.addresses import AllowList, check, literal, why_not
from participants.web.errors import Refused

NOBODY = AllowList()


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104  refused, not listened on
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.0.9",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "2001:10::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "3fff::1",
        "4000::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
    ],
)
def test_what_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(Refused, match="only public ones are connected to"):
        check("host.example", 80, [ip_address(address)], NOBODY)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1", "2606:4700::1111", "2a00:1450::1"]
)
def test_public_addresses_are_taken(address: str) -> None:
    assert why_not(ip_address(address)) == ""
    check("host.example", 443, [ip_address(address)], NOBODY)


def test_one_inner_address_among_public_ones_is_enough() -> None:
    with pytest.raises(Refused):
        check("host.example", 80, [ip_address("8.8.8.8"), ip_address("10.0.0.1")], NOBODY)


@pytest.mark.parametrize("port", [0, -1, 1, 22, 25, 53, 81, 445, 6379, 6667, 11211, 65536, 99999])
def test_ports_of_other_services_are_refused(port: int) -> None:
    with pytest.raises(Refused, match=r"[Pp]ort"):
        check("host.example", port, [ip_address("8.8.8.8")], NOBODY)


@pytest.mark.parametrize("port", [80, 443, 3000, 8000, 8080, 8443, 65535])
def test_ports_of_web_pages_are_taken(port: int) -> None:
    check("host.example", port, [ip_address("8.8.8.8")], NOBODY)


@pytest.mark.parametrize(
    ("entry", "host", "address", "port", "allowed"),
    [
        ("nas.local", "nas.local", "192.168.1.5", 80, True),
        ("NAS.local", "nas.local", "192.168.1.5", 8123, True),
        ("nas.local", "nas.local.", "192.168.1.5", 80, True),
        ("nas.local:8123", "nas.local", "192.168.1.5", 8123, True),
        ("nas.local:8123", "nas.local", "192.168.1.5", 80, False),
        ("nas.local", "evil-nas.local", "192.168.1.5", 80, False),
        ("nas.local", "nas.local.evil.example", "192.168.1.5", 80, False),
        ("192.168.1.5", "nas.local", "192.168.1.5", 22, True),
        ("192.168.1.5:80", "192.168.1.5", "192.168.1.5", 80, True),
        ("192.168.1.5:80", "192.168.1.5", "192.168.1.5", 8080, False),
        ("192.168.1.5", "192.168.1.6", "192.168.1.6", 80, False),
        ("10.0.0.0/8", "box", "10.200.0.1", 80, True),
        ("10.0.0.0/8", "box", "11.0.0.1", 80, True),
        ("10.0.0.0/8", "box", "192.168.1.1", 80, False),
        ("[fd00::1]:8080", "fd00::1", "fd00::1", 8080, True),
        ("[fd00::1]:8080", "fd00::1", "fd00::1", 80, False),
        ("fd00::/8", "fd00::2", "fd00::2", 80, True),
        ("127.0.0.1:80", "::ffff:127.0.0.1", "::ffff:127.0.0.1", 80, False),
    ],
)
def test_an_allow_list_means_what_it_says(entry: str, host: str, address: str, port: int, allowed: bool) -> None:
    refused = False
    try:
        check(host, port, [ip_address(address)], AllowList([entry]))
    except Refused:
        refused = True
    assert refused is not allowed


@pytest.mark.parametrize(
    "entry", ["", "http://nas.local", "nas.local:99999", "a b", "*", "*.local", "10.0.0", "0x7f.1"]
)
def test_a_slip_in_an_allow_list_is_said(entry: str) -> None:
    with pytest.raises(ValueError, match="expected a host"):
        AllowList([entry])


@pytest.mark.parametrize(
    "host", ["127.1", "1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.0.0.1.",
             "1.2.3", "0", "0x", "256.1.1.1", "127.0.0.01"],
)  # fmt: skip
def test_odd_notations_of_addresses_are_refused(host: str) -> None:
    with pytest.raises(Refused, match="unusual notation"):
        literal(host)


@pytest.mark.parametrize(
    "host", ["", "a b", "%31.0.0.1", "a/b", "a\\b", "é.example", "a..b", ".", "x" * 64, "a." * 200]
)
def test_what_is_no_host_name_is_refused(host: str) -> None:
    with pytest.raises(Refused, match="no host name"):
        literal(host)


@pytest.mark.parametrize(
    "host", ["example.com", "a_b.example", "xn--exmple-cua.com", "1.example", "example.com.", "0x.de"]
)
def test_names_are_names(host: str) -> None:
    assert literal(host) is None
