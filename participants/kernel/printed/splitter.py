"""Which part of an answer's streamed text is for the user, and which is a tool call that was printed?

Held back is only what may still become a call; all else is passed on at once. A call is taken out where `region.py`
finds one that is meant; otherwise the text goes on unchanged, byte for byte.

So that no example runs by mistake: nothing in a code span, an indented block or a quotation is a call. Bare or fenced
JSON without a marker is one only at the end of an answer that says no more than a sentence before it, which introduces
no example; prose after it makes it an example. And where the question asks how calls are written, nothing is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from bus.messages.tool import ToolSchema
from participants.kernel.printed.intent import EXAMPLE, asks_for_notation
from participants.kernel.printed.known import CAP, Known, PrintedCall
from participants.kernel.printed.markdown import Markdown
from participants.kernel.printed.region import Reading, read

_BLANK = re.compile(r"\s*")
_PLACE = re.compile(r"[<\[]|\n")
_LONGEST_BEFORE = 240
_OTHER_MARKUP = re.compile(r"[{\[<`~]")
_AT_ONCE = 512
"""Characters up to which what is held is looked at again with each piece; beyond, with each eighth more."""


class Part(NamedTuple):
    """A stretch of the answer: text for the user (`shown`), or a call (then nothing is shown of `written`)."""

    written: str
    calls: tuple[PrintedCall, ...] = ()

    @property
    def shown(self) -> str:
        """What the user sees of it."""
        return "" if self.calls else self.written


class CallSplitter:
    """Splits an answer's text as it streams; the same text gives the same result however it is cut.

    Args:
        tools: The tools that the model was told of; without any, all is text.
        question: What the user asked.
    """

    def __init__(self, tools: Sequence[ToolSchema], question: str = "") -> None:
        self._known = Known(tools)
        self._passes = not tools or asks_for_notation(question, self._known.spellings)
        self._markdown = Markdown()
        self._before = self._last = ""
        self._held = ""
        self._look_at = 0

    @property
    def held(self) -> str:
        """What may still become a call."""
        return self._held

    def feed(self, text: str) -> list[Part]:
        """What is certain after `text`."""
        self._held += text
        return self._advance(ended=False)

    def close(self) -> list[Part]:
        """The answer has ended."""
        return self._advance(ended=True)

    def _advance(self, *, ended: bool) -> list[Part]:
        parts: list[Part] = []
        if len(self._held) < self._look_at and not ended:
            return parts
        self._look_at = 0
        while self._held:
            end, calls = self._next(ended=ended)
            if not end:
                break
            parts.append(self._cut(end, calls))
        return _joined(parts)

    def _next(self, *, ended: bool) -> tuple[int, tuple[PrintedCall, ...]]:
        """How much is certain, and the calls that it is; 0 for nothing yet."""
        if self._passes:
            return len(self._held), ()
        if not self._may_begin():
            return self._to_next_place(), ()
        reading = self._read(ended=ended)
        if reading.kind == "unknown":
            held = len(self._held)
            self._look_at = 0 if held < _AT_ONCE else min(held + held // 8, CAP)
            return 0, ()
        if reading.kind == "calls":
            return self._with_blanks(reading.end), reading.calls
        return (reading.end if reading.end > 1 else self._to_next_place()), ()

    def _may_begin(self) -> bool:
        """Whether a call may begin with what is held."""
        first = self._held[0]
        if self._markdown.in_code or self._markdown.quoted:
            return False
        return first in "<[" or (self._markdown.at_line_start and (first in "{`~" or first.isalpha()))

    def _read(self, *, ended: bool) -> Reading:
        whole = ended and len(self._held) <= CAP
        at_start = self._markdown.at_line_start
        weak = at_start and self._announces()
        reading = read(self._held[:CAP], self._known, ended=whole, weak=weak, line_start=at_start)
        if reading.kind == "unknown" and len(self._held) >= CAP:
            return Reading("text", CAP)
        return reading

    def _announces(self) -> bool:
        """Whether what was said so far is at most a sentence that announces a call."""
        said = self._before.strip()
        return len(said) <= _LONGEST_BEFORE and not _OTHER_MARKUP.search(said) and not EXAMPLE.search(said)

    def _with_blanks(self, end: int) -> int:
        """Where the text goes on after calls: blanks after them go, too, unless they keep two words apart."""
        apart = self._last and not self._last.isspace()
        blank = None if apart else _BLANK.match(self._held, end)
        return blank.end() if blank else end

    def _to_next_place(self) -> int:
        """Up to where something may begin next: at a bracket, or in a new line."""
        if self._held[0] == "\n" or (self._held[0] == " " and self._markdown.at_line_start):
            return 1
        found = _PLACE.search(self._held, 1)
        if found is None:
            return len(self._held)
        return found.end() if found[0] == "\n" else found.start()

    def _cut(self, end: int, calls: tuple[PrintedCall, ...]) -> Part:
        part = Part(self._held[:end], calls)
        self._held = self._held[end:]
        if not calls:
            self._markdown.feed(part.written)
            self._last = part.written[-1]
            self._before += part.written[: max(0, 2 * _LONGEST_BEFORE - len(self._before))]
        return part


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring stretches of text as one."""
    out: list[Part] = []
    for part in parts:
        if out and not part.calls and not out[-1].calls:
            out[-1] = Part(out[-1].written + part.written)
        else:
            out.append(part)
    return out
