"""One address asked of a real server, and what the limits do."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address

import pytest
import trustme

from participants.web.addresses import Address, AllowList
from participants.web.client import USER_AGENT, Limits, Reply, get
from participants.web.errors import Refused, TooSlow, Unreachable, WebError
from tests.support.web_server import WebServer, break_off, endless, hang, trickle

LIMITS = Limits(seconds=10, max_bytes=1_000_000)
HERE = AllowList(["127.0.0.1"])


@pytest.fixture
async def site() -> AsyncIterator[WebServer]:
    async with WebServer() as server:
        yield server


async def ask(site: WebServer, path: str, limits: Limits = LIMITS) -> Reply:
    return await get(site.url + path, limits, allow=HERE)


async def test_a_page_comes_whole(site: WebServer) -> None:
    site.page("/", b"<p>Hi", "text/html; charset=utf-8", x_a="b")
    reply = await ask(site, "/")
    assert (reply.status, reply.body, reply.cut, reply.content_type) == (200, b"<p>Hi", "", "text/html")
    assert reply.headers["x-a"] == "b"


async def test_what_is_sent_says_little(site: WebServer) -> None:
    site.page("/", b"x", set_cookie="a=b")
    await ask(site, "/?q=%C3%B6")
    await ask(site, "/")
    first, second = site.requests
    assert first.target == "/?q=%C3%B6"
    assert second.headers == {
        "host": f"127.0.0.1:{site.port}",
        "user-agent": USER_AGENT,
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "connection": "close",
    }


async def test_no_proxy_of_the_environment_is_asked(site: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    site.page("/", b"direct")
    assert (await ask(site, "/")).body == b"direct"


async def test_an_endless_page_is_cut(site: WebServer) -> None:
    site.raw("/", endless)
    reply = await ask(site, "/")
    assert (len(reply.body), reply.cut) == (1_000_000, "it is longer than 1,000,000 bytes")


async def test_a_packed_bomb_is_cut(site: WebServer) -> None:
    site.page("/", gzip.compress(bytes(300_000_000), 1), "text/html", content_encoding="gzip")
    reply = await ask(site, "/")
    assert (len(reply.body), reply.cut) == (1_000_000, "it is longer than 1,000,000 bytes")


async def test_a_page_that_never_ends_is_cut_in_time(site: WebServer) -> None:
    site.raw("/", trickle)
    reply = await ask(site, "/", Limits(seconds=0.4, max_bytes=1000))
    assert (reply.body, reply.cut) == (b"The first sentence.", "it did not end within 0.4 s")


async def test_a_page_that_breaks_off_is_what_came(site: WebServer) -> None:
    site.raw("/", break_off)
    reply = await ask(site, "/")
    assert (reply.body, reply.cut) == (b"The first sentence.", "the connection broke")


async def test_a_server_that_never_answers(site: WebServer) -> None:
    site.raw("/", hang)
    with pytest.raises(TooSlow, match=rf"127.0.0.1:{site.port} did not answer within 0.3 s"):
        await ask(site, "/", Limits(seconds=0.3, max_bytes=1000))


async def test_a_server_that_is_not_there(site: WebServer) -> None:
    await site.stop()
    with pytest.raises(Unreachable, match="could not be reached"):
        await ask(site, "/")


async def no_http(_asked: object, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mail.example ESMTP\r\n")


async def test_a_server_of_another_kind(site: WebServer) -> None:
    site.raw("/", no_http)
    with pytest.raises(Unreachable):
        await ask(site, "/")


@pytest.mark.parametrize(("encoding", "body"), [("gzip", b"no gzip"), ("gzip, gzip", b""), ("br", b"x")])
async def test_a_body_that_cannot_be_unpacked(site: WebServer, encoding: str, body: bytes) -> None:
    site.page("/", body, content_encoding=encoding)
    with pytest.raises(WebError, match=r"unpacked|not asked for"):
        await ask(site, "/")


async def test_a_loopback_address_is_refused_unless_allowed(site: WebServer) -> None:
    site.page("/", b"secret")
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "127.1", "0"):
        with pytest.raises(Refused):
            await get(f"http://{host}:{site.port}/", LIMITS, allow=AllowList())
    assert site.requests == []


class Names:
    """A name server that gives one answer after another, as one does that wants to be taken for somebody else."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, _port: int) -> list[Address]:
        self.asked.append(host)
        return [ip_address(text) for text in self.answers.pop(0).split()]


async def test_a_name_is_looked_up_once_and_that_address_is_used(site: WebServer) -> None:
    site.page("/", b"here")
    names = Names("127.0.0.1", "10.0.0.1")
    url = f"http://public.example:{site.port}/"
    reply = await get(url, LIMITS, allow=HERE, resolve=names)
    assert (reply.body, names.asked) == (b"here", ["public.example"])
    assert site.requests[0].headers["host"] == f"public.example:{site.port}"


@pytest.mark.parametrize("answer", ["127.0.0.1", "8.8.8.8 127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254"])
async def test_a_public_name_of_an_inner_address_is_refused(site: WebServer, answer: str) -> None:
    site.page("/", b"secret")
    with pytest.raises(Refused):
        await get(f"http://public.example:{site.port}/", LIMITS, allow=AllowList(), resolve=Names(answer))
    assert site.requests == []


async def test_the_next_address_is_tried_where_one_does_not_answer(site: WebServer) -> None:
    site.page("/", b"second")
    allow = AllowList(["127.0.0.0/8"])
    reply = await get(f"http://public.example:{site.port}/", LIMITS, allow=allow, resolve=Names("127.0.0.9 127.0.0.1"))
    assert reply.body == b"second"


@pytest.fixture
async def https(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    """A site that proves to be public.example, to whom trusts its certificate."""
    authority = trustme.CA()
    context, trusting = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("public.example").configure_cert(context)
    authority.configure_trust(trusting)
    monkeypatch.setattr("participants.web.transport.tls", lambda: trusting)
    async with WebServer(context) as server:
        server.page("/", b"proved")
        yield server


async def test_a_certificate_is_checked_for_the_name_and_not_for_the_address(https: WebServer) -> None:
    here = Names("127.0.0.1", "127.0.0.1")
    reply = await get(f"https://public.example:{https.port}/", LIMITS, allow=HERE, resolve=here)
    assert reply.body == b"proved"
    assert https.requests[0].headers["host"] == f"public.example:{https.port}"
    with pytest.raises(Unreachable, match="could not be reached"):
        await get(f"https://other.example:{https.port}/", LIMITS, allow=HERE, resolve=here)
    with pytest.raises(Unreachable, match="could not be reached"):
        await get(f"https://127.0.0.1:{https.port}/", LIMITS, allow=HERE)
    assert len(https.requests) == 1


async def test_a_certificate_that_nobody_vouches_for_is_refused(
    https: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    with pytest.raises(Unreachable):
        await get(f"https://public.example:{https.port}/", LIMITS, allow=HERE, resolve=Names("127.0.0.1"))


async def test_a_name_without_any_address() -> None:
    with pytest.raises(Unreachable, match=r"no host called 'public\.example'"):
        await get("http://public.example/", LIMITS, allow=HERE, resolve=Names(""))
