"""What of a foreign text is text?

Characters that nobody sees can carry words to a model that the user does not see (tag characters, variation
selectors), turn a line around (bidirectional controls), or break a terminal (control codes).
"""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlsplit

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,1000}|!--.{0,1000}?--)>", re.DOTALL)


def clean(text: str) -> str:
    """`text` without characters that are not seen; line ends as `\\n`."""
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\x85", "\n"))


def one_line(value: Any, limit: int) -> str:
    """A field of foreign JSON as one line of plain text: entities and tags resolved; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    bare = _TAG.sub(" ", value[: limit * 20])
    return shorten(" ".join(clean(html.unescape(bare)).split()), limit)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word, with an ellipsis."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    if not text[limit - 1].isspace():
        kept = kept.rsplit(" ", 1)[0]
    return kept.rstrip(" ,;:") + "…"


def web_address(value: Any) -> str:
    """An http(s) URL with a host, as it may stand in a link; empty for anything else."""
    if not isinstance(value, str):
        return ""
    text = clean(value).strip()
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        return ""
    return re.sub(r"[\s<>\"'`\\]", _quoted, text) if usable and len(text) <= 2000 else ""


def _quoted(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())
