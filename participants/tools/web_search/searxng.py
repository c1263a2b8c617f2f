"""How is a SearXNG asked, and what do its answers mean?

It is the user's own: `local2 searxng up` starts one on this machine. Each way in which it can fail has its own words,
since "nothing found" would be a lie.
"""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

import msgspec

from participants.tools.base import ToolFailed
from participants.tools.web_search.provider import Answer, Query
from participants.tools.web_search.results import Result
from participants.web.addresses import ANYWHERE
from participants.web.client import Limits, Reply, get
from participants.web.errors import TooSlow, WebError
from participants.web.text import one_line, web_address

_MOST_BYTES = 4_000_000
_SETTING = (
    "In its settings.yml, `search.formats: [html, json]` has to allow JSON; `local2 searxng up` starts one that does."
)


class SearxNG:
    """One SearXNG, by its base address."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url.rstrip("/")
        self._limits = Limits(seconds=timeout_s, max_bytes=_MOST_BYTES)

    async def search(self, query: Query) -> Answer:
        """Search once.

        Raises:
            ToolFailed: There was no answer to speak of; the text says why, and what the user can do.
        """
        fields = {"q": query.words, "format": "json", "language": query.language, "safesearch": query.safe_search}
        if query.time_range:
            fields["time_range"] = query.time_range
        try:
            reply = await get(
                f"{self._url}/search?{urlencode(fields)}",
                self._limits,
                allow=ANYWHERE,
                headers={"Accept": "application/json"},
            )
        except TooSlow as error:
            raise _failed(
                f"SearXNG at {self._url} did not answer within {self._limits.seconds:g} s",
                "Try again, or raise timeout_s in web_search.yaml.",
            ) from error
        except WebError as error:
            raise _failed(
                f"SearXNG at {self._url} cannot be reached",
                f"Start one with `local2 searxng up`, or correct url in web_search.yaml. ({error})",
            ) from error
        return read(reply, self._url)


def read(reply: Reply, url: str) -> Answer:
    """What a SearXNG's reply says.

    Raises:
        ToolFailed: It is no result; the text says what it is instead.
    """
    _check_status(reply, url)
    if "html" in reply.content_type or reply.body.lstrip()[:1] == b"<":
        raise _failed(f"SearXNG at {url} answered with a web page instead of JSON", _SETTING)
    try:
        found = msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _failed(
            f"SearXNG at {url} gave an answer that is no JSON{f' ({reply.cut})' if reply.cut else ''}",
            "Check that url in web_search.yaml is a SearXNG's.",
        ) from error
    if not isinstance(found, dict) or "results" not in found:
        raise _failed(
            f"SearXNG at {url} gave JSON without results", "Check that url in web_search.yaml is a SearXNG's."
        )
    return _answer(cast("dict[str, Any]", found))


def _check_status(reply: Reply, url: str) -> None:
    if reply.status == 403:
        raise _failed(f"SearXNG at {url} refuses JSON (403)", _SETTING)
    if reply.status == 429:
        after = reply.headers.get("retry-after", "")
        wait = f" It asks to wait {after} s." if after.isdigit() else ""
        raise _failed(f"SearXNG at {url} wants fewer requests (429)", f"Search again later.{wait}")
    if 300 <= reply.status < 400:
        to = web_address(reply.headers.get("location", "")) or "elsewhere"
        raise _failed(f"SearXNG at {url} redirects to {to}", "Put its final address into url in web_search.yaml.")
    if reply.status >= 500:
        raise _failed(f"SearXNG at {url} has a fault of its own ({reply.status})", "Try again later; its log says why.")
    if reply.status != 200:
        raise _failed(
            f"SearXNG at {url} answered {reply.status}", "Check that url in web_search.yaml is a SearXNG's address."
        )


def _failed(what: str, remedy: str) -> ToolFailed:
    return ToolFailed(f"The search failed; this does not mean that there is nothing to find. {what}. {remedy}")


def _answer(found: dict[str, Any]) -> Answer:
    results = [result for item in _list(found.get("results")) if (result := _result(item)) is not None]
    boxes = [result for item in _list(found.get("infoboxes")) if (result := _infobox(item)) is not None]
    notes = [f"a direct answer: {text}" for item in _list(found.get("answers")) if (text := _direct(item))][:2]
    silent = _silent_engines(found.get("unresponsive_engines"))
    if not results and not boxes and silent:
        raise _failed(
            f"None of its search engines answered ({'; '.join(silent[:6])})",
            "They may block this address for a while: try again later, or turn on other engines in SearXNG.",
        )
    if silent:
        notes.append(f"some search engines did not answer: {'; '.join(silent[:4])}")
    return Answer(results=[*boxes[:1], *results], notes=notes)


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _result(item: Any) -> Result | None:
    """None where it has no address that can be opened."""
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    url = web_address(fields.get("url"))
    if not url:
        return None
    return Result(
        title=one_line(fields.get("title"), 200) or url,
        url=url,
        snippet=one_line(fields.get("content"), 400),
        date=one_line(fields.get("publishedDate"), 40)[:10],
    )


def _infobox(item: Any) -> Result | None:
    if not isinstance(item, dict):
        return None
    fields = cast("dict[str, Any]", item)
    links = [cast("dict[str, Any]", link) for link in _list(fields.get("urls")) if isinstance(link, dict)]
    url = web_address(fields.get("id")) or next(filter(None, (web_address(link.get("url")) for link in links)), "")
    name = one_line(fields.get("infobox"), 200)
    return Result(title=name, url=url, snippet=one_line(fields.get("content"), 600)) if url and name else None


def _direct(item: Any) -> str:
    """Older versions give text, newer ones an object."""
    value = cast("dict[str, Any]", item).get("answer") if isinstance(item, dict) else item
    return one_line(value, 300)


def _silent_engines(value: Any) -> list[str]:
    """`[["google", "timeout"], …]`, as words."""
    out: list[str] = []
    for item in _list(value):
        words = [one_line(part, 60) for part in (_list(item) or [item])]
        if any(words):
            out.append(": ".join(filter(None, words[:2])))
    return out
