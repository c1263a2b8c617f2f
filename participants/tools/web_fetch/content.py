"""What kind of thing is a body, and in which characters is it written?

What the bytes are counts, not what the server calls them: images come as text/html and pages as nothing at all.
"""

from __future__ import annotations

import codecs
import re
from typing import Literal

Kind = Literal["html", "pdf", "text", "binary"]

_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"RIFF": "a media file",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
    b"\x00\x00\x01\x00": "an icon",
    b"PK\x03\x04": "a ZIP archive or office document",
    b"PK\x05\x06": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"(\xb5/\xfd": "a zstd archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"\xca\xfe\xba\xbe": "a program",
    b"\xcf\xfa\xed\xfe": "a program",
    b"\x00asm": "a program",
    b"\xd0\xcf\x11\xe0": "an old office document",
    b"ID3": "an audio file",
    b"OggS": "an audio file",
    b"fLaC": "an audio file",
    b"\x1aE\xdf\xa3": "a video",
    b"wOFF": "a font",
    b"wOF2": "a font",
    b"SQLite format 3\x00": "a database",
}
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|link|style"
    rb"|script|h[1-6]|p|div|table|main|article|section|header|nav|span|a|b|br|ul|ol|form|img|center|font)\b",
    re.IGNORECASE | re.DOTALL,
)
_META = re.compile(rb"<meta\s[^>]{0,500}?charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([a-zA-Z0-9_:.-]{2,40})")
_LANG = re.compile(rb"<html\s[^>]{0,500}?lang\s*=\s*[\"']?([a-zA-Z]{2})", re.IGNORECASE)

# What pages mean by these names is a superset, as browsers read them.
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "tis-620": "cp874",
    "iso8859-9": "cp1254",
}
_USUAL = {
    "ru": "cp1251", "uk": "cp1251", "bg": "cp1251", "el": "cp1253", "tr": "cp1254", "he": "cp1255", "ar": "cp1256",
    "pl": "cp1250", "cs": "cp1250", "hu": "cp1250", "th": "cp874",
    "ja": "cp932", "zh": "gb18030", "ko": "cp949",
}  # fmt: skip
"""What undeclared pages of a language were written in before UTF-8."""
_TEXT_CODECS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|cp(125\d|874|932|949|866|437|850)|iso8859-\d+|koi8-[ru]|mac-.*|gb18030|gbk|gb2312|big5"
    r"(hkscs)?|euc_(jp|kr)|shift_jis|iso2022_jp|ascii|tis-620"
)
"""Python also knows codecs that are no text encodings, such as zlib and punycode."""


def kind_of(body: bytes, declared: str) -> tuple[Kind, str]:
    """What `body` is, and for a binary one a name for it. `declared` is the media type that the server gave."""
    head = body[:4096]
    if b"%PDF-" in head[:1024]:
        return "pdf", ""
    for magic, name in _MAGIC.items():
        if head.startswith(magic):
            return "binary", name
    if head[4:8] == b"ftyp":
        return "binary", "a video"
    if not _is_text(head):
        return "binary", f"a file of type {declared[:60]!r}" if declared else "a file"
    plain = _plain_ascii(head)
    if declared in ("text/html", "application/xhtml+xml") or (_may_be_html(declared) and _HTML.match(plain)):
        return "html", ""
    return "text", ""


def _may_be_html(declared: str) -> bool:
    return declared in ("", "text/plain", "application/octet-stream", "application/xml", "text/xml", "unknown/unknown")


def _is_text(head: bytes) -> bool:
    """Whether it could be read: control codes are rare in text of any encoding, and NUL means UTF-16 or no text."""
    if any(head.startswith(bom) for bom, _name in _BOMS) or _wide(head):
        return True
    controls = sum(byte < 32 and byte not in b"\t\n\x0b\x0c\r\x1b" for byte in head)
    return b"\0" not in head and controls <= len(head) // 100


def _wide(head: bytes) -> str:
    """UTF-16 without a mark shows by its zeros: every other byte of markup."""
    sample = head[:64]
    if len(sample) < 8 or not sample.count(0):
        return ""
    if not any(sample[0::2]) and all(sample[1::2]):
        return "utf-16-be"
    return "utf-16-le" if all(sample[0::2]) and not any(sample[1::2]) else ""


def _plain_ascii(head: bytes) -> bytes:
    for bom, _name in _BOMS:
        head = head.removeprefix(bom)
    return head.replace(b"\0", b"")


def decode(body: bytes, content_type: str) -> str:
    """`body` as text: by its byte-order mark, the header, its own declaration, or else by what fits."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace")
    said = _codec(_parameter(content_type)) or _wide(body) or _declared(body)
    if said not in ("", "utf-8") and not said.startswith("utf-16") and _is_utf8(body):
        said = "utf-8"  # servers name a default of their own; that other text is valid UTF-8 by chance is unheard of
    if not said:
        said = "utf-8" if _is_utf8(body) else _guess(body)
    return body.decode(said, "replace")


def _parameter(content_type: str) -> str:
    found = re.search(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", content_type, re.IGNORECASE)
    return found[1] if found else ""


def _declared(body: bytes) -> str:
    head = body[:4096]
    found = _META.search(head) or _XML.match(head)
    name = _codec(found[1].decode("ascii")) if found else ""
    return "utf-8" if name.startswith("utf-16") else name  # it was read as ASCII, so it is not UTF-16


def _codec(name: str) -> str:
    """Python's name of a text encoding, empty where there is none of that name."""
    try:
        known = codecs.lookup(name).name if name.isascii() else ""
    except (LookupError, ValueError):
        return ""
    return _READ_AS.get(known, known) if _TEXT_CODECS.fullmatch(known) else ""


def _is_utf8(body: bytes) -> bool:
    """Whether it is, but for a few damaged bytes; plain ASCII counts."""
    text = body.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    return bad == 0 or sum(char > "\x7f" for char in text) > 20 * bad


def _guess(body: bytes) -> str:
    found = _LANG.search(body[:4096])
    return _USUAL.get(found[1].decode("ascii").lower(), "cp1252") if found else "cp1252"
