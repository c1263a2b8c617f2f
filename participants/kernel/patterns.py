"""Could matching this regular expression keep us busy?

Python's matcher can be neither stopped nor bounded, and it holds everything up. So the ways in which an expression
can match are counted beforehand: a product over what repeats and what has alternatives.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from math import inf, prod
from typing import Any, cast

from participants.kernel.reading import children

_TEXT = 256
"""Characters: a text is matched against a costly expression only up to this length."""
_CHEAP = _TEXT
_MOST = 200_000
_LONGEST = 200
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?:|[(+*?|)]|\{\d*,?\d*\}|.", re.DOTALL)
_BRACES = re.compile(r"\{(\d*)(,?)(\d*)\}")
_QUANTIFIERS: dict[str, tuple[float, float]] = {"?": (0, 1), "*": (0, inf), "+": (1, inf)}
_FEW = 32


def patterns_in(part: Any) -> Iterator[str]:
    """Every regular expression that checking against a schema would run."""
    if isinstance(part, dict):
        schema = cast("dict[str, Any]", part)
        pattern = schema.get("pattern")
        yield from [pattern] if isinstance(pattern, str) else []
        named = schema.get("patternProperties")
        yield from cast("dict[str, Any]", named) if isinstance(named, dict) else ()
    for inner in children(part):
        yield from patterns_in(inner)


def fault(pattern: str) -> str:
    """Why an expression is not used, in words; empty where it may be."""
    if cost(pattern) > _MOST:
        return f"the pattern {pattern[:80]!r} could take too long to check"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"the pattern {pattern[:80]!r} is no regular expression: {error}"
    return ""


def may_be_matched(pattern: str, text: str) -> bool:
    """Whether this text is short enough for the expression."""
    ways = cost(pattern)
    return ways <= _MOST and (len(text) <= _TEXT or ways <= _CHEAP)


def cost(pattern: str) -> float:
    """In how many ways an expression can match a text of `_TEXT` characters, estimated from above.

    Infinite for a look-around, a back reference, and a group that varies and is repeated without a small bound.
    """
    if len(pattern) > _LONGEST or re.search(r"\\[1-9]|\(\?(?!:)", pattern):
        return inf
    groups: list[list[float]] = [[1.0 if pattern.startswith("^") else float(_TEXT)]]
    bars, inside = [1], 1.0
    for piece in _PIECE.findall(pattern):
        ways = _ways(piece, inside)
        inside = 1.0
        if piece.startswith("("):
            groups.append([])
            bars.append(1)
        elif piece == ")" and len(groups) > 1:
            inside = prod(groups.pop()) * bars.pop()
            groups[-1].append(inside)
        elif piece == "|":
            bars[-1] += 1
        else:
            groups[-1].append(ways)
    return prod(map(prod, groups)) * prod(bars)


def _ways(piece: str, inside: float) -> float:
    """By how much a quantifier multiplies the ways, after a group that has `inside` of its own; 1 for anything else."""
    bounds = _bounds(piece)
    if bounds is None:
        return 1
    least, most = bounds
    if inside == 1:
        return max(1, min(_TEXT, most - least + 1))
    return inf if most > _FEW else max(1, most - least + 1) * inside ** max(0, most - 1)


def _bounds(piece: str) -> tuple[float, float] | None:
    """The least and the greatest number of repetitions that a quantifier allows; None for what is none."""
    if piece in _QUANTIFIERS:
        return _QUANTIFIERS[piece]
    found = _BRACES.fullmatch(piece)
    if found is None or piece in ("{}", "{,}"):
        return None
    least = float(found[1] or 0)
    return least, float(found[3]) if found[3] else (inf if found[2] else least)
