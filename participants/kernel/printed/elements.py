"""How are the tags and markers read that models put around their calls?

One table of shapes for all of them: `<tool_call>`, `</function_calls>`, `<|python_tag|>`, `[TOOL_CALLS]`… A marker
alone means nothing; with a call beside it, it says that the call is meant.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from participants.kernel.printed.known import PrintedCall
from participants.kernel.printed.spans import scan, value_of

_BAR = r"[|｜]"
_NAMESPACE = r"(?:[\w-]{1,16}:)?"
MARK = re.compile(
    rf"""
      </?\s?{_NAMESPACE}(?:tool|function|action)[\w▁\ -]{{0,24}}>      # <tool_call>, </function_calls>
    | <{_BAR}[^<>|｜\n]{{1,48}}{_BAR}?>                                # <|python_tag|>
    | <[^<>|｜\s]{{1,48}}{_BAR}>                                       # <tool_call|>
    | \[/?(?:TOOL_?CALLS?|TOOL_REQUEST|END_TOOL_REQUEST|ARGS|CALL_ID)\]
    | </?{_NAMESPACE}(?:invoke|param(?:eter)?s?|arg(?:ument)?s?|input)> # what is left of a damaged element
    | </?s>|<eos>|<(?:start|end)_of_turn>                              # how some models end
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CLOSING = re.compile(rf"[<\[]{_BAR}?/|end\b|[_▁]end", re.IGNORECASE)
_OPENER = re.compile(
    rf"<{_NAMESPACE}(?:function|invoke|tool)(?:\s*=\s*|\s+name\s*=\s*)[\"']?([^\s\"'<>=/]{{1,80}})[\"']?\s*>",
    re.IGNORECASE,
)
_CLOSER = re.compile(rf"</{_NAMESPACE}(?:function|invoke|tool)\s*>", re.IGNORECASE)
_PARAMETER = re.compile(
    rf"<{_NAMESPACE}(?:parameter|param|argument|arg)(?:\s*=\s*|\s+name\s*=\s*)[\"']?([^\s\"'<>=/]{{1,80}})[\"']?[^<>\n]{{0,80}}>",
    re.IGNORECASE,
)
_VALUE_END = re.compile(
    rf"</{_NAMESPACE}(?:parameter|param|argument|arg)\s*>"
    rf"|(?=<{_NAMESPACE}(?:parameter|param|argument|arg)(?:\s*=|\s+name\s*=))"
    rf"|(?=</{_NAMESPACE}(?:function|invoke|tool|tool_call)\s*>)",
    re.IGNORECASE,
)
_PAIR = re.compile(r"\s*<arg_key>([^<>]{1,80})</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_BEGUN = re.compile(
    rf"<(?:{_BAR}[^<>\n]{{0,50}}|/?\s?{_NAMESPACE}([A-Za-z▁_]*)[^<>\n]{{0,120}})?|\[/?[A-Za-z_]{{0,20}}"
)
_WORDS = (
    "tool",
    "function",
    "action",
    "invoke",
    "parameter",
    "param",
    "argument",
    "arg",
    "input",
    "eos",
    "start_of",
    "end_of",
)
_BLANK = re.compile(r"\s*")


class Mark(NamedTuple):
    """A marker, and where the text goes on after it."""

    end: int
    closing: bool


class Element(NamedTuple):
    """A call written as an element. `waits`: the text ends within it."""

    end: int
    call: PrintedCall | None = None
    waits: bool = False


def mark_at(text: str, at: int) -> Mark | None:
    """The marker at this place."""
    found = MARK.match(text, at)
    return Mark(found.end(), _CLOSING.search(found[0]) is not None) if found else None


def may_begin(text: str, at: int) -> bool:
    """Whether the text ends here within what may still become a tag or a marker."""
    found = _BEGUN.fullmatch(text, at)
    if found is None:
        return False
    word = (found[1] or "").lower()
    whole = text[at:].lstrip("</ ").lower()
    named = any(known.startswith(word) or word.startswith(known) for known in _WORDS)
    return named or re.fullmatch(r"[\w-]{0,16}:?", whole) is not None


def element_at(text: str, at: int, *, ended: bool) -> Element | None:
    """`<function=NAME>` with its parameters, also without its end; None where there is none."""
    opener = _OPENER.match(text, at)
    if opener is None:
        return None
    arguments: dict[str, Any] = {}
    end = opener.end()
    while True:
        place = _after_blank(text, end)
        if closer := _CLOSER.match(text, place):
            return Element(closer.end(), PrintedCall(opener[1], arguments))
        if parameter := _PARAMETER.match(text, place):
            value_end = _VALUE_END.search(text, parameter.end())
            if value_end is None:
                return Element(at) if ended else Element(at, waits=True)
            arguments[parameter[1]] = _unwrapped(text[parameter.end() : value_end.start()])
            end = value_end.end()
        elif text.startswith("{", place) and not arguments:
            return _with_object(text, place, opener[1], ended=ended)
        elif not ended and (place == len(text) or may_begin(text, place)):
            return Element(at, waits=True)
        elif arguments or place == len(text) or mark_at(text, place):
            return Element(end, PrintedCall(opener[1], arguments))
        else:
            return Element(at)


def _with_object(text: str, at: int, name: str, *, ended: bool) -> Element:
    """`<function=NAME>{…}`; its closing tag is a marker like others."""
    span = scan(text, at)
    if span.state == "partial" and not ended:
        return Element(at, waits=True)
    try:
        arguments = value_of(text[at : span.end]) if span.state == "done" else None
    except ValueError:
        arguments = None
    return Element(span.end, PrintedCall(name, arguments)) if isinstance(arguments, dict) else Element(at)


def pairs_at(text: str, at: int) -> tuple[dict[str, str], int]:
    """Arguments written as keys and values in turn, and where they end."""
    found: dict[str, str] = {}
    while pair := _PAIR.match(text, at):
        found[pair[1].strip()] = _unwrapped(pair[2])
        at = pair.end()
    return found, at


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _unwrapped(value: str) -> str:
    """A value without the line breaks that set it off from its tags."""
    return value.removeprefix("\r").removeprefix("\n").removesuffix("\n").removesuffix("\r")
