"""Messages: all of them, by what they promise."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from bus import envelope as wire
from bus.envelope import Envelope
from bus.errors import EnvelopeError
from bus.messages import Message, message_types, read
from bus.messages.control import ConfigReload, Done
from bus.messages.tool import ToolCall

KINDS = [kind for kind in message_types().values() if kind.__module__.startswith("bus.messages.")]
WITH_REQUIRED = [
    pytest.param(kind, field, id=f"{kind.__name__}.{field.name}")
    for kind in KINDS
    for field in msgspec.structs.fields(kind)
    if field.required
]


def enveloped(kind: str, payload: Any) -> Envelope:
    return Envelope(
        message_id="b-1",
        message_type=kind,
        subject="a.b",
        sender_id="test",
        timestamp_utc=wire.now_utc(),
        payload=Raw(json.dumps(payload).encode()),
    )


@pytest.mark.parametrize(("kind", "field"), WITH_REQUIRED)
def test_a_missing_field_is_refused_with_its_name(kind: type[Message], field: msgspec.structs.FieldInfo) -> None:
    required = [other.name for other in msgspec.structs.fields(kind) if other.required]
    before = required[: required.index(field.name)]
    with pytest.raises(EnvelopeError, match=f"{kind.__name__}.*{before[0] if before else field.name}"):
        read(enveloped(kind.__name__, {}))


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        ({"call_id": "1", "args": {}}, "tool"),
        ({"tool": "t", "args": {}}, "call_id"),
        ({"tool": "t", "call_id": "1"}, "args"),
        ({"tool": 7, "call_id": "1", "args": {}}, "tool"),
        ({"tool": "t", "call_id": "1", "args": []}, "args"),
        ({"tool": "t", "call_id": "1", "args": {}, "timeout_s": "soon"}, "timeout_s"),
    ],
)
def test_a_missing_or_wrong_field_is_named(payload: object, named: str) -> None:
    with pytest.raises(EnvelopeError, match=f"ToolCall.*{named}"):
        read(enveloped("ToolCall", payload))


def test_an_unknown_field_is_passed_over() -> None:
    payload = {"tool": "t", "call_id": "1", "args": {}, "trace": "new"}
    assert read(enveloped("ToolCall", payload)) == ToolCall(tool="t", call_id="1", args={})


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(EnvelopeError, match="unknown message type 'Nonsense'"):
        read(enveloped("Nonsense", {}))


def test_a_message_of_another_type_than_expected_is_refused() -> None:
    with pytest.raises(EnvelopeError, match="expected Done, got ConfigReload"):
        Done.read(enveloped("ConfigReload", {}))
    assert ConfigReload.read(enveloped("ConfigReload", {})) == ConfigReload()


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.__name__) for kind in KINDS])
def test_every_message_has_a_subject_and_every_field_a_description(kind: type[Message]) -> None:
    schema = msgspec.json.schema(kind)["$defs"][kind.__name__]
    assert kind.SUBJECT
    assert kind.__doc__
    assert [name for name, field in schema["properties"].items() if "description" not in field] == []
