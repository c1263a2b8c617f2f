"""Does plain HTTP on this machine behave as httpx's own transport does?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from participants.backend.loopback import LoopbackTransport

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n"


class Server:
    """Answers each request with the next of its answers, and says which connections ended."""

    def __init__(self, *answers: bytes) -> None:
        self._answers = list(answers)
        self.connections = 0
        self.bodies: list[bytes] = []
        self.asked, self.left = asyncio.Event(), asyncio.Event()
        self.running: set[asyncio.Task[None]] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A connection has come."""
        self.connections += 1
        self.running.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; a lone `b""` closes it before an answer."""
        while (head := await until_blank_line(reader)) and self._answers:
            length = int(head.lower().rpartition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            self.bodies.append(await reader.readexactly(length))
            self.asked.set()
            answer = self._answers.pop(0)
            writer.write(answer)
            if answer == b"" or b"close" in answer:
                break
        self.left.set()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def until_blank_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""


@asynccontextmanager
async def served(server: Server, timeout_s: float = 5.0) -> AsyncIterator[httpx.AsyncClient]:
    """A client of that server."""
    listener = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    async with listener, httpx.AsyncClient(base_url=url, timeout=timeout_s, transport=LoopbackTransport()) as client:
        yield client
    await asyncio.gather(*server.running)


async def test_one_connection_serves_one_request_after_the_other() -> None:
    server = Server(OK, CHUNKED + b"0\r\n\r\n", OK)
    async with served(server) as client:
        for body in (b"", b"x" * 300_000, b"{}"):
            assert (await client.post("/api/chat", content=body)).text == "hi"
    assert (server.connections, [len(body) for body in server.bodies]) == (1, [0, 300_000, 2])


async def test_requests_side_by_side_have_their_own_connections() -> None:
    server = Server(OK, OK, OK)
    async with served(server) as client:
        async with client.stream("POST", "/", content=b"1"), client.stream("POST", "/", content=b"2"):
            assert server.connections == 2
        assert (await client.post("/")).text == "hi"


async def test_pieces_come_as_they_are_sent() -> None:
    async with served(Server(CHUNKED)) as client, client.stream("POST", "/") as response:
        assert await anext(response.aiter_bytes()) == b"hi"


async def test_a_response_that_is_left_closes_its_connection() -> None:
    server = Server(CHUNKED, OK)
    async with served(server) as client:
        async with client.stream("POST", "/") as response:
            assert response.status_code == 200
        async with asyncio.timeout(5):
            await server.left.wait()
        assert (await client.post("/")).text == "hi"
    assert server.connections == 2


async def test_a_request_that_is_cancelled_closes_its_connection() -> None:
    server = Server(b"HTTP/1.1 200 OK\r\n")
    async with served(server) as client:
        waiting = asyncio.create_task(client.post("/"))
        await server.asked.wait()
        waiting.cancel()
        async with asyncio.timeout(5):
            await server.left.wait()


@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi",
        b"HTTP/1.0 200 OK\r\nx: close\r\n\r\nhi",
    ],
    ids=["said", "until it closes"],
)
async def test_a_server_that_closes_is_connected_anew(first: bytes) -> None:
    server = Server(first, OK)
    async with served(server) as client:
        assert [(await client.post("/")).text for _ in range(2)] == ["hi", "hi"]
    assert server.connections == 2


async def test_what_comes_before_the_answer_is_passed_over() -> None:
    async with served(Server(b"HTTP/1.1 100 Continue\r\n\r\n" + OK)) as client:
        assert (await client.post("/")).status_code == 200


async def test_status_headers_and_encoding_are_httpx_s() -> None:
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=latin-1\r\nContent-Length: 1\r\n\r\n\xfc"
    async with served(Server(answer)) as client:
        response = await client.post("/")
    assert (response.status_code, response.text, response.headers["content-type"][:10]) == (404, "ü", "text/plain")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\xff" * 50 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nx: close\r\n\r\nhi",
        b"a" * 300_000,
    ],
    ids=["nothing", "garbage", "half a body", "endless head"],
)
async def test_a_broken_server_is_an_error_of_httpx(answer: bytes) -> None:
    async with served(Server(answer)) as client:
        with pytest.raises(httpx.TransportError):
            await client.post("/")


async def test_silence_ends_within_its_limit() -> None:
    async with served(Server(CHUNKED), timeout_s=0.05) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/")


async def test_nobody_there_is_a_connect_error() -> None:
    async with served(Server()) as client:
        url = client.base_url
    async with httpx.AsyncClient(base_url=url, transport=LoopbackTransport()) as client:
        with pytest.raises(httpx.ConnectError):
            await client.post("/")
