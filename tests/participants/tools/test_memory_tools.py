"""remember_this and search_memory, against a memory that is played."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.errors import RequestFailed
from bus.messages.control import Done
from bus.messages.memory import FactKept, MemoriesFound, Memory, RememberFact, SearchMemory
from participants.tools.remember_this import RememberThisTool
from participants.tools.search_memory import SearchMemoryTool, readable_of, told
from tests.participants.tools.calling import ANN, BOB, Calling, calling


def memory(number: int, user: str = "ann", **fields: Any) -> Memory:
    return Memory(**{"memory_id": f"m{number}", "user_id": user, "kind": "fact", "text": f"Fact {number}.", **fields})


@pytest.fixture
async def remember() -> AsyncIterator[Calling]:
    async with calling(RememberThisTool) as scene:
        scene.service.serve(RememberFact, FactKept(fact_id="f1", fact="The user's sister is Nora."))
        yield scene


@pytest.fixture
async def search() -> AsyncIterator[Calling]:
    async with calling(SearchMemoryTool) as scene:
        scene.service.serve(SearchMemory, MemoriesFound(memories=[]))
        yield scene


# ---------------------------------------------------------------------- remember_this


async def test_a_fact_is_kept_for_the_user_whose_turn_it_is(remember: Calling) -> None:
    text = await remember.said(BOB, fact=" Nora is my sister ", reason="asked", user_id="ann", session_id="s1")
    assert text == "Remembered: The user's sister is Nora."
    assert remember.service.asked == [(RememberFact(fact="Nora is my sister", reason="asked"), BOB)]


async def test_a_fact_that_was_known_is_said_to_be(remember: Calling) -> None:
    remember.service.serve(RememberFact, FactKept(fact_id="f1", fact="Nora is a sister.", merged=True))
    assert await remember.said(fact="Nora is my sister") == "This was known already: Nora is a sister."
    assert remember.service.asked[0][0] == RememberFact(fact="Nora is my sister")


@pytest.mark.parametrize(
    "args", [{}, {"fact": "  "}, {"fact": 5}, {"fact": "x" * 1001}, {"fact": "x", "reason": ["y"]}]
)
async def test_what_is_no_fact_is_not_sent(remember: Calling, args: dict[str, Any]) -> None:
    assert await remember.failure(**args)
    assert remember.service.asked == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (RequestFailed("storage", "The disk is full: free some space."), "The disk is full: free some space."),
        (Done(), "The memory does not answer now. Go on without it, and tell the user."),
    ],
)
async def test_a_memory_that_cannot_keep_it_is_said(remember: Calling, answer: Any, words: str) -> None:
    remember.service.serve(RememberFact, answer)
    assert await remember.failure(fact="x") == words


async def test_what_it_risks_stands_in_its_schema(remember: Calling) -> None:
    schema = await remember.schemas.first(lambda m: m.tool == "remember_this")
    policies = schema.policies
    assert (policies.risk, policies.idempotent, policies.needs) == ("write", False, ["memory_store"])
    assert [(confirm.when, confirm.after_untrusted) for confirm in policies.confirm] == [({}, True)]


# ---------------------------------------------------------------------- search_memory


def test_memories_are_numbered_with_their_kind_and_day() -> None:
    found = told(
        [
            memory(1, created_at="2026-11-02T10:00:00Z", text="Nora\nis  a sister."),
            memory(2, kind="engram", text="x" * 120, session_id="s9", query_id="q9"),
        ],
        100,
        "ann",
    )
    assert not found.untrusted
    assert found.text.splitlines() == [
        "[1] (fact, 2026-11-02) Nora is a sister.",
        f"[2] (engram) {'x' * 100} [cut here]",
    ]
    assert found.sources[0]["title"] == "Nora is a sister."
    assert found.sources[1] == {
        "title": f"{'x' * 80}…",
        "url": "",
        "memory_id": "m2",
        "session_id": "s9",
        "query_id": "q9",
    }


def test_another_users_memory_is_dropped_whatever_the_store_gives_unless_it_is_shared() -> None:
    mixed = [memory(1), memory(2, user="bob"), memory(3, user=""), memory(4), memory(5, user="bob", shared=True)]
    assert [each.memory_id for each in readable_of(mixed, "ann")] == ["m1", "m4", "m5"]


@pytest.mark.parametrize(
    ("found", "mark"),
    [
        (memory(1, untrusted=True), "(may be from a page or a document; not something that the user said)"),
        (memory(1, user="bob", shared=True), "(shared by another user; not something that this user said)"),
    ],
)
async def test_what_the_user_never_said_is_told_with_a_mark_and_as_content_from_outside(
    search: Calling, found: Memory, mark: str
) -> None:
    search.service.serve(SearchMemory, MemoriesFound(memories=[memory(2), found]))
    result = await search.call(query="fact")
    assert result.result.splitlines() == ["[1] (fact) Fact 2.", f"[2] (fact) Fact 1. {mark}"]
    assert result.untrusted
    search.service.serve(SearchMemory, MemoriesFound(memories=[memory(2)]))
    assert not (await search.call(query="fact")).untrusted


async def test_a_search_is_made_for_the_user_whose_turn_it_is(search: Calling) -> None:
    search.service.serve(SearchMemory, MemoriesFound(memories=[memory(1), memory(2, user="bob")]))
    assert await search.said(ANN, query="sister", user_id="bob") == "[1] (fact) Fact 1."
    assert await search.said(BOB, query="sister", user_id="ann") == "[1] (fact) Fact 2."
    asked = SearchMemory(query="sister", limit=8)
    assert search.service.asked == [(asked, ANN), (asked, BOB)]


async def test_no_memory_is_an_answer(search: Calling) -> None:
    assert await search.said(query="sister") == "Nothing about that is remembered."


async def test_more_than_was_asked_for_is_not_told(search: Calling) -> None:
    search.service.serve(SearchMemory, MemoriesFound(memories=[memory(n) for n in range(40)]))
    result = await search.call(query="sister")
    assert (len(result.result.splitlines()), len(result.sources)) == (8, 8)


@pytest.mark.parametrize("args", [{}, {"query": ""}, {"query": {}}, {"query": "x" * 501}])
async def test_what_is_no_query_is_not_sent(search: Calling, args: dict[str, Any]) -> None:
    assert (await search.failure(**args)).startswith("query: ")
    assert search.service.asked == []
