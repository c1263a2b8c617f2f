"""What a body is, and in which characters."""

from __future__ import annotations

import pytest

from participants.tools.web_fetch.content import decode, kind_of

TEXT = "Grüße, café, 東京: 5 €"


@pytest.mark.parametrize(
    ("body", "declared", "kind"),
    [
        (b"<!doctype html><p>x", "text/html", "html"),
        (b"plain words", "text/html", "html"),
        (b"<!DOCTYPE HTML><p>x", "", "html"),
        (b"\xef\xbb\xbf  <!-- c --><html><p>x", "text/plain", "html"),
        ("<html>x".encode("utf-16"), "", "html"),
        (b"<?xml version='1.0'?><html xmlns='x'>", "application/xhtml+xml", "html"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "application/rss+xml", "text"),
        (b'{"a": "<html>"}', "application/json", "text"),
        (b"plain words", "text/plain", "text"),
        (b"plain words", "application/octet-stream", "text"),
        ("żółć".encode("iso8859-2"), "text/plain", "text"),
        (b"", "text/html", "html"),
        (b"%PDF-1.7\n", "text/html", "pdf"),
        (b"\n junk \n%PDF-1.4\n", "application/pdf", "pdf"),
        (b"not really", "application/pdf", "text"),
        (b"\x89PNG\r\n\x1a\n....", "text/html", "binary"),
        (b"\xff\xd8\xff\xe0....", "text/html; charset=utf-8", "binary"),
        (b"GIF89a", "", "binary"),
        (b"PK\x03\x04....", "application/pdf", "binary"),
        (b"\x1f\x8b\x08", "text/html", "binary"),
        (b"\x00\x00\x00\x18ftypmp42", "text/html", "binary"),
        (b"MZ\x90\x00", "application/octet-stream", "binary"),
        (bytes(range(256)) * 4, "application/octet-stream", "binary"),
        (bytes(1000), "text/plain", "binary"),
        (b"\x01\x02\x03\x04\x05words", "text/html", "binary"),
    ],
)
def test_what_the_bytes_are_counts(body: bytes, declared: str, kind: str) -> None:
    assert kind_of(body, declared)[0] == kind


def test_a_refusal_says_what_it_is() -> None:
    assert kind_of(b"\x89PNG\r\n\x1a\n", "text/html") == ("binary", "a PNG image")
    assert kind_of(bytes(50), "application/x-thing") == ("binary", "a file of type 'application/x-thing'")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (TEXT.encode(), "text/html"),
        (TEXT.encode(), "text/html; charset=utf-8"),
        (TEXT.encode(), "text/html; charset=ISO-8859-1"),
        (TEXT.encode(), "text/html; charset=no-such-thing"),
        (TEXT.encode(), "text/html; charset=zlib"),
        (TEXT.encode(), 'text/html; charset="UTF-8"'),
        (TEXT.encode("utf-8-sig"), "text/html; charset=latin-1"),
        (TEXT.encode("utf-16"), "text/html; charset=utf-8"),
        (TEXT.encode("gb18030"), "text/html; charset=gb2312"),
    ],
)
def test_a_text_is_read_in_its_characters(body: bytes, content_type: str) -> None:
    assert decode(body, content_type) == TEXT


@pytest.mark.parametrize(
    ("codec", "text", "markup"),
    [
        ("cp1252", "Grüße für 5 €", "<p>"),
        ("cp1252", "Grüße für 5 €", '<meta charset="iso-8859-1">'),
        ("iso8859-2", "żółć", '<META http-equiv=content-type content="text/html; charset=iso-8859-2">'),
        ("cp932", "東京タワー", "<meta charset='shift_jis'>"),
        ("euc_kr", "서울", '<meta charset="euc-kr">'),
        ("cp1251", "Москва и Тула", '<html lang="ru">'),
        ("cp932", "東京タワー", "<html lang=ja>"),
        ("iso8859-7", "Αθήνα", "<?xml version='1.0' encoding='iso-8859-7'?>"),
        ("utf-16-le", "Ünï", "<!doctype html><p>"),
        ("utf-16-be", "Ünï", "<!doctype html><p>"),
        ("utf-8", "Ünï", '<meta charset="utf-16">'),
    ],
)
def test_a_page_says_its_characters_itself(codec: str, text: str, markup: str) -> None:
    assert decode((markup + text).encode(codec), "text/html") == markup + text


def test_a_few_damaged_bytes_spoil_those_alone() -> None:
    assert decode("é".encode() * 100 + b"\xff" + "é".encode()[:1], "") == "é" * 100 + "\ufffd\ufffd"
