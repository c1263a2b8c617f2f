"""What is remembered, over REST, with the store as it is, SQLite and Chroma; texts are as near as they share words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.config import SystemConfig
from bus.envelope import TurnRef
from bus.messages.control import Backend, BackendRequest, Done
from bus.messages.memory import KeepEngram, Memory
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.service import MemoryService
from tests.gateway.conftest import Stage
from tests.support.scripted_ollama import ScriptedOllama

_READY_S = 30.0
LINES = {"content-type": "application/x-ndjson"}
JSON = {"content-type": "application/json"}


class Shelf:
    """The routes of one store."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        stage.generator.bus.serve(BackendRequest, lambda _message, _envelope: Backend(state="absent"))

    async def open(self, *, collective: bool = False) -> None:
        """Start the store."""
        self.service = MemoryService(
            MemoryStoreConfig(id="memory", collective=collective),
            self._stage.memory.make("memory_store"),
            SystemConfig(id="system"),
        )
        self._run = asyncio.create_task(self.service.run())
        await self.service.bus.wait_ready(_READY_S)

    async def close(self) -> None:
        """Stop it."""
        self.service.stop()
        await self._run

    async def restart(self, *, collective: bool = False) -> None:
        """Another process on the same files."""
        await self.close()
        await self.open(collective=collective)

    async def call(self, method: str, path: str = "", user: str = "ann", **options: Any) -> Any:
        """A request that is answered with 2xx: its JSON."""
        answer = await self.raw(method, path, user, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content and "json" in answer.headers["content-type"] else answer

    async def raw(self, method: str, path: str = "", user: str = "ann", **options: Any) -> Any:
        """A request and its answer."""
        mark = "&" if "?" in path else "?"
        return await self._stage.http(method, f"/api/memory{path}{mark}user_id={user}", timeout=_READY_S, **options)

    async def pin(self, fact: str, user: str = "ann") -> str:
        """The id of a new fact."""
        return (await self.call("POST", "/facts", user, json={"fact": fact, "reason": "It was said."}))["fact_id"]

    async def keep(self, query_id: str, text: str, user: str = "ann", session_id: str = "s1") -> None:
        """Remember a turn."""
        engram = Memory(memory_id="", user_id="", kind="engram", text=text, query=text, intent="fact")
        turn = TurnRef(session_id, user, query_id)
        await self._stage.ledger.bus.request(KeepEngram(engram=engram), Done, turn=turn, timeout_s=_READY_S)

    async def texts(self, path: str = "", user: str = "ann") -> list[str]:
        """What a list holds."""
        return [memory["text"] for memory in (await self.call("GET", path, user))["memories"]]

    async def exported(self, user: str = "ann") -> bytes:
        """All of a user, as it is carried away."""
        return (await self.raw("GET", "/export", user)).content


@pytest.fixture
async def shelf(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shelf]:
    """A store that runs."""
    async with ScriptedOllama(models=("scripted-embed:latest",)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.setenv("LOCAL2_MODELS__EMBEDDING", "scripted-embed")
        shelf = Shelf(stage)
        await shelf.open()
        yield shelf
        await shelf.close()


async def test_a_fact_is_pinned_listed_edited_and_deleted(shelf):
    fact_id = await shelf.pin("Ann lives in Oslo.")
    (fact,) = (await shelf.call("GET"))["memories"]
    assert (fact["memory_id"], fact["kind"], fact["text"]) == (fact_id, "fact", "Ann lives in Oslo.")
    assert (fact["reason"], fact["own"], fact["shared"]) == ("It was said.", True, False)
    assert "user_id" not in fact
    edited = await shelf.call("PATCH", f"/{fact_id}", json={"text": "Ann lives in Bergen."})
    assert (edited["memory_id"], edited["text"]) == (fact_id, "Ann lives in Bergen.")
    assert (await shelf.raw("DELETE", f"/{fact_id}")).status_code == 204
    assert await shelf.call("GET") == {"memories": [], "next": "", "total": 0}


async def test_what_is_remembered_is_found_by_meaning(shelf):
    await shelf.keep("q1", "The garden shed has a green door.")
    await shelf.keep("q2", "The invoice is due on Friday.")
    assert (await shelf.texts("/search?q=when%20is%20the%20invoice%20due"))[0] == "The invoice is due on Friday."


async def test_pages_hold_everything_once(shelf):
    for number in range(7):
        await shelf.keep(f"q{number}", f"Thing {number} is a thing of its own kind.")
    seen, page = [], await shelf.call("GET", "?limit=3")
    seen += page["memories"]
    while page["next"]:
        page = await shelf.call("GET", f"?limit=3&before={page['next']}")
        seen += page["memories"]
    assert sorted(memory["query_id"] for memory in seen) == [f"q{number}" for number in range(7)]


async def test_lists_can_be_narrowed_to_a_kind_and_to_words(shelf):
    await shelf.pin("Ann plays the cello.")
    await shelf.keep("q1", "The cello needs new strings.")
    await shelf.keep("q2", "Bread is baked at 230 degrees.")
    assert await shelf.texts("?kind=fact") == ["Ann plays the cello."]
    assert sorted(await shelf.texts("?text=cello")) == ["Ann plays the cello.", "The cello needs new strings."]


async def test_some_are_looked_up_without_those_that_are_gone(shelf):
    kept, gone = await shelf.pin("Ann plays the cello."), await shelf.pin("The wifi is called Kestrel.")
    await shelf.call("DELETE", f"/{gone}")
    found = await shelf.call("GET", f"/items?id={kept}&id={gone}&id=nonsense")
    assert [memory["memory_id"] for memory in found["memories"]] == [kept]


async def test_an_export_is_whole_and_can_be_taken_in_elsewhere(shelf):
    await shelf.pin("Ann plays the cello.")
    await shelf.keep("q1", "Bread is baked at 230 degrees.")
    lines = await shelf.exported()
    texts = sorted(json.loads(line)["text"] for line in lines.splitlines())
    assert texts == ["Ann plays the cello.", "Bread is baked at 230 degrees."]
    assert await shelf.call("POST", "/import", "carl", content=lines, headers=LINES) == {"added": 2, "known": 0}
    assert await shelf.call("POST", "/import", "carl", content=lines, headers=LINES) == {"added": 0, "known": 2}
    assert sorted(await shelf.texts("", "carl")) == texts


async def test_deleted_means_gone_also_after_a_restart(shelf):
    fact_id = await shelf.pin("The wifi is called Kestrel.")
    await shelf.keep("q1", "The door code is 4417.")
    await shelf.call("DELETE", f"/{fact_id}")
    await shelf.restart()
    assert b"Kestrel" not in await shelf.exported()
    assert "Kestrel" not in str(await shelf.texts("/search?q=wifi"))
    await shelf.call("DELETE")
    await shelf.restart()
    assert await shelf.exported() == b""
    assert await shelf.texts("/search?q=door") == []


async def test_nothing_of_one_user_reaches_another_by_any_route(shelf):
    fact_id = await shelf.pin("Ann keeps a spare key under the blue pot.")
    await shelf.keep("q1", "Ann's passport number is X1234567.")
    engram_id = (await shelf.call("GET", "?kind=engram"))["memories"][0]["memory_id"]
    for _life in range(2):
        for path in ("", "?kind=fact", "?text=key", "/search?q=spare%20key", f"/items?id={fact_id}&id={engram_id}"):
            assert await shelf.texts(path, "bob") == []
        assert await shelf.exported("bob") == b""
        for memory_id in (fact_id, engram_id):
            edit = await shelf.raw("PATCH", f"/{memory_id}", "bob", json={"text": "mine"})
            delete = await shelf.raw("DELETE", f"/{memory_id}", "bob")
            none = await shelf.raw("DELETE", "/nonsense", "bob")
            assert (edit.status_code, delete.status_code, none.status_code) == (404, 404, 404)
            assert delete.json() == none.json()
        assert (await shelf.raw("DELETE", "", "bob")).status_code == 204
        assert len(await shelf.texts()) == 2
        await shelf.restart()


async def test_an_import_names_its_user_in_vain(shelf):
    await shelf.pin("Ann plays the cello.")
    stolen = (await shelf.exported()).replace(b"cello", b"drums")
    await shelf.call("POST", "/import", "bob", content=stolen, headers=LINES)
    assert await shelf.texts() == ["Ann plays the cello."]
    assert await shelf.texts("", "bob") == ["Ann plays the drums."]


NO_KIND = b'{"memory_id": "a", "user_id": "", "kind": "nonsense", "text": "x"}'
BAD = [
    ("GET", "?kind=nonsense", {}),
    ("GET", "?limit=0", {}),
    ("GET", "?limit=many", {}),
    ("GET", "?before=nonsense", {}),
    ("GET", "?text=" + "x" * 501, {}),
    ("GET", "/search", {}),
    ("GET", "/search?q=", {}),
    ("GET", "/items", {}),
    ("POST", "/facts", {"json": {}}),
    ("POST", "/facts", {"json": {"fact": ""}}),
    ("POST", "/facts", {"json": {"fact": "   "}}),
    ("POST", "/facts", {"json": {"fact": "x" * 2001}}),
    ("POST", "/facts", {"content": b'{"fact": "\\ud800"}', "headers": JSON}),
    ("POST", "/facts", {"json": [1]}),
    ("PATCH", "/nonsense", {"json": {"text": "x"}}),
    ("PATCH", "/nonsense", {"json": {"text": ""}}),
    ("DELETE", "/nonsense", {}),
    ("DELETE", "/%00", {}),
    ("POST", "/import", {"content": b"{}"}),
    ("POST", "/facts", {"content": b"{}", "headers": LINES}),
    ("POST", "/import", {"content": b"not json", "headers": LINES}),
    ("POST", "/import", {"content": b'{"memory_id": 5}', "headers": LINES}),
    (
        "POST",
        "/import",
        {"content": b'{"memory_id": "a", "user_id": "", "kind": "nonsense", "text": "x"}', "headers": LINES},
    ),
    ("POST", "/import", {"content": b"\xff\xfe", "headers": LINES}),
    ("POST", "/import", {"content": b"[" * 100_000, "headers": LINES}),
    ("POST", "/import", {"content": b"x" * 2_000_000, "headers": LINES}),
]


@pytest.mark.parametrize(("method", "path", "options"), BAD, ids=lambda value: str(value)[:40])
async def test_bad_input_gets_words_and_changes_nothing(shelf, method, path, options):
    await shelf.pin("Ann plays the cello.")
    answer = await shelf.raw(method, path, **options)
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["error"]["message"]
    assert await shelf.texts() == ["Ann plays the cello."]


async def test_one_bad_line_and_nothing_is_taken_in(shelf):
    await shelf.pin("Ann plays the cello.")
    lines = await shelf.exported() + b"\n{}\n"
    answer = await shelf.raw("POST", "/import", "bob", content=lines, headers=LINES)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_request")
    assert "Line 3" in answer.json()["error"]["message"]
    assert await shelf.texts("", "bob") == []


async def test_how_it_does(shelf):
    await shelf.pin("Ann plays the cello.")
    await shelf.texts("/search?q=cello")
    status = await shelf.call("GET", "/status")
    assert (status["model"], status["write_enabled"], status["collective"]) == ("scripted-embed:latest", True, False)


async def test_what_others_share_is_not_ones_own_and_cannot_be_changed(shelf):
    fact_id = await shelf.pin("The printer wants a gentle push.")
    assert (await shelf.raw("PATCH", f"/{fact_id}", json={"shared": True})).status_code == 422
    await shelf.restart(collective=True)
    assert (await shelf.call("PATCH", f"/{fact_id}", json={"shared": True}))["own"] is True
    (found,) = (await shelf.call("GET", "/search?q=printer%20push", "bob"))["memories"]
    assert (found["text"], found["own"], found["shared"]) == ("The printer wants a gentle push.", False, True)
    assert (await shelf.call("GET", f"/items?id={fact_id}", "bob"))["memories"][0]["own"] is False
    assert (await shelf.call("GET", "", "bob"))["memories"] == []
    assert (await shelf.raw("DELETE", f"/{fact_id}", "bob")).status_code == 404
    assert (await shelf.raw("PATCH", f"/{fact_id}", "bob", json={"text": "mine"})).status_code == 404


async def test_a_store_that_is_away_is_named(stage):
    answer = await stage.http("GET", "/api/memory")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "memory_store_unavailable")
    assert answer.json()["error"]["message"].startswith("The memory does not answer.")
