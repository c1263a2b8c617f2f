"""search_papers against servers that answer, limit and fail as the real ones do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from participants.tools.base import Found, ToolFailed
from participants.tools.semantic_scholar.pace import Pace
from participants.tools.semantic_scholar.tool import SemanticScholarTool
from tests.support.web_server import WebServer, hang

SEARCH = "/graph/v1/paper/search"
PAPER = {
    "paperId": "abc",
    "url": "https://www.semanticscholar.org/paper/abc",
    "title": "Tides in <i>shallow</i> seas",
    "authors": [
        {"authorId": "1", "name": "A. Brook"},
        {"name": "C. Dale"},
        {"name": "E"},
        {"name": "F"},
        {"name": "G"},
    ],
    "year": 2021,
    "venue": "J. Sea",
    "abstract": "We measure &amp; model.",
    "tldr": {"text": "Short."},
    "citationCount": 0,
    "externalIds": {"DOI": "10.1/x", "ArXiv": "2101.00001"},
    "openAccessPdf": {"url": "https://x.example/p.pdf", "status": "GREEN"},
}
EMPTY = dict.fromkeys(PAPER)
FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title>{entries}</feed>"""
ENTRY = """<entry><id>http://arxiv.org/abs/2101.00001v2</id><published>2021-01-04T00:00:00Z</published>
<title>Tides in
  shallow seas</title><summary>  We measure &amp; model. </summary><author><name>A. Brook</name></author>
<arxiv:journal_ref xmlns:arxiv="http://arxiv.org/schemas/atom">J. Sea 4</arxiv:journal_ref>
<link title="pdf" href="http://arxiv.org/pdf/2101.00001v2" rel="related" type="application/pdf"/></entry>"""
ERROR = """<entry><id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title>
<summary>incorrect id format for 1</summary></entry>"""


class Library:
    """Both servers, and a tool that asks them."""

    def __init__(self, scholar: WebServer, arxiv: WebServer, make_tool: Callable[..., Any]) -> None:
        self.scholar, self.arxiv, self._make_tool = scholar, arxiv, make_tool

    def feed(self, *entries: str) -> None:
        self.arxiv.page("/api/query", FEED.format(entries="".join(entries)).encode(), "application/atom+xml")

    def tool(self, **changes: Any) -> SemanticScholarTool:
        urls = {"url": self.scholar.url, "arxiv_url": self.arxiv.url}
        tool = self._make_tool(SemanticScholarTool, **{**urls, "apart_s": 0.0, **changes})
        tool._pace = Pace()
        return tool

    async def find(self, query: str = "tides", **args: Any) -> Found:
        return await self.tool(**args.pop("changes", {})).run_call({"query": query, **args})

    async def failure(self, query: str = "tides", **args: Any) -> str:
        with pytest.raises(ToolFailed) as caught:
            await self.find(query, **args)
        return str(caught.value)


@pytest.fixture
async def library(
    site: WebServer, make_tool: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Library]:
    monkeypatch.delenv("S2_API_KEY", raising=False)
    async with WebServer() as arxiv:
        yield Library(site, arxiv, make_tool)


async def test_papers_are_told_with_their_sources(library: Library) -> None:
    library.scholar.json(SEARCH, {"total": 1, "offset": 0, "data": [PAPER]})
    found = await library.find(year="2019-2022", limit=3)
    assert found.text == (
        "1 papers for 'tides', from Semantic Scholar.\n"
        "\n1. Tides in shallow seas\nA. Brook, C. Dale, E and 2 others, J. Sea, 2021, cited 0 times\n"
        "arXiv:2101.00001, doi:10.1/x\nhttps://www.semanticscholar.org/paper/abc\nPDF: https://x.example/p.pdf\n"
        "We measure & model."
    )
    assert found.sources == [{"title": "Tides in shallow seas", "url": "https://www.semanticscholar.org/paper/abc"}]
    asked = library.scholar.requests[0]
    assert (asked.query["query"], asked.query["limit"], asked.query["year"]) == ("tides", "3", "2019-2022")
    assert "x-api-key" not in asked.headers


async def test_a_key_goes_into_its_header_alone(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("S2_API_KEY", "very-secret")
    library.scholar.json(SEARCH, {"data": [PAPER]})
    library.scholar.json(SEARCH, {"message": "Forbidden"}, status=403)
    await library.find()
    said = await library.failure()
    assert "Check the key in S2_API_KEY" in said
    first, second = library.scholar.requests
    assert (first.headers["x-api-key"], second.headers["x-api-key"]) == ("very-secret", "very-secret")
    assert "very-secret" not in said + first.target + "".join(capsys.readouterr())
    assert all("x-api-key" not in asked.headers for asked in library.arxiv.requests)


async def test_null_fields_are_left_out(library: Library) -> None:
    odd: list[Any] = [
        {**EMPTY, "title": "Only a title"},
        {**EMPTY, "title": "T", "externalIds": {"DOI": "10.1/y", "ArXiv": None}},
        {**EMPTY, "title": "U", "url": "javascript:x", "externalIds": {"ArXiv": "2101.2"}, "authors": [None, {}, 5]},
        {**EMPTY, "url": "https://a.example"},
        {**PAPER, "abstract": None, "year": "x", "citationCount": True, "openAccessPdf": {"url": None}},
        None,
        5,
    ]
    library.scholar.json(SEARCH, {"data": odd})
    found = await library.find(limit=10)
    urls = ["https://doi.org/10.1/y", "https://arxiv.org/abs/2101.2", "https://www.semanticscholar.org/paper/abc"]
    assert [source["url"] for source in found.sources] == urls
    assert "None" not in found.text
    assert found.text.endswith("Short.")


@pytest.mark.parametrize("reply", [{"total": 0, "offset": 0}, {"total": 0, "data": []}, {"data": []}])
async def test_having_none_is_an_answer(library: Library, reply: dict[str, Any]) -> None:
    library.scholar.json(SEARCH, reply)
    assert (await library.find()).text == "Semantic Scholar has no papers for 'tides'. Try fewer or other words."


async def test_one_back_off_is_enough_where_it_helps(library: Library) -> None:
    library.scholar.json(SEARCH, {"message": "Too Many Requests"}, status=429, retry_after="0")
    library.scholar.json(SEARCH, {"data": [PAPER]})
    assert "from Semantic Scholar" in (await library.find()).text


@pytest.mark.parametrize("headers", [{"retry_after": "0"}, {"retry_after": "60"}, {}, {"retry_after": "soon"}])
async def test_who_stays_limited_is_told_so(library: Library, headers: dict[str, str]) -> None:
    """With 60 s to wait, and with none given but no time to wait, there is no second try."""
    library.scholar.json(SEARCH, {"message": "Too Many Requests"}, status=429, **headers)
    library.feed()
    said = await library.failure(changes={"most_wait_s": 0.5})
    assert "rate-limited; this does not mean that there are no papers. Set a key of your own in S2_API_KEY" in said
    assert "or try later" in said
    assert len(library.scholar.requests) == (2 if headers == {"retry_after": "0"} else 1)


async def test_a_long_wait_is_remembered(library: Library) -> None:
    library.scholar.json(SEARCH, {}, status=429, retry_after="60")
    library.feed(ENTRY)
    tool = library.tool()
    for _call in range(3):
        found = await tool.run_call({"query": "tides"})
        assert "from arXiv" in found.text
        assert "Semantic Scholar is rate-limited" in found.text
    assert len(library.scholar.requests) == 1


@pytest.mark.parametrize(
    ("status", "reply", "words"),
    [
        (403, {"message": "Forbidden"}, "refuses the request (403). Set a key of your own in S2_API_KEY"),
        (401, {}, "refuses the request (401)"),
        (400, {"error": "bad"}, "does not take this search (400)"),
        (500, {"message": "x"}, "a fault of its own (500)"),
        (504, {}, "a fault of its own (504)"),
        (200, [], "cannot be read"),
        (200, {}, "without papers in it"),
        (200, {"data": None, "total": 5}, "without papers in it"),
    ],
)
async def test_each_fault_has_its_own_words(library: Library, status: int, reply: Any, words: str) -> None:
    library.scholar.json(SEARCH, reply, status=status)
    library.feed()
    said = await library.failure()
    assert words in said
    assert "arXiv, asked instead" in said
    assert "no papers for" not in said


async def test_where_nobody_answers_both_are_named(library: Library) -> None:
    library.scholar.raw(SEARCH, hang)
    await library.arxiv.stop()
    said = await library.failure(changes={"timeout_s": 0.3})
    assert "Semantic Scholar cannot be reached" in said
    assert "arXiv could not help either" in said


async def test_arxiv_stands_in(library: Library) -> None:
    library.scholar.json(SEARCH, {}, status=500)
    library.feed(ENTRY)
    found = await library.find('tides: "shallow" OR (seas)')
    assert found.text.endswith(
        "1. Tides in shallow seas\nA. Brook, J. Sea 4, 2021\narXiv:2101.00001v2\n"
        "https://arxiv.org/abs/2101.00001v2\nPDF: http://arxiv.org/pdf/2101.00001v2\nWe measure & model."
    )
    assert library.arxiv.requests[0].query["search_query"] == "all:tides AND all:shallow AND all:OR AND all:seas"


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("2101.00001", "2101.00001"),
        ("arXiv:2101.00001v2", "2101.00001v2"),
        ("https://arxiv.org/abs/2101.00001", "2101.00001"),
        ("http://www.arxiv.org/pdf/2101.00001v3.pdf", "2101.00001v3"),
        ("arxiv.org/html/2101.00001", "2101.00001"),
        ("hep-th/9901001", "hep-th/9901001"),
        ("math.GT/0309136", "math.gt/0309136"),
        ("https://doi.org/10.48550/arXiv.2101.00001", "2101.00001"),
        ("what does arXiv:2101.00001 say", "2101.00001"),
    ],
)
async def test_an_arxiv_number_is_asked_of_arxiv(library: Library, query: str, number: str) -> None:
    library.feed(ENTRY)
    await library.find(query)
    assert library.arxiv.requests[0].query["id_list"] == number
    assert library.scholar.requests == []


@pytest.mark.parametrize("query", ["tides 2021.5", "version 1234.5678 of it", "a/b testing", "12345"])
async def test_other_numbers_are_words(library: Library, query: str) -> None:
    library.scholar.json(SEARCH, {"data": [PAPER]})
    await library.find(query)
    assert library.arxiv.requests == []


BOMB = '<!DOCTYPE x [<!ENTITY a "boom"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + FEED.partition("\n")[2]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, FEED.format(entries=ERROR), "does not take this search: incorrect id format"),
        (400, FEED.format(entries=ERROR), "does not take this search"),
        (200, BOMB.format(entries="<entry><id>&b;</id></entry>"), "a document type of its own"),
        (200, '<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', "a document type of its own"),
        (200, "<a>" * 100_000, "nested too deeply"),
        (200, "<html><p>no feed", "is no feed"),
        (200, "", "is no feed"),
        (429, "", "rate-limited"),
        (503, "<html>", "answered 503"),
    ],
)
async def test_what_is_no_feed_is_said(library: Library, status: int, body: str, words: str) -> None:
    library.arxiv.page("/api/query", body.encode(), "application/atom+xml", status=status)
    assert words in await library.failure("2101.00001")


async def test_a_number_that_arxiv_does_not_have(library: Library) -> None:
    library.feed()
    assert (await library.find("2101.99999")).text == "arXiv has no papers for '2101.99999'. Try fewer or other words."


async def test_words_are_needed(library: Library) -> None:
    assert "expected words" in await library.failure(" \n")


async def test_calls_without_a_key_keep_apart() -> None:
    """The third would have to wait 20 s, which is more than it may."""
    pace = Pace()
    assert await pace.turn(10, 0)
    assert not await pace.turn(10, 9)
    pace.hold(20)
    assert not await pace.turn(10, 19)
