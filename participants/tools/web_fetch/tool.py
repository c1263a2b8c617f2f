"""What does one web page say? Fetches it within limits, and has it read in a process of its own."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from bus.config import Section
from participants.tools.base import BaseTool, Found, ToolConfig, ToolFailed
from participants.tools.web_fetch.reader import read_apart
from participants.tools.web_fetch.result import Page
from participants.web.addresses import AllowList
from participants.web.text import shorten

_ROOM_FOR_HEAD = 1500
"""Characters of a result that title, address and notes may take."""


class WebFetchConfig(ToolConfig, frozen=True, kw_only=True):
    """web_fetch.yaml."""

    seconds: Annotated[float, Meta(description="For the whole fetch, redirects included.", gt=0, le=120)] = 15.0
    read_seconds: Annotated[float, Meta(description="For finding the text in what was fetched.", gt=0, le=60)] = 8.0
    max_bytes: Annotated[int, Meta(description="Of a page, unpacked; what is longer is cut.", ge=1000)] = 8_000_000
    max_chars: Annotated[int, Meta(description="Of text given to the model at once.", ge=200)] = 12_000
    allow: Annotated[
        list[str],
        Meta(
            description="Hosts of your own that may be fetched though they are not public: `nas.local`,"
            " `192.168.1.5:8123`, `10.0.0.0/8`."
        ),
    ] = []

    def __post_init__(self) -> None:
        """An allow-list with a slip in it would allow something else."""
        AllowList(self.allow)


class WebFetchTool(BaseTool):
    """web_fetch."""

    CONFIG_NAME: ClassVar[str] = "web_fetch"
    Config: ClassVar[type[Section]] = WebFetchConfig
    config: WebFetchConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def run_call(self, args: dict[str, Any]) -> Found:
        """Args: `url`; `start`, the character of its text to begin at."""
        from participants.tools.web_fetch.follow import fetch  # httpx: 130 ms, only once it is needed
        from participants.tools.web_fetch.urls import normalise
        from participants.web.client import Limits
        from participants.web.errors import WebError

        limits = Limits(seconds=self.config.seconds, max_bytes=self.config.max_bytes)
        try:
            reply = await fetch(normalise(args["url"]), limits, AllowList(self.config.allow))
        except WebError as error:
            raise ToolFailed(f"Not fetched: {error}") from error
        if not 200 <= reply.status < 300:
            raise ToolFailed(refusal(reply.status, reply.headers.get("retry-after", "")))
        if not reply.body:
            raise ToolFailed(f"The page is empty{f': {reply.cut}' if reply.cut else ''}. Try another address.")
        content_type = reply.headers.get("content-type", "")
        page = await read_apart(reply.body, content_type, reply.url, self.config.read_seconds)
        room = min(self.config.max_chars, self.config.policies.max_result_chars - _ROOM_FOR_HEAD)
        return told(page, reply.cut, start=args.get("start", 0), room=max(room, 200))


def refusal(status: int, retry_after: str) -> str:
    """What an error status means for the one who asked."""
    known = HTTPStatus(status).phrase if status in list(HTTPStatus) else "unknown"
    if status in (404, 410):
        meaning = "there is no such page. Check the address, or search for it"
    elif status in (401, 402, 403, 407, 451):
        meaning = "the site does not show it to programs or without an account. Try another source"
    elif status == 429:
        wait = f" (it says to wait {retry_after[:40]} s)" if retry_after.isdigit() else ""
        meaning = f"the site wants fewer requests{wait}. Try another source"
    elif status >= 500:
        meaning = "the site has a fault of its own. Try later, or another source"
    else:
        meaning = "it gave no page. Try another source"
    return f"Not fetched: the server answered {status} {known}: {meaning}."


def told(page: Page, cut: str, *, start: int, room: int) -> Found:
    """A page for the model: what it is, which part of it this is, and the text.

    Raises:
        ToolFailed: There is no text, or none from `start` on.
    """
    notes = list(page.notes)
    if cut:
        notes.append(f"truncated: {cut}")
    if page.problem:
        raise ToolFailed(f"{page.problem}{f' (The page was {notes[-1]}.)' if cut else ''}")
    total = len(page.text)
    if start >= total:
        raise ToolFailed(f"The page has {total:,} characters of text; there are none from {start:,} on.")
    text = _part(page.text, start, room)
    end = start + len(text)
    if start or end < total:
        more = f"; for what follows call again with start={end}" if end < total else ""
        notes.append(f"truncated: characters {start:,} to {end:,} of {total:,}{more}")
    title = shorten(page.title, 200)
    head = [f"Title: {title}"] if title else []
    head += [f"URL: {page.url}", *(f"Note: {note}." for note in notes)]
    return Found(text="\n".join([*head, "", text.strip("\n")]), sources=[{"title": title or page.url, "url": page.url}])


def _part(text: str, start: int, room: int) -> str:
    """At most `room` characters from `start`, to the end of a line or word where one is near."""
    part = text[start : start + room]
    if start + room >= len(text):
        return part
    for mark in ("\n", " "):
        at = part.rfind(mark)
        if at > room * 0.8:
            return part[: at + 1]
    return part
