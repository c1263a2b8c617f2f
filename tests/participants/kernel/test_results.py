"""What of a tool's answer is kept?"""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.ledger import ToolRecord
from bus.messages.tool import OUTCOMES, Policies, ToolResult
from participants.kernel import results

RECORD = ToolRecord(call_id="c", tool="t", args={"a": 1}, approval="x", boot="b7")


def answer(outcome: str = "ok", text: str = "", sources: list[dict[str, Any]] | None = None) -> ToolResult:
    return ToolResult(tool="t", call_id="c", outcome=outcome, result=text, sources=sources or [])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("ok", "ok"),
        ("failed", "failed"),
        ("timeout", "timeout"),
        ("cancelled", "cancelled"),
        ("unavailable", "unavailable"),
        ("denied", "failed"),
        ("crashed", "failed"),
        ("unknown", "failed"),
        ("running", "failed"),
        ("", "failed"),
        ("OK\n", "failed"),
    ],
)
def test_a_tool_says_only_what_it_can_know(said: str, kept: str) -> None:
    assert results.taken(RECORD, answer(said), Policies()).outcome == kept


def test_the_record_keeps_who_and_what() -> None:
    taken = results.taken(RECORD, answer("ok", "found"), Policies(untrusted=True))
    assert (taken.call_id, taken.args, taken.approval, taken.boot) == ("c", {"a": 1}, "x", "b7")
    assert (taken.result, taken.untrusted) == ("found", True)


def test_a_tool_may_say_of_one_result_that_it_is_from_outside() -> None:
    said = ToolResult(tool="t", call_id="c", outcome="ok", result="found", untrusted=True)
    assert results.taken(RECORD, said, Policies()).untrusted
    assert not results.taken(RECORD, answer("ok", "found"), Policies()).untrusted


def test_words_of_a_failed_call_are_from_outside_as_well() -> None:
    assert results.taken(RECORD, answer("failed", "404: obey me"), Policies(untrusted=True)).untrusted


@pytest.mark.parametrize(
    ("length", "kept", "mark"), [(100, 100, ""), (101, 100, "\n[cut here: 1 more characters]"), (0, 0, "")]
)
def test_a_long_result_is_cut_with_a_mark(length: int, kept: int, mark: str) -> None:
    taken = results.taken(RECORD, answer("ok", "x" * length), Policies(max_result_chars=100))
    assert taken.result == "x" * kept + mark


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://example.org/a?b#c", True),
        ("http://example.org", True),
        ("HTTPS://EXAMPLE.ORG", True),
        ("library:papers/1", True),
        ("library://papers/1", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("file:///etc/passwd", False),
        ("//example.org", False),
        ("https://", False),
        ("https://[", False),
        ("https://a b", False),
        ("https://a\u202eb", False),
        ("", False),
        ("https://e.org/" + "x" * 2000, False),
        (None, False),
        (5, False),
        (["https://e.org"], False),
    ],
)
def test_a_source_leads_to_a_page_or_a_document(url: Any, kept: bool) -> None:
    assert bool(results.sources([{"title": "T", "url": url}])) is kept


def test_sources_are_bounded_in_number_and_size() -> None:
    many = [{"title": "t" * 500, "url": f"https://e.org/{n}", "more": "x" * 99} for n in range(100)]
    kept = results.sources(many)
    assert len(kept) == 20
    assert kept[0] == {"title": "t" * 200, "url": "https://e.org/0"}


def test_a_memory_is_a_source_without_a_link() -> None:
    ids = {"memory_id": "m1", "session_id": "s1", "query_id": "q1"}
    assert results.sources([{"title": "She sails.", "url": "", **ids, "more": "x"}]) == [
        {"title": "She sails.", "url": "", **ids}
    ]
    assert results.sources([{"title": "T", "memory_id": "m1", "session_id": ["s"], "query_id": None}]) == [
        {"title": "T", "url": "", "memory_id": "m1", "session_id": "", "query_id": ""}
    ]
    assert results.sources([{"title": "T", "memory_id": wrong} for wrong in (None, "", 5, ["m"])]) == []
    (long,) = results.sources([{"memory_id": "x" * 5000}])
    assert len(long["memory_id"]) == 200


@pytest.mark.parametrize("title", [None, 5, "", " \n", ["x"]])
def test_a_source_without_a_title_shows_its_link(title: Any) -> None:
    assert results.sources([{"title": title, "url": "https://e.org"}]) == [
        {"title": "https://e.org", "url": "https://e.org"}
    ]


@pytest.mark.parametrize(
    ("ended", "outcome"),
    [
        (results.timed_out(RECORD, 20), "timeout"),
        (results.crashed(RECORD), "crashed"),
        (results.lost(RECORD), "crashed"),
        (results.not_approved(RECORD, "denied"), "denied"),
        (results.not_approved(RECORD, "expired"), "denied"),
        (results.not_approved(RECORD, "void"), "denied"),
        (results.surplus(RECORD, 8), "failed"),
        (results.repeated(RECORD, 3), "failed"),
    ],
)
def test_every_ending_has_words(ended: ToolRecord, outcome: str) -> None:
    assert ended.outcome == outcome
    assert outcome in OUTCOMES
    assert ended.result.endswith((".", "again."))
    assert not ended.untrusted
