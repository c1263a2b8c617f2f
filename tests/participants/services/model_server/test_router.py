"""What the router asks, and what it makes of the reply."""

from __future__ import annotations

from typing import Any

import pytest

from participants.services.model_server import router
from participants.services.model_server.router import Decision, Tool

CLOCK = Tool(
    "get_datetime",
    "Get the current date and time. Long explanation follows.",
    {"type": "object", "properties": {"timezone": {"type": "string", "description": "IANA time zone"}}},
)
SHELF = Tool(
    "sort_shelf",
    "Sort the shelf",
    {
        "type": "object",
        "properties": {"order": {"type": "string", "enum": ["size", "colour"]}, "count": {"type": "integer"}},
        "required": ["order"],
    },
)


def user(text: str) -> dict[str, str]:
    """A user's message."""
    return {"role": "user", "content": text}


def test_the_head_depends_on_the_tools_alone() -> None:
    one, other = (router.routing([CLOCK, SHELF], [user(text)]).messages for text in ("What time is it?", "Hi"))

    assert one[:-1] == other[:-1]
    assert router.warm_up([CLOCK, SHELF]).messages[:-1] == one[:-1]
    assert one[-1]["content"] == "Request: What time is it?"


def test_a_tool_takes_one_line() -> None:
    system = router.head([CLOCK, SHELF])[0]["content"]

    assert "\nget_datetime(timezone?: IANA time zone) - Get the current date and time\n" in system
    assert "\nsort_shelf(order: size|colour, count?) - Sort the shelf\n" in system


def test_a_tool_without_written_examples_gets_one() -> None:
    head = [message["content"] for message in router.head([SHELF])]

    assert '{"name": "sort_shelf", "arguments": {"order": "size"}}' in head
    assert "Request: Sort the shelf: size" in head


def test_written_examples_need_the_arguments_to_fit() -> None:
    bare = Tool("web_search", "Search", {"type": "object", "properties": {"words": {"type": "string"}}})

    assert all("tennis" not in message["content"] for message in router.head([bare]))


def test_a_follow_up_sees_the_exchange_before_it() -> None:
    before = [user("earlier"), {"role": "assistant", "content": "yes"}, user("What time is it in Lima?")]
    asked = router.routing([CLOCK], [*before, {"role": "assistant", "content": "9:14. " * 200}, user("and in Oslo?")])

    text = asked.messages[-1]["content"]
    assert text.startswith("Before:\nuser: What time is it in Lima?\nassistant: 9:14.")
    assert text.endswith("\n\nRequest: and in Oslo?")
    assert "earlier" not in text
    assert len(text) < 500


def test_a_long_question_is_clipped() -> None:
    asked = router.routing([CLOCK], [user("begin " + "x " * 5000 + "What time is it?")])

    text = asked.messages[-1]["content"]
    assert len(text) < 1300
    assert text.endswith("What time is it?")


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ('{"name": "get_datetime", "arguments": {"timezone": "UTC"}}', Decision("get_datetime", {"timezone": "UTC"})),
        ('{"name": "get_datetime"}', Decision("get_datetime", {})),
        ('{"name": "answer"}', Decision()),
        ('{"name": "unknown", "arguments": {}}', Decision()),
        ('{"name": "get_datetime", "arguments": "UTC"}', Decision()),
        ('{"name": "get_datetime", "arguments": {"timez', Decision()),
        ("[]", Decision()),
        ("", Decision()),
    ],
)
def test_decisions(reply: str, decision: Decision) -> None:
    assert router.decision_of(reply, [CLOCK, SHELF]) == decision


def test_a_tool_may_be_called_answer() -> None:
    tool = Tool("answer", "Answer the phone", {})

    assert router.decision_of('{"name": "answer", "arguments": {}}', [tool]) == Decision("answer", {})
    assert router.decision_schema([tool])["anyOf"][1]["properties"] == {"name": {"const": "answer_directly"}}


@pytest.mark.parametrize(
    ("schema", "simple"),
    [
        ({}, {"type": "object", "properties": {}, "additionalProperties": False}),
        ("nonsense", {}),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$", "minLength": 10**9}}},
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
        ),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "integer", "title": "A"}, "minItems": 10**9}}},
            {
                "type": "object",
                "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
                "additionalProperties": False,
            },
        ),
    ],
)
def test_schemas_are_simplified(schema: Any, simple: Any) -> None:
    assert router.simplified(schema) == simple


def test_endless_schemas_end() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"again": schema}

    assert router.simplified(schema)["type"] == "object"
