"""Which part of a model's streamed text is thinking, and which is the answer?

A server that knows its model sends the two apart; others leave tags in the text, often damaged. The rules lean towards
a visible answer:

- An opening tag outside code starts thinking, the first closing tag ends it even where openers are nested: models
  repeat an opener more often than they balance it. A closing tag still owed takes back what was said since the last.
- The first closing tag without any opener makes thinking of all that came before it. A later one is plain text,
  unless nothing but blanks stands between it and the last closing tag.
- Tags in a code fence or an inline code span (which ends with its line at the latest) belong to the answer. Within
  thinking only a backtick right before a tag makes it literal: drafts leave fences open, and a lost answer is worse
  than a leaked line.
"""

import re
from typing import Literal, NamedTuple

Mark = Literal["open", "close", "partial"]

TAG_NAMES = ("thinking", "thought", "think")
"""Names of tags written as `<name>` and `</name>`, in any case, with blanks or attributes. Longer names first."""

MARKERS: dict[str, Mark] = {
    "<|channel>thought": "open",
    "<|channel|>thought": "open",
    "<channel|>": "close",
    "[THINK]": "open",
    "[/THINK]": "close",
}
"""Other spellings, matched as they stand. None may be the beginning of another."""

_SPELLINGS = [*MARKERS, *(f"<{name}" for name in TAG_NAMES), *(f"</{name}" for name in TAG_NAMES)]
_BEGINNINGS = {spelling[:length] for spelling in _SPELLINGS for length in range(1, len(spelling) + 1)}
_START = re.compile("|".join(re.escape(char) for char in sorted({spelling[0] for spelling in _SPELLINGS})))
_TAG = re.compile(rf"<(/?)(?:{'|'.join(TAG_NAMES)})(?:\s[^<>]{{0,80}})?((?<!/)>)?", re.IGNORECASE | re.ASCII)
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^`]*)$")


class Piece(NamedTuple):
    """A stretch of text. With `retract` the answer so far ends with `text`: take it off there, it was thinking."""

    kind: Literal["thinking", "answer"]
    text: str
    retract: bool = False


class ThinkSplitter:
    """Splits a text as it streams; the same text gives the same result however it is cut.

    `known_thinking`: the prompt already opened the thinking, so the text starts within it.
    """

    def __init__(self, known_thinking: bool = False) -> None:
        self._thinking = self._opened = known_thinking
        self._repeatable = known_thinking  # the model may write the prompt's opener once more
        self._owed = 1  # closing tags yet to come; before any opener, the one that lacks its own
        self._held = ""
        self._last = ""  # the character before what comes next
        self._recent: list[str] = []  # the answer since the last closing tag: what an owed one takes back
        self._answered = self._ended = False

    @property
    def unclosed(self) -> bool:
        """After `close`: the text ended within thinking and has no answer at all. The caller decides what it means."""
        return self._ended and self._thinking and not (self._answered or self._said())

    def feed(self, text: str) -> list[Piece]:
        """What is certain after `text`. Held back is only an end that may still become a tag."""
        text, self._held = self._held + text, ""
        pieces: list[Piece] = []
        begin = end = 0
        while start := _START.search(text, end):
            at = start.start()
            mark, end = _mark_at(text, at)
            if mark == "partial":
                text, self._held = text[:at], text[at:]
            elif mark:
                self._give(pieces, text[begin:at])
                begin = end if self._turn(pieces, mark) else at
        self._give(pieces, text[begin:])
        return pieces

    def close(self) -> list[Piece]:
        """The text has ended: what was held back was no tag."""
        pieces: list[Piece] = []
        self._give(pieces, self._held)
        self._held, self._ended = "", True
        return pieces

    def _give(self, pieces: list[Piece], text: str) -> None:
        if not text:
            return
        self._last = text[-1]
        self._repeatable = self._repeatable and text.isspace()
        if not self._thinking:
            self._recent.append(text)
        pieces.append(Piece("thinking" if self._thinking else "answer", text))

    def _turn(self, pieces: list[Piece], mark: Mark) -> bool:
        """Act on a tag; False when it is plain text."""
        if self._last == "`" if self._thinking else _in_code("".join(self._recent)):
            return False
        if mark == "close" and not (self._thinking or self._owed):
            return not self._said()
        if mark == "close":
            self._close(pieces)
        else:
            self._owed = self._owed + (not self._repeatable) if self._opened else 1
            self._opened, self._thinking, self._repeatable = True, True, False
        self._last = ""
        return True

    def _close(self, pieces: list[Piece]) -> None:
        if self._thinking:
            self._answered = self._answered or self._said()
        elif self._recent:
            pieces.append(Piece("thinking", "".join(self._recent), retract=True))
        self._recent.clear()
        self._thinking = False
        self._owed -= 1

    def _said(self) -> bool:
        return bool("".join(self._recent).strip())


def _mark_at(text: str, at: int) -> tuple[Mark | None, int]:
    """The tag that starts at this place, and where the text goes on after it."""
    tag = _TAG.match(text, at)
    if tag and tag[2]:
        return "close" if tag[1] else "open", tag.end()
    for marker, mark in MARKERS.items():
        if text.startswith(marker, at):
            return mark, at + len(marker)
    rest = text[at : at + 100]
    partial = rest in _BEGINNINGS or rest.lower() in _BEGINNINGS or (tag and tag.end() == len(text))
    return "partial" if partial else None, at + 1


def _in_code(text: str) -> bool:
    """Whether what follows this Markdown text stands in a code fence or in an inline code span."""
    fence = line = span = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = line = ""
    for run in re.findall("`+", line):
        span = "" if run == span else span or run
    return bool(fence or span)


def without_thinking(text: str) -> str:
    """The answer in a whole text."""
    splitter, answer = ThinkSplitter(), ""
    for piece in [*splitter.feed(text), *splitter.close()]:
        if piece.kind == "answer":
            answer += piece.text
        elif piece.retract:
            answer = answer.removesuffix(piece.text)
    return answer
