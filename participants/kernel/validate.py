"""Do the arguments fit the tool's schema, or can they be made to?"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, cast

import referencing
from jsonschema import validators
from jsonschema.exceptions import ValidationError

from bus.errors import Local2Error
from participants.kernel.mend import Mender, folded
from participants.kernel.patterns import may_be_matched
from participants.kernel.reading import plain, read_json

_MOST_FAULTS = 5
_LONGEST_FAULT = 300
_MOST_UNWRAPPED = 3


class InvalidArguments(Local2Error):
    """The arguments cannot be used; the text names the field, for the model."""


def decode(arguments: Any) -> dict[str, Any]:
    """What a model gave as arguments, as a mapping: a JSON string is decoded (also a doubled one), nothing is {}.

    Raises:
        InvalidArguments: It is something else.
    """
    for _ in range(_MOST_UNWRAPPED):
        if not isinstance(arguments, str) or not arguments.strip():
            break
        arguments = _read(arguments)
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"arguments: expected a JSON object, got {_shown(arguments)}")
    return cast("dict[str, Any]", arguments)


def _read(text: str) -> Any:
    try:
        return read_json(text)
    except json.JSONDecodeError as error:
        raise InvalidArguments(f"arguments: expected a JSON object, got {text[:80]!r}") from error
    except ValueError as error:
        raise InvalidArguments(f"arguments: expected a JSON object, but {error}") from error


def _shown(value: Any) -> str:
    return repr(cast("object", plain(value)))[:80]


def shown(arguments: Any) -> dict[str, Any]:
    """The arguments as far as they can be shown, whether they fit or not."""
    try:
        return cast("dict[str, Any]", plain(decode(arguments)))
    except InvalidArguments:
        return {}


def fit(arguments: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the tool gets them: decoded, harmless slips mended, and checked.

    Raises:
        InvalidArguments: They do not fit; the text names each field.
    """
    given = decode(arguments)
    validator = _validator(json.dumps(schema, sort_keys=True))
    try:
        meant = Mender(schema, lambda value, part: _fits(validator, value, part)).arguments(given)
        meant = cast("dict[str, Any]", plain(meant))
        words = list(_faults(validator, meant, schema))
    except RecursionError as error:
        raise InvalidArguments("arguments: nested too deeply for the tool's schema") from error
    if words:
        raise InvalidArguments("; ".join(words[:_MOST_FAULTS]))
    return meant


# ---------------------------------------------------------------------- the check


def _pattern(_validator: Any, pattern: str, text: Any, _schema: Any) -> Iterator[ValidationError]:
    """`pattern`, with a bound on what is searched: the matcher cannot be interrupted."""
    if not isinstance(text, str):
        return
    if not may_be_matched(pattern, text):
        yield ValidationError(f"{len(text)} characters are too many for its pattern {pattern!r}")
    else:
        yield from cast("Iterable[ValidationError]", _plain_pattern(_validator, pattern, text, _schema) or ())


_untyped = cast("Any", validators)
_plain_pattern: Any = _untyped.Draft202012Validator.VALIDATORS["pattern"]
_Validator: Any = _untyped.extend(_untyped.Draft202012Validator, {"pattern": _pattern})
_NOTHING_TO_FETCH: Any = cast("Any", referencing).Registry()


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    """The checker for a schema. With a registry of its own it never fetches one."""
    return _Validator(json.loads(schema), registry=_NOTHING_TO_FETCH)


def _fits(validator: Any, value: Any, part: Any) -> bool:
    return part is None or bool(validator.evolve(schema=part).is_valid(value))


def _faults(validator: Any, arguments: dict[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    for error in cast("Iterable[ValidationError]", validator.iter_errors(arguments)):
        field = error.json_path.removeprefix("$.").removeprefix("$") or "arguments"
        yield f"{field}: {error.message[:_LONGEST_FAULT]}{_hint(error, arguments, schema)}"


def _hint(error: ValidationError, arguments: dict[str, Any], schema: Mapping[str, Any]) -> str:
    """For a name that is not the tool's: the one that may have been meant."""
    declared = cast("dict[str, Any]", schema.get("properties") or {})
    if error.path or error.validator not in ("required", "additionalProperties"):
        return ""
    strange = [name for name in arguments if name not in declared]
    free = [name for name in declared if name not in arguments]
    if not strange or not free:
        return f" (the arguments are: {', '.join(declared)})" if strange else ""
    meant = max(free, key=lambda name: (_alike(strange[0], name), name in schema.get("required", ())))
    return f" ({strange[0][:80]!r} was given: use {meant!r})"


def _alike(one: str, other: str) -> float:
    one, other = folded(one), folded(other)
    near = bool(one) and (one.startswith(other[:1]) or other in one)
    return difflib.SequenceMatcher(None, one[:80], other[:80]).ratio() + 0.3 * near
