"""Where does a printed JSON value end, and may what there is of it still become a tool call?

One pass over the text from the value's first bracket. What cannot be a call is known as early as its first key, so
that ordinary JSON is shown while it streams.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Literal, NamedTuple

from participants.kernel.printed import objects
from participants.kernel.printed.known import Known
from participants.kernel.reading import read_json

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_QUOTED = r"'[^'\\]*(?:\\.[^'\\]*)*'"
_JSON = re.compile(rf'{_STRING}|["{{}}\[\]:,<]', re.DOTALL)
_PYTHON = re.compile(rf"{_STRING}|{_QUOTED}|[\"'{{}}\[\]:,<]", re.DOTALL)
_FIRST = re.compile(r"[^\s\[{]")
_BARE = re.compile(r"[\s\w.+\-]*")
_BLANK = re.compile(r"\s*")
_CLOSES = {"{": "}", "[": "]"}
_DEEPEST = 32
_LONGEST_PYTHON = 10_000


class Span(NamedTuple):
    """A value in a text.

    Attributes:
        state: done; partial (the text ends within it); or broken: it is no value, or no call.
        end: Where it ends, or where it broke.
        missing: For a broken one: the brackets that would close it there.
    """

    state: Literal["done", "partial", "broken"]
    end: int
    missing: str = ""


class _Scan:
    """One pass. `known`: the tools, where the value has to be a call of one of them."""

    def __init__(self, text: str, at: int, known: Known | None) -> None:
        self._text, self._at, self._known = text, at, known
        self._open: list[str] = []
        self._before = ""
        self._level = 0  # how deep the objects are whose keys tell a call; 0 before there is one
        self._key, self._named = "", False

    def run(self) -> Span:
        last = self._at
        first = _FIRST.search(self._text, self._at)
        tokens = _PYTHON if first is not None and first[0] == "'" else _JSON
        for token in tokens.finditer(self._text, self._at):
            if not self._may_stand_between(self._text[last : token.start()]):
                return self._broken(last)
            found = token[0]
            if found in "\"'":
                return Span("partial", len(self._text))
            if not self._take(found):
                return self._broken(token.start())
            last = token.end()
            if not self._open:
                return Span("done", last)
        if not self._may_stand_between(self._text[last:]):
            return self._broken(last)
        return Span("partial", len(self._text))

    def _broken(self, at: int) -> Span:
        return Span("broken", at, "".join(_CLOSES[bracket] for bracket in reversed(self._open)))

    def _may_stand_between(self, gap: str) -> bool:
        """Numbers and words stand where a value may, and nowhere else."""
        before_value = self._before in ("[", ":") or (self._before == "," and self._open[-1:] == ["["])
        return (_BARE if before_value else _BLANK).fullmatch(gap) is not None

    def _take(self, found: str) -> bool:
        """Go on over a token; False where it cannot stand there."""
        if found in _CLOSES:
            return self._enter(found)
        if len(found) > 1:
            return self._string(found[1:-1])
        if found in "}]" and (not self._open or _CLOSES[self._open.pop()] != found):
            return False
        self._before = found
        return found != "<"

    def _enter(self, bracket: str) -> bool:
        listed = self._open == ["["]  # a list of calls holds objects
        if self._before == "{" or (listed and bracket == "["):
            return False
        self._open.append(bracket)
        self._before = bracket
        if bracket == "{":
            self._level = self._level or len(self._open)
            if len(self._open) == self._level:
                self._key, self._named = "", False
        return len(self._open) <= _DEEPEST

    def _string(self, text: str) -> bool:
        if self._before not in ("{", ",", ":", "[") or self._open == ["["]:
            return False
        is_key = self._open[-1] == "{" and self._before != ":"
        self._before = '"'
        if self._known is None or len(self._open) != self._level or "\\" in text:
            return True
        return self._may_be_key(text, self._known) if is_key else self._may_be_value(text, self._known)

    def _may_be_key(self, text: str, known: Known) -> bool:
        """An argument may stand beside the tool's name, but not before it."""
        self._key = text
        return self._named or text in objects.KEYS or text in known.spellings

    def _may_be_value(self, text: str, known: Known) -> bool:
        if self._key == "type" and not self._named:
            return text in objects.TYPES
        if self._key not in objects.NAMES or self._named:
            return True
        self._named = known.tool(text) is not None
        return self._named


def scan(text: str, at: int, known: Known | None = None) -> Span:
    """The value that begins at a bracket.

    Args:
        text: What there is so far.
        at: The bracket.
        known: The tools, where the value has to be a call of one of them; None where it has not.
    """
    return _Scan(text, at, known).run()


def value_of(written: str) -> Any:
    """What was written, in JSON or as Python writes it.

    Raises:
        ValueError: It is neither.
    """
    try:
        return read_json(written)
    except ValueError:
        if len(written) > _LONGEST_PYTHON:
            raise
        return _python_value(written)


def _python_value(written: str) -> Any:
    try:
        return ast.literal_eval(written)
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError("neither JSON nor Python") from error
