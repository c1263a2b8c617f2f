"""What does a PDF say? Called in the reader's process only: a PDF can make its reader work for ever."""

from __future__ import annotations

import logging
from io import BytesIO
from typing import TYPE_CHECKING

from participants.tools.web_fetch.result import Page
from participants.web.text import clean, one_line

if TYPE_CHECKING:
    from pypdf import PdfReader

_MOST_CHARS = 400_000
_MOST_PAGES = 500


def read_pdf(body: bytes, url: str) -> Page:
    """The text of a PDF, page by page."""
    import pypdf  # 90 ms, and most pages are none
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            return Page(url=url, problem="This PDF asks for a password. Try another source.")
        title = one_line(reader.metadata.title if reader.metadata else "", 200)
        text, notes = _pages(reader)
    except DependencyError:
        return Page(url=url, problem="This PDF is encrypted, and cannot be read here. Try another source.")
    except (PyPdfError, ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, OSError):
        return Page(url=url, problem="This PDF is damaged, and cannot be read. Try another source.")
    if not text.strip():
        return Page(title=title, url=url, problem="This PDF holds no text, only pictures of pages. Try another source.")
    return Page(title=title, url=url, text=text, notes=notes)


def _pages(reader: PdfReader) -> tuple[str, list[str]]:
    pages = reader.pages
    parts: list[str] = []
    total = 0
    for number, page in enumerate(pages, 1):
        if number > _MOST_PAGES or total > _MOST_CHARS:
            return "\n\n".join(parts), [f"only the first {number - 1} of {len(pages)} pages were read"]
        text = clean(page.extract_text() or "").strip()
        total += len(text)
        parts.append(text)
    return "\n\n".join(part for part in parts if part), []
