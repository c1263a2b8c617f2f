"""Is this text a call as Python writes it, such as `web_search(query="rain boots")`?"""

from __future__ import annotations

import ast
import re
from typing import Any, Literal, NamedTuple

from participants.kernel.printed.known import Known, PrintedCall
from participants.kernel.printed.spans import value_of

_HEAD = re.compile(r"[A-Za-z_][\w.\-]*")
_BEFORE = ("print(", "functions.", "tools.", "default_api.")
_AFTER = (".call", ".invoke", ".run")
_TOKEN = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}"']""", re.DOTALL)
_LONGEST = 4_000
_DEEPEST = 16
_LINE_END = re.compile(r"[ \t\r;]*(?:\n|$)")
_JSON_WORDS = {"true": True, "false": False, "null": None}


State = Literal["done", "partial", "none"]


class Expression(NamedTuple):
    """What stands there.

    Attributes:
        state: done; partial (the text ends within it); or none.
        end: Where it ends.
        calls: What it calls.
    """

    state: State
    end: int = 0
    calls: tuple[PrintedCall, ...] = ()


NONE = Expression("none")


def expression(text: str, at: int, known: Known, *, ended: bool, alone: bool = True) -> Expression:
    """The calls that begin at `at`: one, or several in a list.

    Args:
        text: What there is so far.
        at: Where the line's first character is.
        known: The announced tools.
        ended: Whether nothing more comes.
        alone: Whether they have to fill the line.
    """
    state = _head(text, at, known, ended=ended)
    if state != "done":
        return Expression(state)
    state, end = _balanced(text, at)
    if state != "done":
        return NONE if ended else Expression(state)
    if alone and (after := _line_end(text, end, ended=ended)) != "done":
        return Expression(after)
    calls = _calls(text[at:end], known)
    return Expression("done", end, calls) if calls else NONE


def _line_end(text: str, at: int, *, ended: bool) -> State:
    found = _LINE_END.match(text, at)
    if found is None:
        return "none"
    return "done" if ended or found[0].endswith("\n") else "partial"


def _head(text: str, at: int, known: Known, *, ended: bool) -> State:
    """Whether a line begins with a tool's name and a bracket."""
    place = at + text.startswith("[", at)
    while before := next((word for word in _BEFORE if text.startswith(word, place)), ""):
        place += len(before)
    found = _HEAD.match(text, place)
    word = found[0] if found else ""
    rest = text[place + len(word) : place + len(word) + 1]
    if rest:
        return "done" if rest == "(" and _is_name(word, known) else "none"
    begun = any(head.startswith(word.lower()) for head in (*_BEFORE, *map(str.lower, known.spellings)))
    return "partial" if not ended and (begun or _is_name(word.rpartition(".")[0], known)) else "none"


def _is_name(word: str, known: Known) -> bool:
    for ending in _AFTER:
        word = word.removesuffix(ending)
    return word.lower() in map(str.lower, known.spellings)


def _balanced(text: str, at: int) -> tuple[State, int]:
    """Where the brackets that open from `at` on are all closed."""
    deep, limit = 0, at + _LONGEST
    for token in _TOKEN.finditer(text, at, limit):
        if token[0] in "([{":
            deep += 1
        elif token[0] in ")]}":
            deep -= 1
            if deep <= 0:
                return "done", token.end()
        elif token[0] in "\"'":  # a string that does not end, not in this line or not yet
            return ("none" if "\n" in text[token.end() :] else "partial"), 0
        if deep > _DEEPEST:
            return "none", 0
    return ("partial" if len(text) < limit else "none"), 0


def _calls(written: str, known: Known) -> tuple[PrintedCall, ...]:
    if found := _with_object(written, known):
        return found
    try:
        tree = ast.parse(written, mode="eval").body
        items = tree.elts if isinstance(tree, ast.List) else [tree]
        return tuple(_call(item, known) for item in items)
    except (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return ()


def _with_object(written: str, known: Known) -> tuple[PrintedCall, ...]:
    """`NAME({...})`, with JSON inside."""
    name, _, rest = written.partition("(")
    if not rest.startswith("{") or not rest.endswith("})"):
        return ()
    try:
        arguments = value_of(rest[:-1])
    except ValueError:
        return ()
    return (_checked(PrintedCall(_bare(name), arguments), known),) if isinstance(arguments, dict) else ()


def _call(node: ast.expr, known: Known) -> PrintedCall:
    """Raises ValueError for anything but a call of a tool with plain values that fit it."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and len(node.args) == 1
    ):
        node = node.args[0]
    if not isinstance(node, ast.Call):
        raise ValueError("no call")
    arguments = {str(word.arg): _value(word.value) for word in node.keywords if word.arg is not None}
    if len(arguments) != len(node.keywords) or len(node.args) > 1:
        raise ValueError("unnamed arguments")
    name = _bare(ast.unparse(node.func))
    given: Any = arguments if not node.args else known.arguments(name, _value(node.args[0]))
    return _checked(PrintedCall(name, given), known)


def _checked(call: PrintedCall, known: Known) -> PrintedCall:
    if not known.takes(call):
        raise ValueError("it does not fit")
    return call


def _bare(name: str) -> str:
    for ending in _AFTER:
        name = name.removesuffix(ending)
    return name


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return _JSON_WORDS[node.id]
    return ast.literal_eval(node)
