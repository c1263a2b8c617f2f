"""Is a tool's schema one that can be shown to a model and checked against, whoever wrote it?

A schema comes from another process, and every call is checked with it in the generator. So it is refused where
it is broken, too large for a prompt, would fetch something, or could keep the check busy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator

from participants.kernel import patterns
from participants.kernel.reading import depth

_LARGEST = 16_384
_DEEPEST = 24
_MOST_PARTS = 2_000
_SIDEWAYS = ("allOf", "anyOf", "oneOf")
_ONE = ("not", "if", "then", "else")
_DOWN = ("items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
_DOWN_MANY = ("properties", "patternProperties", "dependentSchemas")


def fault(parameters: Mapping[str, Any]) -> str:
    """What is wrong with a tool's parameters, in words; empty for nothing."""
    if parameters.get("type") != "object":
        return "parameters: expected a JSON schema of type object"
    if (size := len(json.dumps(parameters))) > _LARGEST:
        return f"parameters: {size} characters do not fit into a prompt; at most {_LARGEST}"
    if depth(parameters) > _DEEPEST:
        return f"parameters: nested more than {_DEEPEST} deep"
    for pattern in patterns.patterns_in(parameters):
        if words := patterns.fault(pattern):
            return f"parameters: {words}"
    try:
        Draft202012Validator.check_schema(parameters)
    except SchemaError as error:
        return f"parameters: {error.json_path.removeprefix('$.')}: {error.message}"[:300]
    except RecursionError as error:
        return f"parameters: {error}"[:300]
    return _reference_fault(parameters)


# ---------------------------------------------------------------------- references


def _reference_fault(root: Mapping[str, Any]) -> str:
    """References may lead to parts of the same schema, and back only where that goes down into the arguments."""
    walk = _Walk(root)
    words = walk.fault(root)
    if not words and walk.recursive and walk.alternatives:
        return "parameters: refers to itself and has alternatives, which takes too long to check"
    return words


class _Walk:
    """One pass over a schema with all its references followed."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._above: list[int] = []
        self._left = _MOST_PARTS
        self.recursive = self.alternatives = False

    def fault(self, part: Any, beside: tuple[int, ...] = ()) -> str:
        """Args: `beside`: the parts that are checked against the same value as this one."""
        if not isinstance(part, dict):
            return ""
        self._left -= 1
        if self._left < 0:
            return f"parameters: more than {_MOST_PARTS} parts once all references are followed"
        if id(cast("object", part)) in beside:
            return "parameters: a reference leads to itself"
        if id(cast("object", part)) in self._above:
            self.recursive = True
            return ""
        self._above.append(id(cast("object", part)))
        words = self._inside(cast("dict[str, Any]", part), (*beside, self._above[-1]))
        self._above.pop()
        return words

    def _inside(self, part: dict[str, Any], beside: tuple[int, ...]) -> str:
        if "$dynamicRef" in part or "$id" in part:
            return "parameters: $id and $dynamicRef are not supported"
        reference = part.get("$ref", "#")
        target = resolved(self._root, reference)
        if target is None:
            return f"parameters: $ref {str(reference)[:80]!r} does not lead to a part of this schema"
        sideways = [target] if "$ref" in part else []
        for word in _SIDEWAYS:
            sideways += part.get(word, [])
        sideways += [part[word] for word in _ONE if word in part]
        self.alternatives = self.alternatives or len(sideways) > 1
        down = [part[word] for word in _DOWN if word in part] + part.get("prefixItems", [])
        for word in _DOWN_MANY:
            down += part.get(word, {}).values()
        found = [self.fault(one, beside) for one in sideways] + [self.fault(one) for one in down]
        return next(filter(None, found), "")


def resolved(root: Mapping[str, Any], reference: Any) -> Any:
    """What `#/a/b` leads to; None where that is nothing, or elsewhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if reference[1:2] not in ("", "/"):
        return None
    place: Any = root
    for step in reference[1:].split("/")[1:]:
        inside = cast("dict[str, Any]", place) if isinstance(place, dict) else {}
        place = inside.get(step.replace("~1", "/").replace("~0", "~"))
    return cast("dict[str, Any]", place) if isinstance(place, dict) else None
