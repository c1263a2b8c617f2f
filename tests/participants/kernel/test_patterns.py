"""Is an expression refused that could keep the matcher busy, and a harmless one taken?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from participants.kernel.patterns import fault, may_be_matched


@pytest.mark.parametrize(
    "pattern",
    [
        "^[a-z][a-z0-9_-]*$",
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(\d{1,3}\.){3}\d{1,3}$",
        "^[^@]+@[^@]+$",
        "^(https?://)?x.*$",
        "^(?:small|medium|large)$",
        "[)(*+?]x",
        "^(ab){3}$",
        "",
    ],
)
def test_harmless_expressions_are_taken(pattern: str) -> None:
    assert fault(pattern) == ""
    assert may_be_matched(pattern, "x" * 100)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*$",
        "((a*)?)*$",
        "^(?:a?){60}a{60}$",
        "a?" * 60,
        "(a|a)" * 30,
        "a*a*b",
        r"(a*)\1",
        "(?=a+)b",
        "(?P<n>a)",
        "x" * 1000,
        "((",
        "^a{99999999999999999999}$",
        "*",
    ],
)
def test_costly_and_broken_expressions_are_refused(pattern: str) -> None:
    assert fault(pattern) != ""


def test_long_texts_are_not_matched_against_what_varies_twice() -> None:
    assert not may_be_matched("^[^@]+@[^@]+$", "x" * 300)
    assert may_be_matched("^[^@]+$", "x" * 100_000)


@given(st.lists(st.sampled_from(["a", "(", ")", "|", "*", "+", "?", "{1,3}", "{9}", "[", "]", "^", "\\", "."])))
def test_any_text_is_judged(pieces: list[str]) -> None:
    assert isinstance(fault("".join(pieces)), str)
