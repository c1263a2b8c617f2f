"""What of a foreign text is text."""

from __future__ import annotations

from typing import Any

import pytest

from participants.web.text import clean, one_line, shorten, web_address


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("tab\tstays", "tab\tstays"),
        ("\x00\x1b[31mred\x07\x9b", "[31mred"),
        ("safe\u202egnp.exe", "safegnp.exe"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("tags\U000e0041\U000e0042", "tags"),
        ("selectors\U000e0100\U000e01ef", "selectors"),
        ("half\ud800", "half"),
        ("مى\u200cخواهم 👩\u200d🔬 ❤\ufe0f", "مى\u200cخواهم 👩\u200d🔬 ❤\ufe0f"),
    ],
)
def test_what_nobody_sees_is_taken_out(text: str, kept: str) -> None:
    assert clean(text) == kept


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (None, ""),
        (5, ""),
        (["x"], ""),
        ("  a\n b ", "a b"),
        ("Fish &amp; chips &#8211; 5&nbsp;€", "Fish & chips – 5 €"),
        ("<b>bold</b> <script>x</script>", "bold x"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("&lt;b&gt;", "<b>"),
        ("one two three four", "one two…"),
        ("<" * 50_000, "<<<<<<<<<…"),
    ],
)
def test_a_field_is_one_line(value: Any, line: str) -> None:
    assert one_line(value, 10 if len(line) == 10 or line.endswith("…") else 100) == line


def test_shortening_ends_at_a_word() -> None:
    assert shorten("alpha beta, gamma", 12) == "alpha beta…"


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("https://a.example/x?y=1#z", "https://a.example/x?y=1#z"),
        ("http://a.example", "http://a.example"),
        ("https://a.example/a b<c>\"d'", "https://a.example/a%20b%3Cc%3E%22d%27"),
        ("HTTPS://A.example/", "HTTPS://A.example/"),
        (" https://a.example/ ", "https://a.example/"),
        ("javascript:alert(1)", ""),
        ("java\x00script:alert(1)", ""),
        ("data:text/html,x", ""),
        ("file:///etc/passwd", ""),
        ("//a.example", ""),
        ("/relative", ""),
        ("https://", ""),
        ("https://user:pw@a.example/", ""),
        ("http://[broken", ""),
        ("https://a.example/" + "x" * 3000, ""),
        (None, ""),
        (7, ""),
        ({}, ""),
    ],
)
def test_only_web_addresses_are_linked(value: Any, url: str) -> None:
    assert web_address(value) == url
