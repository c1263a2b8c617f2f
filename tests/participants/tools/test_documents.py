"""search_library, against a library that is played."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.envelope import Envelope, TurnRef
from bus.errors import RequestFailed
from bus.messages.control import Presence
from bus.messages.library import Passage, PassagesFound, SearchDocuments
from bus.messages.tool import ToolCall, ToolResult
from participants.tools.citations import numbered, place_of, readable, sources
from participants.tools.documents import SearchLibraryTool
from tests.participants.tools.calling import ANN, BOB, Calling, calling
from tests.support.stage import Heard, Stage, presence, stage

__all__ = ["stage"]


def passage(number: int, owner: str = "ann", **fields: Any) -> Passage:
    values = {
        "passage_id": f"p{number}",
        "document_id": "d1",
        "title": "lease.pdf",
        "text": f"Text {number}.",
        **fields,
    }
    return Passage(owner=owner, **values)


@pytest.fixture
async def search() -> AsyncIterator[Calling]:
    async with calling(SearchLibraryTool) as scene:
        scene.service.serve(SearchDocuments, PassagesFound(passages=[]))
        yield scene


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, "lease.pdf"),
        ({"page": 3}, "lease.pdf, page 3"),
        ({"page": 3, "heading": "Notice\nperiods"}, "lease.pdf, page 3, Notice periods"),
        ({"heading": "Notice", "title": "a\tb.md"}, "a b.md, Notice"),
    ],
)
def test_a_passage_says_where_it_stands(fields: dict[str, Any], place: str) -> None:
    assert place_of(passage(1, **fields)) == place


def test_passages_are_numbered_and_their_sources_in_the_same_order() -> None:
    found = [passage(1, page=3, collection="flat"), passage(2, text=" long " * 50)]
    assert (
        numbered(found, 20)
        == f"[1] lease.pdf, page 3\nText 1.\n\n[2] lease.pdf\n{(' long ' * 50).strip()[:20]} [cut here]"
    )
    assert [source["passage_id"] for source in sources(found)] == ["p1", "p2"]
    assert sources(found)[0] == {
        "title": "lease.pdf, page 3",
        "url": "",
        "document_id": "d1",
        "passage_id": "p1",
        "collection": "flat",
        "page": 3,
        "position": 0,
    }


def test_each_passage_is_read_once_and_anothers_never() -> None:
    mixed = [passage(1), passage(2, owner="bob"), passage(3, owner=""), passage(1)]
    assert [each.passage_id for each in readable(mixed, "ann")] == ["p1", "p3"]


async def test_a_search_is_made_for_the_user_whose_turn_it_is(search: Calling) -> None:
    search.service.serve(SearchDocuments, PassagesFound(passages=[passage(1), passage(2, owner="bob")]))
    assert await search.said(ANN, query="notice", user_id="bob") == "[1] lease.pdf\nText 1."
    assert await search.said(BOB, query="notice", collection="flat") == "[1] lease.pdf\nText 2."
    assert search.service.asked == [
        (SearchDocuments(query="notice", limit=5), ANN),
        (SearchDocuments(query="notice", collection="flat", limit=5), BOB),
    ]


async def test_nothing_found_is_an_answer_and_a_missing_collection_is_said(search: Calling) -> None:
    assert await search.said(query="notice") == "The library holds nothing about that."
    search.service.serve(SearchDocuments, RequestFailed("not_found", "There is no collection 'flat'."))
    assert await search.failure(query="notice", collection="flat") == "There is no collection 'flat'."


async def test_more_than_was_asked_for_is_not_told(search: Calling) -> None:
    search.service.serve(SearchDocuments, PassagesFound(passages=[passage(n) for n in range(40)]))
    result = await search.call(query="notice")
    assert (result.result.count("lease.pdf"), len(result.sources)) == (5, 5)


@pytest.mark.parametrize("args", [{}, {"query": " "}, {"query": 5}, {"query": "x", "collection": ["flat"]}])
async def test_what_is_no_query_is_not_sent(search: Calling, args: dict[str, Any]) -> None:
    assert "expected text" in await search.failure(**args)
    assert search.service.asked == []


async def test_what_it_finds_counts_as_content_from_outside(search: Calling) -> None:
    schema = await search.schemas.first(lambda m: m.tool == "search_library")
    assert (schema.policies.untrusted, schema.policies.needs) == (True, ["document_store"])


async def test_as_a_process_it_asks_the_library_for_each_user_alone(stage: Stage) -> None:
    """The real bus, with a library that answers whoever asks, and is away at first."""
    await stage.start("bus.proxy")
    caller = await stage.client("caller")
    here, results = Heard(), Heard()
    caller.on(Presence, here)
    caller.on(ToolResult, results)
    await stage.start("participants.tools.documents")
    await here.first(presence("documents"))

    async def answer(_wish: SearchDocuments, request: Envelope) -> PassagesFound:
        return PassagesFound(passages=[passage(1, owner=request.user_id, text=f"For {request.user_id}.")])

    for user in ("ann", "bob"):
        call = ToolCall(tool="search_library", call_id=user, args={"query": "notice"})
        caller.publish(call, turn=TurnRef("s1", user, "q1"))
    library = await stage.client("document_store")
    library.serve(SearchDocuments, answer)
    for user in ("ann", "bob"):
        result = await results.first(lambda m, user=user: m.call_id == user)
        assert result.result == f"[1] lease.pdf\nFor {user}."
