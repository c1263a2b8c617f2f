"""How is JSON read that a model wrote? Strictly, within bounds, and without losing a digit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn, cast

_LONGEST = 256_000
_DEEPEST = 64
_LONGEST_INT = 400
"""Digits; a longer number is kept as `Number`, since reading it as an int takes quadratic time."""


class Number(float):
    """A JSON number that still knows how it was written: a version 3.10 is not 3.1, and 1e400 is not infinity."""

    text: str

    def __new__(cls, text: str) -> Number:
        """Read it."""
        self = super().__new__(cls, text)
        self.text = text
        return self


def read_json(text: str) -> Any:
    """The value; numbers with a point or an exponent as `Number`.

    Raises:
        ValueError: It is no JSON, one key stands for two things, or it is too long or too deep; the text says which.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"{len(text)} characters are too many; at most {_LONGEST}")
    try:
        value = json.loads(
            text,
            parse_float=Number,
            parse_int=_whole,
            parse_constant=_refuse,
            object_pairs_hook=_object,
            strict=False,  # models write line breaks into strings
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if depth(value) > _DEEPEST:
        raise ValueError("it is nested too deeply")
    return value


def _whole(text: str) -> int | Number:
    return int(text) if len(text) <= _LONGEST_INT else Number(text)


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out and out[key] != value:
            raise ValueError(f"the key {key[:80]!r} stands there twice")
        out[key] = value
    return out


def depth(value: Any) -> int:
    """How deep lists and objects are nested; 0 for a single value."""
    deep, layer = 0, [value]
    while layer := [item for outer in layer for item in children(outer)]:
        deep += 1
    return deep


def children(value: Any) -> Iterator[Any]:
    """The values in a list or an object; for an empty one a null, so that it counts as one level."""
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value).values() or (None,)
    elif isinstance(value, list):
        yield from cast("list[Any]", value) or (None,)


def plain(value: Any) -> Any:
    """The value as any JSON encoder takes it."""
    if isinstance(value, Number):
        return float(value) if abs(value) != float("inf") else value.text
    if isinstance(value, dict):
        return {key: plain(item) for key, item in cast("dict[str, Any]", value).items()}
    return [plain(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value
