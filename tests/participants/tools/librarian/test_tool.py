"""consult_librarian, with a library that is played and the scripted model server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from bus.errors import RequestFailed
from bus.messages.generation import BackendInfo, GeneratorStatus, GetStatus, RoleInfo
from bus.messages.library import Passage, PassagesFound, SearchDocuments
from participants.tools.librarian.tool import LibraryAgentTool
from tests.participants.tools.calling import ANN, BOB, Calling, calling
from tests.support.scripted_ollama import Say, ScriptedOllama, Status

PLAN = Say('{"queries": ["notice period", "termination"]}')


def passage(number: int, owner: str = "ann") -> Passage:
    return Passage(
        passage_id=f"p{number}", document_id="d1", title="lease.pdf", owner=owner, text=f"Text {number}.", page=number
    )


FOUND = PassagesFound(passages=[passage(1), passage(2), passage(3, owner="bob")])
PLAIN = "[1] lease.pdf, page 1\nText 1.\n\n[2] lease.pdf, page 2\nText 2."


@pytest.fixture
async def model() -> AsyncIterator[ScriptedOllama]:
    async with ScriptedOllama() as server:
        yield server


@pytest.fixture
async def scene(model: ScriptedOllama) -> AsyncIterator[Calling]:
    async with calling(LibraryAgentTool) as scene:
        scene.service.serve(GetStatus, status(model.url))
        scene.service.serve(SearchDocuments, FOUND)
        yield scene


def status(url: str, *, demo: bool = False) -> GeneratorStatus:
    return GeneratorStatus(
        backend=BackendInfo(kind="ollama", url=url, demo=demo),
        roles=[RoleInfo(role="default", model="scripted", available=True)],
        models=[],
        tools=[],
        turns={},
        options={"num_ctx": 8192},
    )


def searches(scene: Calling) -> list[str]:
    return [message.query for message, _turn in scene.service.asked if isinstance(message, SearchDocuments)]


async def test_it_searches_several_times_and_sums_up_with_sources(scene: Calling, model: ScriptedOllama) -> None:
    model.reply(PLAN)
    model.reply(Say("Three months [1], not six [2]. See [8]."))
    result = await scene.call(question="How long is the notice?")
    assert result.result == (
        "Three months [1], not six [2]. See .\n\nSources:\n[1] lease.pdf, page 1\n[2] lease.pdf, page 2"
    )
    assert [source["passage_id"] for source in result.sources] == ["p1", "p2"]
    assert searches(scene) == ["How long is the notice?", "notice period", "termination"]
    asked = [request.body["messages"][-1]["content"] for request in model.requests if request.path == "/api/chat"]
    assert asked == ["How long is the notice?", f"Passages:\n\n{PLAIN}\n\nQuestion: How long is the notice?"]


async def test_each_search_is_made_for_the_user_whose_turn_it_is(scene: Calling, model: ScriptedOllama) -> None:
    model.reply(PLAN)
    model.reply(Say("It says so [1]."))
    text = await scene.said(BOB, question="How long?", collection="flat", user_id="ann")
    assert text.endswith("Sources:\n[1] lease.pdf, page 3")
    turns = [turn for message, turn in scene.service.asked if isinstance(message, SearchDocuments)]
    assert turns == [BOB] * 3
    assert "Text 1" not in str([request.body for request in model.requests])


@pytest.mark.parametrize(
    ("planned", "summed", "queries", "text"),
    [
        (Status(500, "boom"), Say("So it is [1]."), 1, "So it is [1]."),
        (Say("I cannot plan."), Say("So it is [1]."), 1, "So it is [1]."),
        (PLAN, Status(500, "boom"), 3, PLAIN),
        (PLAN, Say('{"name": "search_library"}'), 3, PLAIN),
        (PLAN, Say("<think>hm"), 3, PLAIN),
        (Status(500, "boom"), Status(500, "boom"), 1, PLAIN),
    ],
)
async def test_a_model_that_fails_costs_the_summary_alone(
    scene: Calling, model: ScriptedOllama, planned: Any, summed: Any, queries: int, text: str
) -> None:
    model.reply(planned)
    model.reply(summed)
    assert (await scene.said(question="How long?")).startswith(text)
    assert len(searches(scene)) == queries


@pytest.mark.parametrize("answer", [status("", demo=False), status("http://127.0.0.1:1", demo=True)])
async def test_without_a_good_model_it_gives_the_passages(
    scene: Calling, model: ScriptedOllama, answer: GeneratorStatus
) -> None:
    scene.service.serve(GetStatus, answer)
    assert await scene.said(question="How long?") == PLAIN
    assert (searches(scene), model.requests) == (["How long?"], [])


async def test_nothing_found_says_what_was_searched_and_asks_no_summary(scene: Calling, model: ScriptedOllama) -> None:
    model.reply(PLAN)
    scene.service.serve(SearchDocuments, PassagesFound(passages=[passage(3, owner="bob")]))
    text = await scene.said(ANN, question="How long?")
    assert text == "The library holds nothing about that. Searched for: How long?; notice period; termination"
    assert len(model.requests) == 1


async def test_a_library_that_refuses_is_said(scene: Calling, model: ScriptedOllama) -> None:
    scene.service.serve(SearchDocuments, RequestFailed("not_found", "There is no collection 'x'."))
    assert await scene.failure(question="How long?", collection="x") == "There is no collection 'x'."


@pytest.mark.parametrize("args", [{}, {"question": ""}, {"question": 5}, {"question": "x" * 1001}])
async def test_what_is_no_question_reaches_nobody(scene: Calling, args: dict[str, Any]) -> None:
    assert (await scene.failure(**args)).startswith("question: ")
    assert scene.service.asked == []
