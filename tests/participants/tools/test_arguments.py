"""Which texts can be used as arguments?"""

from __future__ import annotations

from typing import Any

import pytest

from participants.tools import arguments
from participants.tools.base import ToolFailed


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        (" rain boots\n", "rain boots"),
        ("a\0b\x1b[31m", "ab[31m"),
        ("a\nb\tc", "a\nb\tc"),
        ("\u202eabc", "abc"),
        ("日本 🙂", "日本 🙂"),
        ("x" * 20, "x" * 20),
    ],
)
def test_text_is_cleaned(value: str, clean: str) -> None:
    assert arguments.text({"query": value}, "query", 20) == clean


@pytest.mark.parametrize("args", [{}, {"query": None}, {"query": ""}, {"query": " \n\0"}])
def test_nothing_is_refused_unless_it_may_be_left_out(args: dict[str, Any]) -> None:
    assert arguments.text(args, "query", 20, required=False) == ""
    with pytest.raises(ToolFailed, match="query: expected text, got nothing"):
        arguments.text(args, "query", 20)


@pytest.mark.parametrize("value", [5, True, ["rain"], {"q": "rain"}])
def test_what_is_no_text_is_refused(value: Any) -> None:
    with pytest.raises(ToolFailed, match="query: expected text, got"):
        arguments.text({"query": value}, "query", 20, required=False)


def test_what_is_too_long_is_refused_and_not_cut() -> None:
    with pytest.raises(ToolFailed, match="21 characters are too many, 20 are allowed"):
        arguments.text({"query": "x" * 21}, "query", 20)
