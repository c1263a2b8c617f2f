"""What is this stretch of text: one or more tool calls, plain text, or not yet known?

A stretch is a run of markers, JSON values, elements and code fences. Two kinds of evidence make it a call:

- A marker of a call notation beside it, outside code: then prose may stand around it, and a name that no tool has
  is told to the model as long as another one is right.
- Without a marker (bare JSON, JSON in a code fence, a line `name(…)`) only where the caller allows it, where every part
  of it is a call of an announced tool, and nothing but blanks follows up to the end of the answer.

A function of the text alone: how the text was cut on its way makes no difference.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from participants.kernel.printed import blocks, elements, tags
from participants.kernel.printed.expressions import expression
from participants.kernel.printed.intent import has_placeholder
from participants.kernel.printed.known import Known, PrintedCall
from participants.kernel.printed.objects import calls_of
from participants.kernel.printed.spans import Span, scan, value_of

_BLANK = re.compile(r"[\s\u200b\ufeff]*")
_WORDS = re.compile(r"[ \t]*([\w.:=\-/]+(?:[ \t]+[\w.:=\-/]+){0,4})[ \t\r]*\n?")
_LONGEST_WORDS = 160


class Reading(NamedTuple):
    """What a stretch is.

    Attributes:
        kind: calls, text or unknown (more text is needed).
        end: Where it ends.
        calls: In order.
    """

    kind: Literal["calls", "text", "unknown"]
    end: int = 0
    calls: tuple[PrintedCall, ...] = ()


class _Unknown(Exception):
    """The text ends where it matters."""


class _Region:
    """One pass over a stretch that begins at `text[0]`."""

    def __init__(self, text: str, known: Known, *, ended: bool, weak: bool, line_start: bool) -> None:
        self._text, self._known, self._ended, self._weak = text, known, ended, weak
        self._place = 0
        self._line_start = line_start
        self._calls: list[PrintedCall] = []
        self._fence = ""
        self._strong = self._open = self._tagged = False
        self._name = ""

    def read(self) -> Reading:
        try:
            while self._token():
                pass
            return self._judged()
        except _Unknown:
            return Reading("unknown")

    # ------------------------------------------------------------------ what comes next

    def _token(self) -> bool:
        """Go on over one token; False where there is none."""
        start = self._place
        blank = _BLANK.match(self._text, start)
        place = blank.end() if blank else start
        if place == len(self._text):
            self._wait()
            return False
        self._line_start = self._line_start if place == 0 else "\n" in self._text[max(0, start - 1) : place]
        for read in (
            self._named_by_tag,
            self._children,
            self._marker,
            self._element,
            self._value,
            self._fenced,
            self._step,
            self._expression,
            self._words,
        ):
            end = read(place)
            if end is not None:
                self._place = end
                return True
        return False

    def _wait(self) -> None:
        if not self._ended:
            raise _Unknown

    def _named_by_tag(self, place: int) -> int | None:
        if self._fence or self._text[place] != "<":
            return None
        own = self._line_start or self._strong
        tag = tags.own_tag_at(self._text, place, self._known.spellings) if own else None
        tag = tag or (tags.name_at(self._text, place) if self._strong else None)
        if tag is None or tag.waits:
            if tag:
                self._wait()
            return None
        if tag.closes:
            self._end_of_name()
        else:
            self._name, self._tagged = tag.name, True
        self._strong = True
        return tag.end

    def _end_of_name(self) -> None:
        """A tool that was named by a tag, and then given nothing."""
        call = PrintedCall(self._name, {})
        if self._tagged and self._name and self._known.takes(call):
            self._calls.append(call)
        self._name, self._tagged = "", False

    def _children(self, place: int) -> int | None:
        """The named tool's arguments, each in a tag of its own."""
        if self._fence or not self._name or self._text[place] != "<":
            return None
        found, end, waits = tags.children_at(self._text, place, self._known.declares(self._name))
        if waits:
            self._wait()
        return self._add([PrintedCall(self._name, found)], end) if found else None

    def _marker(self, place: int) -> int | None:
        if self._fence or self._text[place] not in "<[":
            return None
        if elements.element_at(self._text, place, ended=True) is not None:
            return None
        mark = elements.mark_at(self._text, place)
        if mark is None:
            if elements.may_begin(self._text, place):
                self._wait()
            return None
        if mark.closing:
            self._end_of_name()
        self._strong, self._open = True, not mark.closing
        return mark.end

    def _element(self, place: int) -> int | None:
        if self._fence or self._text[place] != "<":
            return None
        if self._name:
            pairs, end = elements.pairs_at(self._text, place)
            if pairs:
                return self._add([PrintedCall(self._name, pairs)], end)
            if self._text.startswith("<arg_key>", place):
                self._wait()
        element = elements.element_at(self._text, place, ended=self._ended)
        if element is None or element.call is None:
            if element is not None and element.waits:
                raise _Unknown
            return None
        self._strong = True
        return self._add([element.call], element.end)

    def _value(self, place: int) -> int | None:
        if self._text[place] not in "{[":
            return None
        if not self._strong and not (self._may_be_weak() or self._fence):
            return None
        span = scan(self._text, place, None if self._strong else self._known)
        if span.state == "partial":
            self._wait()
        if span.state == "broken" and self._strong and elements.may_begin(self._text, span.end):
            self._wait()
        written = self._written(place, span)
        try:
            value = value_of(written) if written else None
        except ValueError:
            return None
        calls = self._calls_in(value)
        return self._add(calls, span.end) if calls else None

    def _written(self, place: int, span: Span) -> str:
        """The value's text; where a closing marker follows, with the brackets that a model forgot."""
        if span.state == "done":
            return self._text[place : span.end]
        mark = elements.mark_at(self._text, span.end) if span.state == "broken" and self._strong else None
        return self._text[place : span.end] + span.missing if mark and mark.closing else ""

    def _calls_in(self, value: Any) -> list[PrintedCall]:
        calls = calls_of(value, self._known, strong=False)
        if calls:
            return calls
        if self._name and isinstance(value, dict):
            return [PrintedCall(self._name, value)]
        return calls_of(value, self._known, strong=True) if self._strong else []

    def _fenced(self, place: int) -> int | None:
        if self._text[place] not in "`~":
            return None
        if self._fence:
            found = blocks.fence_end_at(self._text, place, self._fence, alone=not self._strong)
        elif self._may_be_weak() or self._strong:
            found = blocks.fence_at(self._text, place)
            if found.waits and self._ended and self._calls:
                return len(self._text)  # what is left of a damaged fence
        else:
            return None
        if found.waits:
            self._wait()
        if not found.end:
            return None
        self._fence = found.word
        return found.end

    def _step(self, place: int) -> int | None:
        if self._fence or not self._line_start or not self._text.startswith("A", place):
            return None
        found = blocks.step_at(self._text, place)
        if found.waits:
            self._wait()
        if not found.end or self._known.tool(found.word) is None:
            return None
        self._name, self._strong, self._open = found.word, True, True
        return found.end

    def _expression(self, place: int) -> int | None:
        if not (self._open or ((self._fence or self._may_be_weak()) and self._line_start)):
            return None
        found = expression(self._text, place, self._known, ended=self._ended, alone=not self._open)
        if found.state == "partial":
            self._wait()
        return self._add(list(found.calls), found.end) if found.state == "done" else None

    def _words(self, place: int) -> int | None:
        """After an opening marker: the tool's name, or what else stands in a call's head."""
        if not self._open or self._fence:
            return None
        found = _WORDS.match(self._text, place)
        if found is None or len(found[0]) > _LONGEST_WORDS:
            return None
        if found.end() == len(self._text):
            self._wait()
        self._open = False
        self._name = self._named_in(found[1]) or self._name
        return found.end()

    def _named_in(self, words: str) -> str:
        """The tool's name among them: addressed with `to=`, else the last one that a tool has, else the last."""
        parts = words.split()
        addressed = [part.partition("to=")[2] for part in parts if "to=" in part]
        real = [part for part in [words, *reversed(parts)] if self._known.tool(part)]
        return next(iter([*addressed, *real]), "")

    def _add(self, calls: list[PrintedCall], end: int) -> int:
        self._calls += calls
        self._name, self._open, self._tagged = "", False, False
        return end

    # ------------------------------------------------------------------ what it all is

    def _may_be_weak(self) -> bool:
        return self._weak and (self._line_start or bool(self._calls))

    def _judged(self) -> Reading:
        end = self._place
        blank = _BLANK.match(self._text, end)
        rest = blank.end() if blank else end
        known = [call for call in self._calls if self._known.tool(call.name)]
        over = self._ended and rest == len(self._text)
        if self._strong:
            meant = bool(known)
        else:
            filled = not any(has_placeholder(call.arguments) for call in self._calls)
            meant = self._weak and over and filled and bool(known) and len(known) == len(self._calls)
        if not meant:
            return Reading("text", end)
        return Reading("calls", end, tuple(self._calls))


def read(text: str, known: Known, *, ended: bool, weak: bool, line_start: bool) -> Reading:
    """What begins at `text[0]`.

    Args:
        text: From the place where something may begin.
        known: The announced tools.
        ended: Whether nothing more comes.
        weak: Whether calls without a marker are looked for.
        line_start: Whether the place is the beginning of a line.
    """
    return _Region(text, known, ended=ended, weak=weak, line_start=line_start).read()
