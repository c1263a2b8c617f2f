"""What a SearXNG's answers mean, each of its faults told apart from having found nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from participants.tools.base import Found, ToolFailed
from participants.tools.web_search.results import Result, merged, told
from participants.tools.web_search.tool import WebSearchTool
from tests.support.web_server import WebServer, hang

Search = Callable[..., Any]
GOOD = {
    "query": "tides",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://a.example/tides",
            "title": "Tides &amp; <b>moons</b>",
            "content": "Twice a day\nthe sea&#39;s level  rises.",
            "engine": "e1",
            "publishedDate": "2026-02-03T00:00:00",
        },
        {"url": "https://www.a.example/tides/", "title": "Again", "content": "Short.", "publishedDate": None},
        {"url": "https://b.example/?x=<y>", "title": "", "content": None},
    ],
    "answers": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [],
}


@pytest.fixture
def search(make_tool: Callable[..., Any], site: WebServer) -> Search:
    async def call(query: str = "tides", **args: Any) -> Found:
        changes = args.pop("changes", {})
        return await make_tool(WebSearchTool, **{"url": site.url, **changes}).run_call({"query": query, **args})

    return call


async def failure(call: Any) -> str:
    with pytest.raises(ToolFailed) as caught:
        await call
    return str(caught.value)


async def test_results_are_numbered_with_their_sources(site: WebServer, search: Search) -> None:
    site.json("/search", GOOD)
    found = await search()
    assert found.text == (
        "2 results for 'tides'. Read a page with web_fetch before you rely on it.\n"
        "\n1. Tides & moons (2026-02-03)\nhttps://a.example/tides\nTwice a day the sea's level rises.\n"
        "\n2. https://b.example/?x=%3Cy%3E\nhttps://b.example/?x=%3Cy%3E"
    )
    assert [source["url"] for source in found.sources] == ["https://a.example/tides", "https://b.example/?x=%3Cy%3E"]


async def test_what_is_asked(site: WebServer, search: Search) -> None:
    site.json("/search", GOOD)
    await search("  rain &\nboots ", time_range="week", changes={"language": "de", "safe_search": "strict"})
    asked = site.requests[0]
    assert asked.query == {
        "q": "rain & boots", "format": "json", "language": "de", "safesearch": "2", "time_range": "week"
    }  # fmt: skip
    assert "cookie" not in asked.headers


@pytest.mark.parametrize(("asked", "configured", "count"), [(None, 6, 6), (2, 6, 2), (20, 6, 6), (None, 1, 1)])
async def test_there_are_no_more_than_wanted(
    site: WebServer, search: Search, asked: int | None, configured: int, count: int
) -> None:
    many = [{"url": f"https://a.example/{n}", "title": f"t{n}", "content": "c"} for n in range(30)]
    site.json("/search", {"results": many})
    found = await search(**({"max_results": asked} if asked else {}), changes={"max_results": configured})
    assert len(found.sources) == count


async def test_odd_results_are_left_out_or_mended(site: WebServer, search: Search) -> None:
    odd: list[Any] = [
        {"url": "https://a.example", "title": None},
        {"title": "t", "content": "c"},
        {"url": "javascript:alert(1)", "title": "x", "content": ""},
        {"url": "data:text/html,x", "title": "x"},
        {"url": "//b.example", "title": "x"},
        {"url": 7, "title": "x"},
        {"url": "https://c.example", "title": ["x"], "content": {"a": 1}, "publishedDate": 5},
        None,
        "text",
        [],
    ]
    site.json("/search", {"results": odd, "answers": None, "infoboxes": 5, "unresponsive_engines": {"a": 1}})
    found = await search()
    assert [source["url"] for source in found.sources] == ["https://a.example", "https://c.example"]
    assert "None" not in found.text
    assert "javascript" not in found.text


async def test_infoboxes_and_direct_answers(site: WebServer, search: Search) -> None:
    box = {"infobox": "Tide", "id": "https://w.example/Tide", "content": "Rise and fall.", "urls": []}
    linked = {"infobox": "Moon", "id": None, "urls": [None, {"url": "x"}, {"url": "https://w.example/Moon"}]}
    for boxes, answers in [([box], ["42 m"]), ([linked], [{"answer": "42 m"}, None, 5])]:
        site.json("/search", {"results": [], "infoboxes": boxes, "answers": answers})
    first, second = await search(), await search()
    assert "Note: a direct answer: 42 m." in first.text
    assert "1. Tide\nhttps://w.example/Tide\nRise and fall." in first.text
    assert "Note: a direct answer: 42 m." in second.text
    assert second.sources == [{"title": "Moon", "url": "https://w.example/Moon"}]


async def test_nothing_found_is_an_answer(site: WebServer, search: Search) -> None:
    site.json("/search", {"results": []})
    assert (await search("xyzzy")).text == "No results for 'xyzzy'. Try fewer or other words."


async def test_some_silent_engines_are_noted(site: WebServer, search: Search) -> None:
    site.json("/search", {**GOOD, "unresponsive_engines": [["e2", "timeout"], ["e3", "CAPTCHA"]]})
    assert "Note: some search engines did not answer: e2: timeout; e3: CAPTCHA." in (await search()).text


async def test_engines_that_are_all_silent_are_a_failure(site: WebServer, search: Search) -> None:
    silent = [["e1", "Suspended: too many requests"], ["e2", "timeout"], "e3", None]
    site.json("/search", {"results": [], "unresponsive_engines": silent})
    said = await failure(search())
    assert "None of its search engines answered (e1: Suspended: too many requests; e2: timeout; e3)" in said


SETTING = "`search.formats: [html, json]`"


@pytest.mark.parametrize(
    ("status", "body", "content_type", "headers", "words"),
    [
        (403, b"<html>Forbidden", "text/html", {}, ["refuses JSON (403)", SETTING, "local2 searxng up"]),
        (200, b"<!doctype html><p>Results", "text/html", {}, ["a web page instead", SETTING, "local2 searxng up"]),
        (200, b" <html>", "application/json", {}, ["a web page instead", SETTING]),
        (429, b"", "text/html", {}, ["wants fewer requests (429)", "later"]),
        (429, b"", "", {"retry_after": "30"}, ["wants fewer requests (429)", "to wait 30 s"]),
        (
            301,
            b"",
            "",
            {"location": "https://s.example/"},
            ["redirects to https://s.example/", "url in web_search.yaml"],
        ),
        (302, b"", "", {"location": "javascript:x"}, ["redirects to elsewhere"]),
        (404, b"", "", {}, ["answered 404", "in web_search.yaml"]),
        (500, b"oops", "text/plain", {}, ["a fault of its own (500)"]),
        (503, b"", "", {}, ["a fault of its own (503)"]),
        (200, b"{", "application/json", {}, ["no JSON"]),
        (200, b"", "application/json", {}, ["no JSON"]),
        (200, b"\xff\xfe\x00", "application/json", {}, ["no JSON"]),
        (200, b"[" * 100_000, "application/json", {}, ["no JSON"]),
        (200, b"[]", "application/json", {}, ["JSON without results"]),
        (200, b"null", "application/json", {}, ["JSON without results"]),
        (200, b'{"error": "x"}', "application/json", {}, ["JSON without results"]),
    ],
)
async def test_each_fault_has_its_own_words(
    site: WebServer,
    search: Search,
    status: int,
    body: bytes,
    content_type: str,
    headers: dict[str, str],
    words: list[str],
) -> None:
    site.page("/search", body, content_type, status=status, **headers)
    said = await failure(search())
    assert said.startswith("The search failed; this does not mean that there is nothing to find. SearXNG at http://127")
    assert [each for each in words if each not in said] == []


async def test_a_searxng_that_does_not_answer(site: WebServer, search: Search) -> None:
    site.raw("/search", hang)
    assert "did not answer within 0.3 s. Try again" in await failure(search(changes={"timeout_s": 0.3}))


async def test_a_searxng_that_is_not_there(site: WebServer, search: Search) -> None:
    await site.stop()
    said = await failure(search())
    assert "cannot be reached. Start one with `local2 searxng up`" in said


async def test_without_a_searxng_it_says_how_to_get_one(search: Search) -> None:
    assert "`local2 searxng up` starts one" in await failure(search(changes={"url": ""}))


async def test_words_are_needed(search: Search) -> None:
    assert "expected words" in await failure(search(" \u200b\n"))


def test_of_one_page_found_twice_the_longer_snippet_stays() -> None:
    first = Result(title="A", url="http://a.example/x/", snippet="short")
    again = Result(title="B", url="https://www.A.example/x", snippet="much longer", date="2026")
    other = Result(title="C", url="https://a.example/x?y")
    assert merged([first, again, other], 5) == [
        Result(title="A", url="http://a.example/x/", snippet="much longer", date="2026"),
        other,
    ]


def test_a_hostile_title_is_one_line_of_text() -> None:
    found = told("q", [Result(title="1. [x](javascript:y)", url="https://a.example")], [])
    assert found.text.count("\n") == 3
