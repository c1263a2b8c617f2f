"""What did a model mean that gave "5" for a number, or one word for a list?

A slip is mended only where the schema leaves one reading, and no digit is lost by it: 01234 stays text where
text is asked for, and 3.14 never becomes an integer. What is not mended stays as it was, for the check to refuse.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, cast

from participants.kernel.reading import Number, read_json
from participants.kernel.schemas import resolved

Schema = Mapping[str, Any]
Fits = Callable[[Any, Any], bool]
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_INTEGRAL = re.compile(r"([+-]?[0-9]{1,300})\.0+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_NOTHING = frozenset({"", "null", "none", "undefined"})
_WRAPPERS = frozenset({"arguments", "parameters", "args", "input", "kwargs", "params"})
_DEEPEST = 32
_LONGEST_NUMBER = 400


def folded(name: str) -> str:
    """A name without its case and separators, so that Web-Search is web_search, and c# is not c."""
    return "".join(c for c in name.casefold() if c.isprintable() and not c.isspace() and c not in "_-.:/‐‑–")


class Mender:
    """Mends arguments for one schema.

    Args:
        schema: The tool's parameters.
        fits: Whether a value fits a part of the schema.
    """

    def __init__(self, schema: Schema, fits: Fits) -> None:
        self._root, self._fits = schema, fits

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments as they were meant."""
        schema = self._target(self._root)
        declared = _mapping(schema.get("properties"))
        while (inner := _wrapped(given, declared)) is not None:
            given = inner
        return cast("dict[str, Any]", self.mend(given, schema, 0))

    def mend(self, value: Any, schema: Any, depth: int) -> Any:
        """The value, mended where that makes it fit."""
        part = self._target(schema)
        if not part or depth > _DEEPEST:
            return value
        for option in _list(part.get("allOf")):
            value = self.mend(value, option, depth + 1)
        options = _list(part.get("anyOf")) or _list(part.get("oneOf"))
        if options:
            return self._one_of(value, options, depth)
        kinds = _kinds(part)
        if not any(_is_a(value, kind) for kind in kinds):
            value = next(self._converted(value, kinds, part, depth), value)
        if isinstance(value, dict):
            return self._object(cast("dict[str, Any]", value), part, depth)
        if isinstance(value, list):
            return self._list(cast("list[Any]", value), part, depth)
        return _chosen(value, part)

    def _target(self, schema: Any) -> Schema:
        """The schema that a chain of local references leads to; empty where it leads nowhere."""
        for _ in range(_DEEPEST):
            part = _mapping(schema)
            reference = part.get("$ref")
            if not isinstance(reference, str):
                return part
            schema = resolved(self._root, reference)
        return {}

    def _one_of(self, value: Any, options: list[Any], depth: int) -> Any:
        """As the first option that fits; one that fits as it stands comes before those that would change it."""
        for option in sorted(options, key=lambda option: not self._fits(value, option)):
            mended = self.mend(value, option, depth + 1)
            if self._fits(mended, option):
                return mended
        return value

    def _converted(self, value: Any, kinds: list[str], schema: Schema, depth: int) -> Iterator[Any]:
        for kind in kinds:
            if kind == "array":
                yield from self._as_array(value, schema, depth)
            else:
                yield from _AS.get(kind, _as_nothing)(value)

    def _as_array(self, value: Any, schema: Schema, depth: int) -> Iterator[Any]:
        if value is None:
            return
        if isinstance(value, str) and value.strip().startswith("["):
            found = _decoded(value, list)
            yield from [found] if found is not None else []
            if found is not None or value.strip().endswith("]"):
                return  # a list that cannot be read would, as one item, silently match nothing
        item = self.mend(value, schema.get("items"), depth + 1)
        if self._fits(item, schema.get("items", True)):
            yield [item]

    def _object(self, value: dict[str, Any], schema: Schema, depth: int) -> dict[str, Any]:
        declared = _mapping(schema.get("properties"))
        required = _list(schema.get("required"))
        out: dict[str, Any] = {}
        for key, item in _renamed(value, declared).items():
            part = declared.get(key, schema.get("additionalProperties"))
            if key not in required and self._is_left_out(item, part, known=key in declared, schema=schema):
                continue
            out[key] = self.mend(item, part, depth + 1)
        return out

    def _is_left_out(self, item: Any, part: Any, *, known: bool, schema: Schema) -> bool:
        """Whether an optional argument was only named to say that there is none."""
        if not known:
            return item is None and schema.get("additionalProperties") is False
        kinds = _kinds(self._target(part))
        if item is None or (isinstance(item, str) and kinds and item.strip().lower() in _NOTHING):
            return ("string" not in kinds or item is None) and not self._fits(item, part)
        return False

    def _list(self, value: list[Any], schema: Schema, depth: int) -> list[Any]:
        first = _list(schema.get("prefixItems"))
        parts = [*first, *[schema.get("items")] * max(0, len(value) - len(first))]
        return [self.mend(item, part, depth + 1) for item, part in zip(value, parts, strict=False)]


def _wrapped(given: dict[str, Any], declared: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments inside a lone `arguments` that the tool does not have."""
    name = next(iter(given), "")
    lone = len(given) == 1 and name in _WRAPPERS and name not in declared
    return cast("dict[str, Any]", given[name]) if lone and isinstance(given[name], dict) else None


# ---------------------------------------------------------------------- single values


def _is_a(value: Any, kind: str) -> bool:
    """Whether a value is of a kind already, in the form in which a tool expects it."""
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, Number):
        return False  # it becomes a float, an int or a text
    kinds: dict[str, Any] = {
        "string": str,
        "integer": int,
        "number": (int, float),
        "array": list,
        "object": dict,
        "null": type(None),
    }
    return kind in kinds and isinstance(value, kinds[kind])


def _as_string(value: Any) -> Iterable[str]:
    if isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, int | float):
        yield value.text if isinstance(value, Number) else str(value)


def _as_integer(value: Any) -> Iterable[int]:
    text = _written(value)
    if _INTEGER.fullmatch(text):
        yield int(text)
    elif found := _INTEGRAL.fullmatch(text):
        yield int(found[1])
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        yield int(value)


def _as_number(value: Any) -> Iterable[int | float]:
    """A number that a float holds as it was written; another one would silently become its neighbour."""
    text = _written(value)
    if _INTEGER.fullmatch(text):
        yield int(text)
    elif len(text) <= _LONGEST_NUMBER and _DECIMAL.fullmatch(text):
        number = float(text)
        if abs(number) != float("inf") and (isinstance(value, Number) or Decimal(text) == Decimal(repr(number))):
            yield number


def _written(value: Any) -> str:
    if isinstance(value, Number):
        return value.text
    return value.strip() if isinstance(value, str) else str(value) if type(value) in (int, float) else ""


def _as_boolean(value: Any) -> Iterable[bool]:
    word = value.strip().lower() if isinstance(value, str) else str(value) if type(value) is int else ""
    if word in _WORDS:
        yield _WORDS[word]


def _as_object(value: Any) -> Iterable[dict[str, Any]]:
    found = _decoded(value, dict) if isinstance(value, str) and value.strip().startswith("{") else None
    if found is not None:
        yield found


def _as_nothing(_value: Any) -> Iterable[Any]:
    return ()


_AS: dict[str, Callable[[Any], Iterable[Any]]] = {
    "integer": _as_integer,
    "number": _as_number,
    "boolean": _as_boolean,
    "object": _as_object,
    "string": _as_string,
}


def _decoded(text: str, kind: type) -> Any:
    """A list or an object that was given as text, in JSON or as Python writes it; None where it is neither."""
    try:
        value = read_json(text)
    except ValueError:
        try:
            value = ast.literal_eval(text.strip()) if len(text) < 10_000 else None
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return None
    return value if isinstance(value, kind) else None


def _chosen(value: Any, schema: Schema) -> Any:
    """The value of an enumeration that differs in case, blanks or type alone."""
    options = _list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    if not options or any(value == option and type(value) is type(option) for option in options):
        return value
    like = [option for option in options if _word(option) == _word(value)]
    return like[0] if len(like) == 1 else value


def _word(value: Any) -> str:
    written = next(iter(_as_string(value)), value)
    return folded(written) if isinstance(written, str) else repr(value)


# ---------------------------------------------------------------------- parts of a schema


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _kinds(schema: Schema) -> list[str]:
    kind = schema.get("type")
    return [kind] if isinstance(kind, str) else [k for k in _list(kind) if isinstance(k, str)]


def _renamed(value: dict[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """Keys that differ from a declared one in case and separators alone get its name."""
    out: dict[str, Any] = {}
    for key, item in value.items():
        like = [] if key in declared else [name for name in declared if folded(name) == folded(key)]
        name = like[0] if len(like) == 1 and like[0] not in value and like[0] not in out else key
        out[name] = item
    return out
