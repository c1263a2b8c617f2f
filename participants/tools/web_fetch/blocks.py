"""How does a tree read as plain text? Headings, lists, tables and code keep their shape."""

from __future__ import annotations

import re

from participants.tools.web_fetch.tree import Element

_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol", "p", "pre", "search", "section", "summary",
    "table", "tbody", "tfoot", "thead", "tr", "ul", "caption",
})  # fmt: skip
_PARAGRAPHS = frozenset({
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "pre", "blockquote", "figure",
})  # fmt: skip
_SPACES = re.compile(r"[ \t\n\r\f\xa0]+")


class Writer:
    """Collects lines. Runs of white space are one space, but in code."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line = ""
        self._gap = False
        self._lists: list[int] = []
        self._code = self._quotes = 0

    def text(self, text: str) -> None:
        """Text as it stands in the page."""
        if self._code:
            first, *rest = text.split("\n")
            self._line += first
            for line in rest:
                self._end_line(keep=True)
                self._line = line
            return
        flat = _SPACES.sub(" ", text)
        self._line += flat.lstrip() if not self._line or self._line.endswith(" ") else flat

    def enter(self, element: Element) -> None:
        """An element begins."""
        tag = element.tag
        if tag in _BLOCKS:
            self._break(paragraph=tag in _PARAGRAPHS and not (tag in ("ul", "ol", "p") and self._lists))
        if tag == "br":
            self._end_line(keep=bool(self._code))
        elif tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ul" else 1)
        elif tag == "li":
            self._line = self._bullet()
        elif tag == "pre":
            self._code += 1
            self._lines.append("```")
        elif tag == "blockquote":
            self._quotes += 1
        elif tag in ("td", "th") and self._line:
            self._line = f"{self._line.rstrip()} | "
        elif re.fullmatch("h[1-6]", tag) and not self._line:
            self._line = "#" * int(tag[1]) + " "

    def leave(self, element: Element) -> None:
        """An element ends."""
        tag = element.tag
        if tag == "pre" and self._code:
            self._end_line(keep=False)
            self._code -= 1
            self._lines.append("```")
        if tag in _BLOCKS:
            self._break(paragraph=tag in _PARAGRAPHS and not (tag in ("ul", "ol", "p") and self._lists))
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)

    def _bullet(self) -> str:
        if not self._lists or not self._lists[-1]:
            return "  " * (len(self._lists) - 1) + "- "
        self._lists[-1] += 1
        return "  " * (len(self._lists) - 1) + f"{self._lists[-1] - 1}. "

    def _break(self, *, paragraph: bool) -> None:
        if self._line.strip(" -#|"):
            self._end_line(keep=False)
        elif not self._line.strip():
            self._line = ""
        self._gap = self._gap or paragraph

    def _end_line(self, *, keep: bool) -> None:
        line = self._line.rstrip()
        self._line = ""
        if not line.strip(" -#|") and not keep:
            return
        if self._gap and self._lines and self._lines[-1] and not self._code:
            self._lines.append("")
        self._gap = False
        self._lines.append(("> " * min(self._quotes, 3) + line) if not self._code else line)

    def result(self) -> str:
        """All of it."""
        self._break(paragraph=False)
        return re.sub(r"\n{3,}", "\n\n", "\n".join(self._lines)).strip("\n")


def as_text(root: Element) -> str:
    """The whole tree, walked without recursion: pages nest as deep as they like."""
    writer = Writer()
    todo: list[tuple[Element | str, bool]] = [(root, False)]
    while todo:
        item, done = todo.pop()
        if isinstance(item, str):
            writer.text(item)
        elif done:
            writer.leave(item)
        else:
            writer.enter(item)
            todo.append((item, True))
            todo += [(child, False) for child in reversed(item.children)]
    return writer.result()
