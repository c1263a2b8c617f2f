"""Does what comes next in a streamed Markdown text stand in code, or at the beginning of a line?"""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]*)$")
_RUN = re.compile(r"(`+)|[^`]+")
_KEPT = 200


class Markdown:
    """Follows a text piece by piece; where it is cut makes no difference."""

    def __init__(self) -> None:
        self._fence = ""
        self._line = ""
        self._span = ""
        self._ticks = 0

    def feed(self, text: str) -> None:
        """The text goes on."""
        first, *others = text.split("\n")
        self._add(first)
        for line in others:
            self._end_line()
            self._add(line)

    @property
    def in_code(self) -> bool:
        """Whether what comes next stands in a code fence, an inline code span or an indented block."""
        return bool(self._fence) or bool(self._settled()) or self._line.startswith(("    ", "\t"))

    @property
    def quoted(self) -> bool:
        """Whether this line is a quotation."""
        return self._line.lstrip().startswith(">")

    @property
    def at_line_start(self) -> bool:
        """Whether nothing but a small indent stands before it in its line."""
        return len(self._line) <= 3 and not self._line.strip(" ")

    def _settled(self) -> str:
        run = "`" * self._ticks
        return ("" if run == self._span else self._span or run) if run else self._span

    def _add(self, text: str) -> None:
        self._line += text[: max(0, _KEPT - len(self._line))]
        for run in _RUN.finditer(text):
            if run[1]:
                self._ticks += len(run[1])
            else:
                self._span, self._ticks = self._settled(), 0

    def _end_line(self) -> None:
        found = _FENCE.match(self._line) if len(self._line) < _KEPT else None
        if found and not self._fence:
            self._fence = found[1]
        elif found and found[1].startswith(self._fence) and not found[2].strip():
            self._fence = ""
        self._line = self._span = ""
        self._ticks = 0
