"""Do arguments fit, and does a fault name its field?"""

from __future__ import annotations

from typing import Any

import pytest

from participants.kernel.validate import InvalidArguments, check, decode


@pytest.mark.parametrize(
    ("given", "meant"),
    [(None, {}), ("", {}), ("{}", {}), ({}, {}), ('{"query": "x"}', {"query": "x"}), ({"a": 1}, {"a": 1})],
)
def test_arguments_are_decoded(given: Any, meant: dict[str, Any]) -> None:
    assert decode(given) == meant


@pytest.mark.parametrize("given", ["x", "[1]", "nul", 5, [1], "[" * 100_000, '{"a": '])
def test_what_is_no_object_is_refused(given: Any) -> None:
    with pytest.raises(InvalidArguments, match="expected a JSON object"):
        decode(given)


SCHEMA = {
    "type": "object",
    "properties": {"k": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["k"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("args", "field"),
    [({"k": "hello"}, "k"), ({}, "k"), ({"k": 1, "tags": [1]}, r"tags\[0\]"), ({"k": 1, "zz": 1}, "zz")],
)
def test_fault_names_its_field(args: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArguments, match=field):
        check(args, SCHEMA)


def test_fitting_arguments_pass() -> None:
    check({"k": 5, "tags": ["a"]}, SCHEMA)
