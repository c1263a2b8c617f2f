"""Subjects: whole words, whatever a tool is called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus import subjects
from bus.messages import message_types
from bus.messages.tool import ToolCall


@pytest.mark.parametrize(
    ("word", "escaped"),
    [("web_search", "web_search"), ("notes.add", "notes%2Eadd"), ("a b/c", "a%20b%2Fc"), ("é", "%C3%A9"), ("~", "%7E")],
)
def test_a_word_is_escaped(word: str, escaped: str) -> None:
    assert subjects.escape(word) == escaped


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_escaping_can_be_undone_and_leaves_one_word(word: str) -> None:
    escaped = subjects.escape(word)
    assert subjects.unescape(escaped) == word
    assert re.fullmatch(r"[A-Za-z0-9_%-]*", escaped)


def test_a_dot_in_a_tools_name_adds_no_word() -> None:
    call = ToolCall(tool="notes.add", call_id="1", args={})
    assert call.subject == "tool.call.notes%2Eadd"
    assert subjects.parent(call.subject) == subjects.TOOL_CALL


@pytest.mark.parametrize(("subject", "parent"), [("a.b.c", "a.b"), ("a.b", "a"), ("a", ""), ("", "")])
def test_the_parent_of_a_subject(subject: str, parent: str) -> None:
    assert subjects.parent(subject) == parent


def test_no_subject_holds_what_only_one_broker_understands() -> None:
    odd = [kind.SUBJECT for kind in message_types().values() if not re.fullmatch(r"[a-z_.]+", kind.SUBJECT)]
    assert odd == []
