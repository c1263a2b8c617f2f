"""Where the user is: as set, as looked up, or how to set it."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import msgspec
import pytest

from bus.config import SystemConfig, convert, load
from bus.errors import ConfigError
from bus.testing import MemoryBus
from participants.tools.base import ToolFailed
from participants.tools.location.tool import LocationConfig, LocationTool

LYON = b'{"success": true, "city": "Lyon", "country": "France", "timezone": {"id": "Europe/Paris"}}'
FOUND = "Lyon, France; time zone Europe/Paris (roughly, from the network address: it may be wrong)"


class Provider:
    """A web server that answers what a test says."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, "", LYON
        self.asked = 0
        self.silent = False
        self.port = 0
        self.writers: list[asyncio.StreamWriter] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked += 1
        self.writers.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        if not self.silent:
            head = (
                f"HTTP/1.1 {self.status} X\r\nContent-Length: {len(self.body)}\r\nConnection: close\r\n{self.headers}"
            )
            writer.write(head.encode() + b"\r\n" + self.body)
            await writer.drain()
            writer.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    provider = Provider()
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    provider.port = server.sockets[0].getsockname()[1]
    yield provider
    server.close()
    for writer in provider.writers:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


Make = Callable[..., Awaitable[LocationTool]]


@pytest.fixture
def make() -> Make:
    async def made(**settings: Any) -> LocationTool:
        config = msgspec.structs.replace(load("location", LocationConfig), **settings)
        tool = LocationTool(config, MemoryBus().make("location"), SystemConfig(id="system"))
        await tool.setup()
        return tool

    return made


async def failure(tool: LocationTool) -> str:
    with pytest.raises(ToolFailed) as caught:
        await tool.run_call({})
    return str(caught.value)


async def test_without_a_place_it_says_how_to_set_one_and_asks_nobody(make: Make, provider: Provider) -> None:
    words = await failure(await make(provider_url=provider.url))
    assert "set `place` in the settings under location" in words
    assert provider.asked == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"place": "Lyon", "country": "France"}, "Lyon, France (as the user has set it)"),
        ({"place": "Lyon\n\n 3e "}, "Lyon 3e (as the user has set it)"),
        ({"latitude": 45.75, "longitude": 4.85}, "latitude 45.75, longitude 4.85 (as the user has set it)"),
        ({"place": "Home", "timezone": "Europe/Paris"}, "Home; time zone Europe/Paris (as the user has set it)"),
    ],
)
async def test_what_the_user_has_set_wins_over_any_lookup(
    make: Make, provider: Provider, settings: dict[str, Any], words: str
) -> None:
    tool = await make(ip_lookup=True, provider_url=provider.url, **settings)
    assert await tool.run_call({"place": "Paris", "ip_lookup": True}) == words
    assert provider.asked == 0


@pytest.mark.parametrize("settings", [{"latitude": 45.75}, {"timezone": "Europe/Paris"}, {"place": " \n"}])
async def test_half_a_place_is_none(make: Make, settings: dict[str, Any]) -> None:
    assert "is not set" in await failure(await make(**settings))


async def test_a_lookup_is_made_once_and_kept(make: Make, provider: Provider) -> None:
    tool = await make(ip_lookup=True, provider_url=provider.url)
    assert await asyncio.gather(*[tool.run_call({}) for _ in range(4)]) == [FOUND] * 4
    assert provider.asked == 1


async def test_nothing_is_kept_for_longer_than_the_settings_say(make: Make, provider: Provider) -> None:
    tool = await make(ip_lookup=True, provider_url=provider.url, cache_s=0.0)
    await tool.run_call({})
    await tool.run_call({})
    assert provider.asked == 2


async def test_a_lookup_that_is_turned_off_leaves_nothing_behind(make: Make, provider: Provider) -> None:
    tool = await make(ip_lookup=True, provider_url=provider.url)
    await tool.run_call({})
    before, tool.config = tool.config, msgspec.structs.replace(tool.config, ip_lookup=False)
    tool.reconfigured(before)
    assert "is not set" in await failure(tool)
    tool.config = before
    await tool.run_call({})
    assert provider.asked == 2


@pytest.mark.parametrize(
    ("status", "headers", "body", "words"),
    [
        (429, "", b"", "wants fewer questions"),
        (403, "", LYON, "answered with status 403"),
        (500, "", b"<html>", "answered with status 500"),
        (302, "Location: http://127.0.0.1:1/\r\n", b"", "answered with status 302"),
        (200, "", b"<html>Lyon</html>", "named no place"),
        (200, "", b"", "named no place"),
        (200, "", b"\xff\xfe", "named no place"),
        (200, "", b"[" * 50_000, "named no place"),
        (200, "", b'{"city": "' + b"x" * 200_000 + b'"}', "named no place"),
        (200, "", b'{"success": false, "message": "Lyon"}', "named no place"),
        (200, "Content-Encoding: gzip\r\n", LYON, "cannot be reached"),
        (200, "X: \x01\r\nnonsense\r\n", LYON, "cannot be reached"),
    ],
)
async def test_an_odd_answer_is_told_in_words_and_asked_for_again(
    make: Make, provider: Provider, status: int, headers: str, body: bytes, words: str
) -> None:
    provider.status, provider.headers, provider.body = status, headers, body
    tool = await make(ip_lookup=True, provider_url=provider.url)
    assert words in await failure(tool)
    provider.status, provider.headers, provider.body = 200, "", LYON
    assert await tool.run_call({}) == FOUND


async def test_a_provider_that_is_silent_or_away(make: Make, provider: Provider) -> None:
    provider.silent = True
    tool = await make(ip_lookup=True, provider_url=provider.url, lookup_s=0.05)
    assert "did not answer within 0.05 s" in await failure(tool)
    away = await make(ip_lookup=True, provider_url="http://127.0.0.1:1/")
    assert "cannot be reached" in await failure(away)


async def test_the_place_is_in_no_log(
    make: Make, provider: Provider, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    await (await make(ip_lookup=True, provider_url=provider.url)).run_call({})
    await (await make(place="Lyon")).run_call({})
    provider.body = b'{"city": "Lyon"'
    await failure(await make(ip_lookup=True, provider_url=provider.url))
    out = capfd.readouterr()
    assert "Lyon" not in out.out + out.err + caplog.text


@pytest.mark.parametrize(
    "url",
    [
        "http://ipwho.is/",
        "ftp://x/",
        "https:///",
        "https://",
        "file:///etc/passwd",
        "",
        "http://127.0.0.1.evil.example/",
        "http://localhost@evil.example/",
        "https://a b/",
    ],
)
def test_a_provider_without_encryption_is_refused(url: str) -> None:
    values = msgspec.to_builtins(load("location", LocationConfig))
    with pytest.raises(ConfigError, match="provider_url"):
        convert({**values, "provider_url": url}, LocationConfig, "location.yaml")


@pytest.mark.parametrize("settings", [{"latitude": 91.0}, {"longitude": -181}, {"place": 5}, {"ip_lookup": "yes"}])
def test_a_bad_setting_names_its_key(settings: dict[str, Any]) -> None:
    values = msgspec.to_builtins(load("location", LocationConfig))
    with pytest.raises(ConfigError, match=next(iter(settings))):
        convert({**values, **settings}, LocationConfig, "location.yaml")


def test_httpx_is_loaded_for_a_lookup_alone() -> None:
    script = "import sys, participants.tools.location.tool; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
