"""What does an HTML page say?"""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from participants.tools.web_fetch.blocks import as_text
from participants.tools.web_fetch.main_part import main_part
from participants.tools.web_fetch.result import Page
from participants.tools.web_fetch.tree import Document, Element
from participants.web.text import clean, one_line, web_address

_WAITING = frozenset({
    "loading", "please", "wait", "one", "moment", "a", "just", "redirecting", "spinner",
})  # fmt: skip
_SHOWS_LATER = 30
"""Words: a hidden block of so many, and nothing else on the page, is what a script would show."""


def read_html(html: str, url: str) -> Page:
    """The readable text of a page that was fetched from `url`."""
    document = Document(html)
    seen = document.seen()
    notes: list[str] = []
    if document.cut:
        notes.append("the page is nested too deeply or too large: its end is missing")
    text = clean(as_text(main_part(seen))).strip()
    if _is_nothing(text) and (shown := _shown_by_scripts(document)) is not None:
        text = clean(as_text(main_part(shown))).strip()
        notes.append("the page shows this text only once its scripts have run")
    title = _title(document)
    return Page(
        title=title,
        url=_canonical(document, url),
        text="" if _is_nothing(text) else text,
        notes=notes,
        problem=_problem(document, title) if _is_nothing(text) else "",
    )


def _is_nothing(text: str) -> bool:
    words = "".join(char if char.isalnum() else " " for char in text.lower()).split()
    return all(word in _WAITING for word in words)


def _shown_by_scripts(document: Document) -> Element | None:
    """The largest hidden block, where it is of some size, without what is hidden in it; a few levels of such."""
    for _level in range(4):
        largest = max(document.hidden, key=lambda hidden: hidden.length, default=None)
        if largest is None:
            return None
        shown = document.seen(largest.node)
        words = as_text(shown).split()
        if len(words) >= _SHOWS_LATER:
            return shown
    return None


def _title(document: Document) -> str:
    for selector in ("title", "h1"):
        node = document.first(selector)
        found = one_line(node.text(), 200) if node is not None else ""
        if found:
            return found
    return _meta(document, 'meta[property="og:title"]', 200)


def _meta(document: Document, selector: str, limit: int) -> str:
    node = document.first(selector)
    return one_line(node.attributes.get("content"), limit) if node is not None else ""


def _canonical(document: Document, url: str) -> str:
    """A page may only speak for its own host."""
    node = document.first('link[rel="canonical"]')
    named = node.attributes.get("href") if node is not None else None
    try:
        found = web_address(urljoin(url, named or ""))
        same = urlsplit(found).netloc.removeprefix("www.") == urlsplit(url).netloc.removeprefix("www.")
    except ValueError:
        return url
    return found if found and same else url


def _problem(document: Document, title: str) -> str:
    about = _meta(document, 'meta[name="description"]', 300)
    known = (
        f" All that it says without is its title, {title!r}{', and: ' + about.rstrip('.') if about else ''}."
        if title
        else ""
    )
    if document.cut:
        return f"This page is nested too deeply to be read.{known} Try another page."
    if document.first("script") is not None:
        return f"This page needs JavaScript to show its text, which is not run here.{known} Try another page."
    return f"This page has no text.{known} Try another page."
