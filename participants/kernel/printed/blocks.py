"""Where do a code fence and a step such as `Action: NAME` begin and end?"""

from __future__ import annotations

import re
from typing import NamedTuple

_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*([\w+-]{0,20})[ \t\r]*\n")
_FENCE_BEGUN = re.compile(r"(?:`+|~+)[ \t]*[\w+-]{0,20}[ \t\r]*")
_CODE_OF_CALLS = re.compile(
    r"(?:json[5cl]?|tools?|tool[_-]?(?:calls?|code|use)|functions?|function[_-]?calls?|action|call|python|py|javascript|"
    r"text|plaintext)?",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"[ \t\r]*(?:\n|$)")
_STEP = re.compile(r"Action:[ \t]*([^\n]{1,80}?)[ \t\r]*\n\s{0,8}Action[ _]Input:[ \t]*")
_STEP_BEGUN = re.compile(r"Action:[^\n]{0,90}(?:\n\s{0,8}[A-Za-z _:]{0,14}[ \t]*)?")


class Block(NamedTuple):
    """What stands there.

    Attributes:
        end: Where the text goes on; 0 for nothing.
        word: The open fence's marks (empty once it is closed), or the step's tool.
        waits: The text ends where it matters.
    """

    end: int = 0
    word: str = ""
    waits: bool = False


def fence_at(text: str, at: int) -> Block:
    """The first line of a fence whose language may be that of a call."""
    if opening := _FENCE.match(text, at):
        return Block(opening.end(), opening[1]) if _CODE_OF_CALLS.fullmatch(opening[2]) else Block()
    return Block(waits=_FENCE_BEGUN.fullmatch(text, at) is not None)


def fence_end_at(text: str, at: int, fence: str, *, alone: bool) -> Block:
    """The end of a fence. `alone`: it has to end its line, too."""
    end = at + len(fence)
    if len(text) <= end and fence.startswith(text[at:]):
        return Block(end if text.startswith(fence, at) else 0, waits=True)
    if not text.startswith(fence, at) or (alone and _LINE_END.match(text, end) is None):
        return Block()
    return Block(end)


def step_at(text: str, at: int) -> Block:
    """`Action: NAME`, `Action Input: …` up to the input."""
    if found := _STEP.match(text, at):
        return Block(found.end(), found[1])
    rest = text[at : at + 8]
    return Block(waits="Action:".startswith(rest) or _STEP_BEGUN.fullmatch(text, at) is not None)
