"""Does the scripted model server speak Ollama's protocol to its official client, and are its faults real?"""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import pytest
from ollama import AsyncClient, ChatResponse, ResponseError
from pydantic import ValidationError

from tests.support.scripted_ollama import (
    BadJson,
    Call,
    Default,
    Done,
    DoneLoad,
    Drop,
    ErrorLine,
    Hang,
    Line,
    NoDone,
    Order,
    RawCall,
    Reply,
    Say,
    ScriptedOllama,
    SplitBytes,
    Status,
    Think,
    Wait,
)

ROOT = Path(__file__).parents[2]
TOOL = {"type": "function", "function": {"name": "get_datetime", "parameters": {"type": "object", "properties": {}}}}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as server:
        yield server


@pytest.fixture
async def client(server: ScriptedOllama) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(server.url) as client:
        yield client


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


async def stream(client: AsyncClient, text: str = "hi", **options: Any) -> AsyncGenerator[ChatResponse]:
    options = {"model": "scripted", "messages": user(text)} | options
    return cast("AsyncGenerator[ChatResponse]", await client.chat(stream=True, **options))


async def chunks(client: AsyncClient, text: str = "hi", **options: Any) -> list[ChatResponse]:
    return [part async for part in await stream(client, text, **options)]


def text_of(parts: list[ChatResponse]) -> list[str]:
    return [part.message.content for part in parts if part.message.content]


class TestWithoutScript:
    async def test_it_repeats_what_was_said_in_word_chunks(self, client: AsyncClient) -> None:
        parts = await chunks(client, "good  morning")
        assert text_of(parts) == ["You", " said:", " good", "  morning"]
        last = parts[-1]
        assert (last.done, last.done_reason, last.prompt_eval_count, last.eval_count) == (True, "stop", 2, 4)

    async def test_one_object_when_not_streaming(self, client: AsyncClient) -> None:
        answer = await client.chat("scripted", user("hello"))
        assert (answer.message.content, answer.done) == ("You said: hello", True)

    async def test_it_calls_the_named_tool_and_quotes_the_result(self, client: AsyncClient) -> None:
        asked = user('use get_datetime {"tz": "Europe/Paris"} please')
        first = (await client.chat("scripted", asked, tools=[TOOL])).message
        assert first.tool_calls
        assert first.tool_calls[0].function.name == "get_datetime"
        assert first.tool_calls[0].function.arguments == {"tz": "Europe/Paris"}
        result = {"role": "tool", "tool_name": "get_datetime", "content": "12:00"}
        second = await client.chat("scripted", [*asked, first, result], tools=[TOOL])
        assert second.message.content == "get_datetime answered: 12:00"

    @pytest.mark.parametrize("said", ["use rm {}", "Let us use get_datetime", "useful"])
    async def test_other_words_call_no_tool(self, client: AsyncClient, said: str) -> None:
        assert (await client.chat("scripted", user(said), tools=[TOOL])).message.content == f"You said: {said}"

    async def test_a_tool_without_readable_arguments_is_called_with_none(self, client: AsyncClient) -> None:
        call = (await client.chat("scripted", user("use get_datetime [1"), tools=[TOOL])).message.tool_calls
        assert call
        assert call[0].function.arguments == {}

    async def test_generate(self, client: AsyncClient) -> None:
        parts = [part async for part in await client.generate("scripted", "hello", stream=True)]
        assert [part.response for part in parts] == ["You", " said:", " hello", ""]
        assert (await client.generate("scripted", "hello")).response == "You said: hello"

    async def test_loading_and_unloading(self, client: AsyncClient) -> None:
        assert (await client.chat("scripted", [])).done_reason == "load"
        assert [model.model for model in (await client.ps()).models] == ["scripted"]
        assert (await client.generate("scripted", keep_alive=0)).done_reason == "unload"
        assert (await client.ps()).models == []

    async def test_near_texts_have_near_vectors(self, client: AsyncClient) -> None:
        texts = ["the cat sat", "The cat slept", "rain tomorrow"]
        sat, slept, rain = (await client.embed("embed-384d", texts)).embeddings
        assert {len(sat), len(slept), len(rain)} == {384}
        assert sum(a * b for a, b in zip(sat, slept, strict=True)) > 0.5
        assert abs(sum(a * b for a, b in zip(sat, rain, strict=True))) < 0.3
        assert (await client.embeddings("embed-384d", texts[0])).embedding == sat

    async def test_the_models_it_tells_of(self, client: AsyncClient) -> None:
        assert "scripted:latest" in [model.model for model in (await client.list()).models]
        assert (await client.show("scripted")).capabilities == ["completion", "tools", "thinking"]
        assert (await client.show("a-nothink-notools")).capabilities == ["completion"]
        assert (await client.show("embed")).capabilities == ["embedding"]

    @pytest.mark.parametrize(
        ("options", "status", "message"),
        [
            ({"model": "missing"}, 404, "model 'missing' not found"),
            ({"model": "nothink", "think": True}, 400, '"nothink" does not support thinking'),
            ({"model": "notools", "tools": [TOOL]}, 400, "library/notools:latest does not support tools"),
            ({"model": "embed"}, 400, '"embed" does not support chat'),
        ],
    )
    async def test_what_a_model_refuses(
        self, client: AsyncClient, options: dict[str, Any], status: int, message: str
    ) -> None:
        with pytest.raises(ResponseError, match=message) as refused:
            await chunks(client, **options)
        assert refused.value.status_code == status

    async def test_what_a_model_lacks_may_be_switched_off(self, client: AsyncClient) -> None:
        assert text_of(await chunks(client, model="nothink-notools", think=False, tools=[]))

    async def test_pulling_shows_progress_and_installs(self, client: AsyncClient) -> None:
        progress = [part async for part in await client.pull("new:1b", stream=True)]
        assert progress[0].status == "pulling manifest"
        assert [part.completed for part in progress if part.total] == [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]
        assert progress[-1].status == "success"
        assert "new:1b" in [model.model for model in (await client.list()).models]
        with pytest.raises(ResponseError, match="file does not exist"):
            await client.pull("missing")

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "answer"),
        [
            ("GET", "/", "", 200, "Ollama is running"),
            ("HEAD", "/", "", 200, ""),
            ("GET", "/api/version", "", 200, '{"version": "0.12.6"}'),
            ("GET", "/api/other", "", 404, "404 page not found"),
            ("POST", "/api/chat", "", 400, '{"error": "missing request body"}'),
            ("POST", "/api/chat", "{}", 400, '{"error": "model is required"}'),
        ],
    )
    async def test_plain_requests(
        self, server: ScriptedOllama, method: str, path: str, body: str, status: int, answer: str
    ) -> None:
        async with httpx.AsyncClient(base_url=server.url) as web:
            response = await web.request(method, path, content=body)
        assert (response.status_code, response.text) == (status, answer)


class TestScript:
    async def test_thinking_text_and_calls(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Think(["h", "m"]), Say("Let me look."), Call("a", {"x": 1}), Call("b", id="call_2"))
        parts = await chunks(client)
        assert [part.message.thinking for part in parts[:2]] == ["h", "m"]
        assert parts[2].message.content == "Let me look."
        calls = [call.function for part in parts for call in part.message.tool_calls or []]
        assert [(call.name, call.arguments) for call in calls] == [("a", {"x": 1}), ("b", {})]
        assert parts[-1].done_reason == "stop"

    async def test_the_same_in_one_object(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Think(["h", "m"]), Say(["a", "b"]), Call("a"), Call("b"), Done("length", 7, 9))
        answer = await client.chat("scripted", user("hi"))
        assert (answer.message.thinking, answer.message.content) == ("hm", "ab")
        assert [call.function.name for call in answer.message.tool_calls or []] == ["a", "b"]
        assert (answer.done_reason, answer.prompt_eval_count, answer.eval_count) == ("length", 7, 9)

    async def test_generate_takes_the_same_script(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Think("hm"), Say(["a", "b"]))
        answer = await client.generate("scripted", "hi")
        assert (answer.thinking, answer.response) == ("hm", "ab")

    async def test_who_gets_which_reply(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Say("for the other model"), model="other")
        server.reply(Say("for greetings"), match=r"^hello\b")
        server.reply(Say("for long ones"), match=lambda said: len(said) > 20)
        server.reply(Say("twice"), times=2)
        said = ["Hello you", "x", "y", "x" * 21, "z"]
        answers = [text_of(await chunks(client, text))[0] for text in said]
        assert answers == ["for greetings", "twice", "twice", "for long ones", "You"]
        assert text_of(await chunks(client, model="other")) == ["for the other model"]

    async def test_always(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Say("again"), times=None)
        assert [text_of(await chunks(client)) for _ in range(3)] == [["again"]] * 3
        server.reset()
        assert text_of(await chunks(client))[0] == "You"

    async def test_a_pause_lasts_until_it_is_released(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Say("a"), Wait("more"), Default())
        parts = await stream(client)
        assert (await anext(parts)).message.content == "a"
        await server.reached("more")
        server.release("more")
        assert text_of([part async for part in parts]) == ["You", " said:", " hi"]

    async def test_one_slot_makes_the_others_wait(self) -> None:
        async with ScriptedOllama(slots=1) as server, AsyncClient(server.url) as client:
            server.reply(Say("a"), Hang(), match="first")
            first = await stream(client, "first")
            await anext(first)
            second = asyncio.create_task(chunks(client, "second"))
            held = await server.next_request()
            await server.next_request()
            assert not second.done()
            await first.aclose()
            assert text_of(await second)[-1] == " second"
            assert held.closed.is_set()

    async def test_other_endpoints_take_faults_and_lines(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Status(500, "disk on fire"), path="/api/tags")
        server.reply(Line({"models": []}), path="/api/tags")
        with pytest.raises(ResponseError, match="disk on fire"):
            await client.list()
        server.reply(Wait("later"), path="/api/embed")
        embedding = asyncio.create_task(client.embed("embed", "a"))
        await server.reached("later")
        server.release("later")
        assert (await embedding).embeddings

    def test_an_order_that_no_server_could_send_is_refused(self) -> None:
        with pytest.raises(ValueError, match="nothing can follow Hang"):
            Reply([Hang(), Say("a")])
        with pytest.raises(ValueError, match="before any text"):
            Reply([Say("a"), Status(500, "x")])
        with pytest.raises(ValueError, match="cannot answer '/api/tags'"):
            Reply([Say("a")], path="/api/tags")

    async def test_a_mistake_in_the_script_fails_the_test(self) -> None:
        with pytest.raises(ExceptionGroup, match="could not be played"):
            await _play_a_mistake()


class TestFaults:
    @pytest.mark.parametrize("arguments", ['{"query":"x"}', "", None, [1]])
    async def test_raw_arguments_go_out_as_they_are(self, server: ScriptedOllama, arguments: object) -> None:
        server.reply(RawCall("f", arguments))
        async with httpx.AsyncClient() as web:
            response = await web.post(f"{server.url}/api/chat", json={"model": "m", "messages": user("hi")})
        first = json.loads(response.text.splitlines()[0])
        assert first["message"]["tool_calls"][0]["function"] == {"index": 0, "name": "f", "arguments": arguments}

    async def test_the_official_client_stumbles_over_them(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(RawCall("f", "{}"))
        with pytest.raises(ValidationError):
            await chunks(client)

    async def test_a_status(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Status(503, "server busy"))
        with pytest.raises(ResponseError, match="server busy") as refused:
            await chunks(client)
        assert refused.value.status_code == 503

    async def test_an_error_line(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Say("Half"), ErrorLine("out of memory"), times=2)
        parts = await stream(client)
        assert (await anext(parts)).message.content == "Half"
        with pytest.raises(ResponseError, match="out of memory") as late:
            await anext(parts)
        assert late.value.status_code == -1
        with pytest.raises(ResponseError, match="out of memory") as whole:
            await client.chat("scripted", user("hi"))
        assert whole.value.status_code == 500

    @pytest.mark.parametrize(
        ("fault", "error"), [(Drop(), httpx.RemoteProtocolError), (Drop(reset=True), httpx.ReadError)]
    )
    async def test_the_connection_breaks(
        self, server: ScriptedOllama, client: AsyncClient, fault: Drop, error: type[Exception]
    ) -> None:
        server.reply(Say("Half"), Wait("read"), fault)
        parts = await stream(client)
        assert (await anext(parts)).message.content == "Half"
        server.release("read")
        with pytest.raises(error):
            await anext(parts)
        server.reply(fault)
        with pytest.raises(error):
            await chunks(client)
        assert text_of(await chunks(client))[0] == "You"

    async def test_bad_json(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Say("a"), BadJson(), Say("b"))
        with pytest.raises(json.JSONDecodeError):
            await chunks(client)

    async def test_endings(self, server: ScriptedOllama, client: AsyncClient) -> None:
        server.reply(Say("a"), NoDone())
        server.reply(DoneLoad())
        assert [part.done for part in await chunks(client)] == [False]
        loaded = await chunks(client)
        assert [(part.done_reason, part.eval_count) for part in loaded] == [("load", None)]

    @pytest.mark.parametrize("streaming", [True, False])
    async def test_every_byte_on_its_own(self, server: ScriptedOllama, streaming: bool) -> None:
        server.reply(SplitBytes(every=1), Say("день 日本 🙂"))
        body = {"model": "m", "messages": user("hi"), "stream": streaming}
        async with (
            httpx.AsyncClient() as web,
            web.stream("POST", f"{server.url}/api/chat", json=body) as response,
        ):
            pieces = [piece async for piece in response.aiter_raw()]
        assert streaming is ({len(piece) for piece in pieces} == {1})
        assert "день 日本 🙂".encode() in b"".join(pieces)

    async def test_a_cut_at_every_place(self, server: ScriptedOllama, client: AsyncClient) -> None:
        length = len(json.dumps({"a": "é🙂"}, ensure_ascii=False, separators=(",", ":")).encode())
        body = {"model": "m", "messages": user("hi")}
        async with httpx.AsyncClient() as web:
            for at in range(1, length):
                server.reply(SplitBytes(at=[at]), Line({"a": "é🙂"}), NoDone())
                async with web.stream("POST", f"{server.url}/api/chat", json=body) as response:
                    pieces = [piece async for piece in response.aiter_raw()]
                assert [len(piece) for piece in pieces] == [at, length + 1 - at]


class TestRequests:
    async def test_what_was_asked_is_recorded(self, server: ScriptedOllama, client: AsyncClient) -> None:
        await client.list()
        await chunks(client, "one", tools=[TOOL], options={"num_ctx": 512})
        await chunks(client, "two")
        first = await server.next_request("/api/chat")
        assert (first.method, first.path, first.model, first.said) == ("POST", "/api/chat", "scripted", "one")
        assert first.tools == ["get_datetime"]
        assert first.body["options"] == {"num_ctx": 512}
        assert (await server.next_request("/api/chat")).said == "two"
        assert [request.path for request in server.requests] == ["/api/tags", "/api/chat", "/api/chat"]
        assert first.finished.is_set()
        assert first.closed_at is None

    async def test_waiting_for_a_request(self, server: ScriptedOllama, client: AsyncClient) -> None:
        waiting = asyncio.create_task(server.next_request("/api/chat"))
        await chunks(client, "one")
        assert (await waiting).said == "one"
        with pytest.raises(TimeoutError):
            await server.next_request("/api/chat", within_s=0)

    @pytest.mark.parametrize("steps", [(Say("a"), Hang()), (Say(["a", "b"]), Wait("never"))])
    async def test_a_client_that_hangs_up_is_noticed(
        self, server: ScriptedOllama, client: AsyncClient, steps: tuple[Any, ...]
    ) -> None:
        server.reply(*steps)
        parts = await stream(client)
        await anext(parts)
        request = await server.next_request()
        assert not request.closed.is_set()
        await parts.aclose()
        await asyncio.wait_for(request.closed.wait(), 5)
        assert request.closed_at
        assert request.closed_at > request.at
        await request.finished.wait()

    async def test_a_client_that_hangs_up_while_text_flows(self, server: ScriptedOllama) -> None:
        server.reply(Say(["x" * 4096] * 20_000))
        reader, writer = await _ask(server)
        await reader.readuntil(b"x")
        request = await server.next_request()
        writer.transport.abort()
        await asyncio.wait_for(request.closed.wait(), 5)

    async def test_stopping_cuts_open_streams_and_refuses_new_ones(
        self, server: ScriptedOllama, client: AsyncClient
    ) -> None:
        server.reply(Say("a"), Hang())
        parts = await stream(client)
        await anext(parts)
        await server.stop()
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await anext(parts)
        with pytest.raises(httpx.ConnectError):
            await chunks(client)

    async def test_it_comes_back_on_the_same_port(self, client: AsyncClient, server: ScriptedOllama) -> None:
        await server.stop()
        async with server:
            assert text_of(await chunks(client))


class TestRawSockets:
    async def test_several_requests_on_one_connection(self, server: ScriptedOllama) -> None:
        reader, writer = await _ask(server)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"200" in head.splitlines()[0]
        assert b"application/x-ndjson" in head
        assert b"chunked" in head
        await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).endswith(b"Ollama is running")
        writer.close()

    async def test_a_dropped_stream_has_no_last_chunk(self, server: ScriptedOllama) -> None:
        server.reply(Say("Half"), Drop())
        reader, writer = await _ask(server)
        received = await reader.read()
        assert b"Half" in received
        assert not received.endswith(b"0\r\n\r\n")
        writer.close()

    async def test_a_drop_before_anything_was_sent(self, server: ScriptedOllama) -> None:
        server.reply(Drop())
        reader, writer = await _ask(server)
        assert await reader.read() == b""
        writer.close()

    async def test_a_reset(self, server: ScriptedOllama) -> None:
        server.reply(Drop(reset=True))
        reader, writer = await _ask(server)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()

    async def test_no_head_before_the_model_says_something(self, server: ScriptedOllama) -> None:
        server.reply(Wait("loaded"), Say("a"))
        reader, writer = await _ask(server)
        await server.reached("loaded")
        reading = asyncio.create_task(reader.read(1))
        await asyncio.wait({reading}, timeout=0)
        assert not reading.done()
        server.release("loaded")
        assert await reading == b"H"
        writer.close()

    async def test_what_is_no_http_ends_the_connection(self, server: ScriptedOllama) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        assert server.requests == []


class TestOverHttp:
    async def test_a_process_is_steered_and_watched(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.support.scripted_ollama", "--port", "0", "--model", "m:1b"),
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        assert process.stdout
        try:
            url = json.loads(await process.stdout.readline())["url"]
            async with httpx.AsyncClient(base_url=url) as web, AsyncClient(url) as client:
                await _steer(web, client)
        finally:
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0

    async def test_a_mistake_names_the_field(self, server: ScriptedOllama) -> None:
        wrong = {"replies": [{"steps": [{"do": "say", "txt": "a"}]}]}
        async with httpx.AsyncClient(base_url=server.url) as web:
            response = await web.post("/_script", json=wrong)
            assert response.status_code == 400
            assert "txt" in response.json()["error"]
            assert (await web.post("/_script", content=b"{")).status_code == 400
            assert (await web.get("/_closed/7")).status_code == 400
            assert (await web.get("/_other")).status_code == 404

    def test_the_json_form_is_the_script_itself(self) -> None:
        steps = [Say(["a"]), Think("b"), RawCall("f", ""), Wait("w"), SplitBytes(at=[3]), DoneLoad()]
        order = Order(replies=[Reply(list(steps), match="x", times=None)], release=["w"])
        assert msgspec.json.decode(msgspec.json.encode(order), type=Order) == order
        assert msgspec.json.encode(steps[2]) == b'{"do":"raw_call","name":"f","arguments":""}'


async def _play_a_mistake() -> None:
    async with ScriptedOllama() as server, httpx.AsyncClient() as web:
        server.reply(Call("a"))
        with pytest.raises(httpx.RemoteProtocolError):
            await web.post(f"{server.url}/api/generate", json={"model": "m", "prompt": "p"})


async def _steer(web: httpx.AsyncClient, client: AsyncClient) -> None:
    steps = [{"do": "say", "text": ["a", "b"]}, {"do": "wait", "name": "w"}, {"do": "hang"}]
    await web.post("/_script", json={"replies": [{"match": "hang", "steps": steps}]})
    parts = await stream(client, "please hang")
    assert [(await anext(parts)).message.content for _ in "ab"] == ["a", "b"]
    assert (await web.get("/_reached/w", params={"wait_s": 5})).json() == {"reached": True}
    await web.post("/_script", json={"release": ["w"]})
    asked = (await web.get("/_requests", params={"path": "/api/chat", "wait_s": 5})).json()
    assert [request["body"]["messages"] for request in asked] == [user("please hang")]
    assert (await web.get("/_closed/0")).json()["closed_at"] is None
    await parts.aclose()
    assert (await web.get("/_closed/0", params={"wait_s": 5})).json()["closed_at"] > asked[0]["at"]
    assert [model.model for model in (await client.list()).models] == ["m:1b"]
    assert (await web.get("/_requests", params={"since": 2})).json() == []


async def _ask(server: ScriptedOllama) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    body = json.dumps({"model": "m", "messages": user("hi")}).encode()
    writer.write(b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return reader, writer
