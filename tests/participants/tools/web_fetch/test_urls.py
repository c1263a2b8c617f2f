"""Addresses as models and pages write them."""

from __future__ import annotations

import pytest

from participants.tools.web_fetch.urls import normalise, redirected
from participants.web.errors import Refused


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://a.example/x", "https://a.example/x"),
        ("a.example", "https://a.example"),
        ("www.a.example/x?y", "https://www.a.example/x?y"),
        ("a.example:8080/x", "http://a.example:8080/x"),
        ("a.example:443", "https://a.example"),
        ("//a.example/x", "https://a.example/x"),
        (" <https://a.example/x> ", "https://a.example/x"),
        ('"https://a.example"', "https://a.example"),
        ("HTTP://A.Example/X", "http://a.example/X"),
        ("https://a.example/x#part", "https://a.example/x"),
        ("https://exämple.example/ö", "https://xn--exmple-cua.example/%C3%B6"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
        ("http://①②⑦.0.0.1/", "http://127.0.0.1/"),
    ],
)
def test_an_address_is_understood(text: str, url: str) -> None:
    assert normalise(text).rstrip("/") == url.rstrip("/")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "https://",
        "http:///path",
        "file:///etc/passwd",
        "ftp://a.example",
        "javascript:alert(1)",
        "data:text/html,x",
        "gopher://a.example",
        "mailto:a@b.example",
        "https://user@a.example",
        "https://user:pw@a.example",
        "http://a.example\\@127.0.0.1/",
        "http://[::1",
        "http://a.example:port/",
        "http://0177.0.0.1/",
        "http://a.example/\nx",
        "https://a.example/" + "x" * 3000,
    ],
)
def test_what_is_none_is_refused_with_words(text: str) -> None:
    with pytest.raises(Refused):
        normalise(text)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://a.example/b"),
        ("b", "https://a.example/x/b"),
        ("?q=1", "https://a.example/x/y?q=1"),
        ("//b.example/c", "https://b.example/c"),
        ("http://b.example", "http://b.example"),
    ],
)
def test_a_redirect_leads_on(location: str, url: str) -> None:
    assert redirected("https://a.example/x/y", location) == url


@pytest.mark.parametrize("location", ["file:///etc/passwd", "javascript:x", "http://u:p@b.example/", "http://[::1"])
def test_a_redirect_out_of_the_web_is_refused(location: str) -> None:
    with pytest.raises(Refused):
        redirected("https://a.example/x/y", location)
