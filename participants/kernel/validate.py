"""Do the arguments fit the tool's schema?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

from jsonschema.exceptions import ValidationError
from jsonschema.validators import Draft202012Validator

from bus.errors import Local2Error


class InvalidArguments(Local2Error):
    """The arguments cannot be used; the text names the field, for the model."""


def decode(arguments: Any) -> dict[str, Any]:
    """What a model gave as arguments, as a mapping: a JSON string is decoded, nothing is {}.

    Raises:
        InvalidArguments: It is something else.
    """
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError) as error:
            raise InvalidArguments(f"arguments: expected a JSON object, got {arguments[:80]!r}") from error
    if not isinstance(arguments, dict):
        raise InvalidArguments(f"arguments: expected a JSON object, got {str(cast('object', arguments))[:80]!r}")
    return cast("dict[str, Any]", arguments)


def check(arguments: dict[str, Any], schema: dict[str, Any]) -> None:
    """Check arguments against a schema.

    Raises:
        InvalidArguments: Each fault with its field.
    """
    validator: Any = Draft202012Validator(schema)
    faults = cast("Iterable[ValidationError]", validator.iter_errors(arguments))
    words = [f"{error.json_path.removeprefix('$.') or 'arguments'}: {error.message}"[:300] for error in faults]
    if words:
        raise InvalidArguments("; ".join(words[:5]))
