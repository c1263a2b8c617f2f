"""Do arguments fit, are slips mended without losing anything, and does a fault name its field?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from participants.kernel.reading import Number
from participants.kernel.validate import InvalidArguments, decode, fit, shown


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (None, {}),
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("{}", {}),
        ({}, {}),
        ('""', {}),
        ('{"query": "x"}', {"query": "x"}),
        (json.dumps('{"query": "x"}'), {"query": "x"}),
        (json.dumps(json.dumps('{"query": "x"}')), {"query": "x"}),
        ('{"a": "1\n2"}', {"a": "1\n2"}),
        ('{"a": 1, "a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
    ],
)
def test_arguments_are_decoded(given: Any, meant: dict[str, Any]) -> None:
    assert decode(given) == meant


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x", "got 'x'"),
        ("[1]", "[1]"),
        ("[]", "[]"),
        ("nul", "nul"),
        ("5", "5"),
        (5, "5"),
        (True, "True"),
        ([1], "[1]"),
        ("[" * 100_000, "expected a JSON object"),
        ('{"a":' * 100 + "1" + "}" * 100, "too deeply"),
        ('{"a": ', "expected a JSON object"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "Infinity"),
        ('{"a": 1, "a": 2}', "'a' stands there twice"),
        ('{"a": "' + "x" * 300_000 + '"}', "too many"),
    ],
)
def test_what_is_no_object_is_refused(given: Any, words: str) -> None:
    with pytest.raises(InvalidArguments, match="expected a JSON object") as refused:
        decode(given)
    assert words in str(refused.value)
    assert len(str(refused.value)) < 300
    assert shown(given) == {}


PROPERTIES: dict[str, Any] = {
    "id": {"type": "string"},
    "k": {"type": "integer", "minimum": 0},
    "x": {"type": "number"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "sizes": {"type": "array", "items": {"type": "integer"}},
    "on": {"type": "boolean"},
    "unit": {"type": "string", "enum": ["Celsius", "Fahrenheit"]},
    "level": {"enum": [1, 2, 3]},
    "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    "either": {"type": ["integer", "string"]},
    "text_or_list": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    "where": {"type": "object", "properties": {"city": {"type": "string"}, "floor": {"type": "integer"}}},
    "rooms": {"type": "array", "items": {"$ref": "#/$defs/room"}},
    "both": {"allOf": [{"type": "integer"}, {"minimum": 3}]},
    "max_results": {"type": "integer"},
    "limit": {"type": "integer", "default": 5},
    "slug": {"type": "string", "pattern": "^[a-z]+-[a-z]+$"},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": PROPERTIES,
    "$defs": {"room": {"type": "object", "properties": {"no": {"type": "string"}}, "required": ["no"]}},
}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            '{"id":12345678901234567890,"k":"5","tags":"[\\"a\\",\\"b\\"]","on":"true"}',
            {"id": "12345678901234567890", "k": 5, "tags": ["a", "b"], "on": True},
        ),
        ('{"id": "01234"}', {"id": "01234"}),
        ('{"id": 123456789012345678901234567890}', {"id": "123456789012345678901234567890"}),
        ('{"id": 3.10}', {"id": "3.10"}),
        ('{"id": 1e400}', {"id": "1e400"}),
        ('{"id": -0.0}', {"id": "-0.0"}),
        ('{"id": false}', {"id": "false"}),
        ('{"id": " 5 "}', {"id": " 5 "}),
        ('{"id": "null"}', {"id": "null"}),
        ('{"id": "[1]"}', {"id": "[1]"}),
        ('{"k": " 5 "}', {"k": 5}),
        ('{"k": "007"}', {"k": 7}),
        ('{"k": 3.0}', {"k": 3}),
        ('{"k": "3.0"}', {"k": 3}),
        ('{"k": 1e3}', {"k": 1000}),
        ('{"k": "12345678901234567890123"}', {"k": 12345678901234567890123}),
        ('{"k": 12345678901234567890.0}', {"k": 12345678901234567890}),
        ('{"x": "2.5"}', {"x": 2.5}),
        ('{"x": "1e3"}', {"x": 1000.0}),
        ('{"x": 7}', {"x": 7}),
        ('{"x": "7"}', {"x": 7}),
        ('{"tags": "a"}', {"tags": ["a"]}),
        ('{"tags": "a, b"}', {"tags": ["a, b"]}),
        ('{"tags": 5}', {"tags": ["5"]}),
        ('{"tags": [1, 2.50, true]}', {"tags": ["1", "2.50", "true"]}),
        ("{\"tags\": \"['a', 'b']\"}", {"tags": ["a", "b"]}),
        ('{"tags": "[draft] notes"}', {"tags": ["[draft] notes"]}),
        ('{"sizes": "[1, \\"2\\"]"}', {"sizes": [1, 2]}),
        ('{"sizes": "3"}', {"sizes": [3]}),
        ('{"on": "False"}', {"on": False}),
        ('{"on": 1}', {"on": True}),
        ('{"on": "off"}', {"on": False}),
        ('{"unit": "celsius"}', {"unit": "Celsius"}),
        ('{"unit": " FAHRENHEIT "}', {"unit": "Fahrenheit"}),
        ('{"level": "2"}', {"level": 2}),
        ('{"maybe": "5"}', {"maybe": 5}),
        ('{"maybe": null}', {"maybe": None}),
        ('{"either": "5"}', {"either": "5"}),
        ('{"either": 5.0}', {"either": 5}),
        ('{"text_or_list": "[1]"}', {"text_or_list": "[1]"}),
        ('{"text_or_list": [1]}', {"text_or_list": ["1"]}),
        ('{"where": "{\\"city\\": 5, \\"floor\\": \\"2\\"}"}', {"where": {"city": "5", "floor": 2}}),
        ('{"rooms": {"no": 12}}', {"rooms": [{"no": "12"}]}),
        ('{"both": "4"}', {"both": 4}),
        ('{"Max-Results": "5"}', {"max_results": 5}),
        ('{"maxResults": 5}', {"max_results": 5}),
        ('{"k": null, "id": "a", "tags": null}', {"id": "a"}),
        ('{"k": "", "x": "null", "on": "None"}', {}),
        ('{"slug": "a-b"}', {"slug": "a-b"}),
        ('{"arguments": {"k": "1"}}', {"k": 1}),
        ('{"arguments": {"parameters": {"k": "1"}}}', {"k": 1}),
        ("{}", {}),
        ('{"unheard_of": [1.5, {"a": 2.0}]}', {"unheard_of": [1.5, {"a": 2.0}]}),
    ],
)
def test_slips_are_mended_without_losing_a_digit(written: str, meant: dict[str, Any]) -> None:
    fitted = fit(written, SCHEMA)
    assert (fitted, repr(fitted)) == (meant, repr(meant))
    assert fit(fitted, SCHEMA) == fitted


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ('{"k": "hello"}', "k: "),
        ('{"k": "3.14"}', "k: "),
        ('{"k": 3.14}', "k: "),
        ('{"k": 1e400}', "k: "),
        ('{"k": true}', "k: "),
        ('{"k": "1e3"}', "k: "),
        ('{"k": "٣"}', "k: "),
        ('{"k": "-1"}', "k: "),
        ('{"k": "' + "9" * 5000 + '"}', "k: "),
        ('{"k": [5]}', "k: "),
        ('{"x": 1e400}', "x: "),
        ('{"x": "1e400"}', "x: "),
        ('{"x": "NaN"}', "x: "),
        ('{"x": "12345678901234567890.123"}', "x: "),
        ('{"id": ["a"]}', "id: "),
        ('{"id": {}}', "id: "),
        ('{"tags": "[a, b]"}', "tags: "),
        ('{"tags": {"a": 1}}', "tags: "),
        ('{"sizes": ["x"]}', "sizes[0]: "),
        ('{"on": "maybe"}', "on: "),
        ('{"on": 2}', "on: "),
        ('{"unit": "kelvin"}', "unit: "),
        ('{"level": 4}', "level: "),
        ('{"maybe": "x"}', "maybe: "),
        ('{"both": 2}', "both: "),
        ('{"where": {"floor": "top"}}', "where.floor: "),
        ('{"rooms": [{}]}', "rooms[0]: "),
        ('{"slug": "A-b"}', "slug: "),
        ('{"slug": "' + "a" * 5000 + '"}', "slug: "),
    ],
)
def test_what_cannot_be_mended_names_its_field(written: str, field: str) -> None:
    with pytest.raises(InvalidArguments) as refused:
        fit(written, SCHEMA)
    assert str(refused.value).startswith(field)
    assert len(str(refused.value)) < 500


STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"q": "x"}, ["query", "'q' was given: use 'query'"]),
        ({}, ["'query' is a required property"]),
        ({"query": None}, ["query: None"]),
        ({"query": "x", "lim": 5}, ["lim", "use 'limit'"]),
        ({"query": "x", "limit": 1, "zz": 1}, ["zz"]),
    ],
)
def test_strange_names_are_refused_with_the_nearest_real_one(given: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InvalidArguments) as refused:
        fit(given, STRICT)
    assert [word in str(refused.value) for word in words] == [True] * len(words)


def test_nothing_for_a_strange_name_is_left_out() -> None:
    assert fit({"query": "x", "zz": None}, STRICT) == {"query": "x"}


def test_two_spellings_of_one_name_are_not_merged() -> None:
    with pytest.raises(InvalidArguments):
        fit({"query": "x", "Query": "y"}, STRICT)


def test_many_faults_are_few_words() -> None:
    with pytest.raises(InvalidArguments) as refused:
        fit({f"z{n}": "x" * 1000 for n in range(1000)}, STRICT)
    assert len(str(refused.value)) < 2000


def test_recursive_arguments_are_checked_as_deep_as_they_are() -> None:
    node = {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    schema = {"type": "object", "properties": {"list": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    assert fit('{"list": {"n": "1", "next": {"n": "2"}}}', schema) == {"list": {"n": 1, "next": {"n": 2}}}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["5", "01", "true", "[1]", "null", '{"no": 1}', "a", "", "1e5", "CELSIUS"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*PROPERTIES, "zz"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def fitted_or_words(written: str) -> dict[str, Any] | str:
    try:
        return fit(written, SCHEMA)
    except InvalidArguments as error:
        return str(error)


def is_right(outcome: dict[str, Any] | str) -> bool:
    """Words that name a field, or arguments that fit, hold nothing of ours, and would not be mended again."""
    if isinstance(outcome, str):
        return ": " in outcome
    Draft202012Validator(SCHEMA).validate(outcome)
    kept = fit(json.dumps(outcome), SCHEMA) == outcome
    return kept and not any(isinstance(value, Number) for value in outcome.values())


@given(st.dictionaries(st.sampled_from([*PROPERTIES, "Max-Results", "zz"]), JSON, max_size=5))
def test_whatever_is_given_fits_or_is_refused_with_words(arguments: dict[str, Any]) -> None:
    assert is_right(fitted_or_words(json.dumps(arguments)))


@given(st.dictionaries(st.sampled_from(["id", "either", "unheard_of"]), st.text(), max_size=3))
def test_text_for_text_stays_as_it_is(arguments: dict[str, str]) -> None:
    assert fit(json.dumps(arguments), SCHEMA) == arguments
