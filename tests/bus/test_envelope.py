"""Envelopes: what is written is read again, and nothing that is read ends a process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus import envelope as wire
from bus.envelope import Envelope, GapCounter, Stamp
from bus.errors import EnvelopeError
from bus.messages import read
from bus.messages.control import ConfigReload
from bus.messages.tool import ToolCall


def make(**fields: Any) -> Envelope:
    usual: dict[str, Any] = {
        "message_id": "b00t-1",
        "message_type": "ConfigReload",
        "subject": "config.reload",
        "sender_id": "test",
        "timestamp_utc": wire.now_utc(),
        "payload": wire.encode_payload(ConfigReload(section="ops")),
    }
    return Envelope(**{**usual, **fields})


def as_json(**fields: Any) -> bytes:
    return json.dumps({**json.loads(wire.encode(make())), **fields}).encode()


def without(field: str) -> bytes:
    values = json.loads(wire.encode(make()))
    del values[field]
    return json.dumps(values).encode()


def test_what_is_written_is_read_again() -> None:
    sent = make(seq=3, correlation_id="c", reply_to="inbox.x", session_id="s", user_id="u", query_id="q")
    got = wire.decode(wire.encode(sent))
    assert {name: getattr(got, name) for name in Envelope.__struct_fields__ if name != "payload"} == {
        name: getattr(sent, name) for name in Envelope.__struct_fields__ if name != "payload"
    }
    assert read(got) == ConfigReload(section="ops")
    assert got.turn == ("s", "u", "q")
    assert got.boot == "b00t"


def test_a_field_of_a_newer_sender_is_passed_over() -> None:
    assert wire.decode(as_json(trace_parent="00-1")).subject == "config.reload"


@pytest.mark.parametrize("field", ["message_id", "message_type", "subject", "sender_id", "timestamp_utc", "payload"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(EnvelopeError, match=field):
        wire.decode(without(field))


@pytest.mark.parametrize(
    ("field", "value"),
    [("message_id", 7), ("seq", "one"), ("seq", 1.5), ("session_id", None), ("reply_to", ["inbox"]), ("subject", {})],
)
def test_a_wrong_field_is_named(field: str, value: object) -> None:
    with pytest.raises(EnvelopeError, match=field):
        wire.decode(as_json(**{field: value}))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x00\xff\xfe", id="no text"),
        pytest.param(b"null", id="null"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"[" * 200_000, id="deep lists"),
        pytest.param(b'{"a":' * 200_000, id="deep objects"),
        pytest.param(b'{"payload":' + b"[" * 200_000 + b"]" * 200_000 + b"}", id="a deep payload"),
        pytest.param(b'{"subject":"\\ud800"}', id="half a surrogate pair"),
        pytest.param(b'{"subject":"\xed\xa0\x80"}', id="half a surrogate pair as bytes"),
        pytest.param(b'{"seq":' + b"9" * 5000 + b"}", id="a huge number"),
        pytest.param(b" " * (wire.MAX_BYTES + 1), id="too large"),
    ],
)
def test_hostile_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(EnvelopeError):
        wire.decode(body)


@pytest.mark.parametrize(
    "payload", [{"section": 7}, [], "text", None, {"section": [[]]}], ids=["number", "list", "text", "null", "nested"]
)
def test_a_hostile_payload_is_refused_when_it_is_read(payload: object) -> None:
    envelope = wire.decode(as_json(payload=payload))
    with pytest.raises(EnvelopeError, match="ConfigReload"):
        read(envelope)


def test_half_a_surrogate_pair_in_a_message_is_replaced() -> None:
    message = ToolCall(tool="t", call_id="1", args={"a\ud800b": ["\udcff"]})
    got = read(wire.decode(wire.encode(make(message_type="ToolCall", payload=wire.encode_payload(message)))))
    assert got == ToolCall(tool="t", call_id="1", args={"a?b": ["?"]})


def refused_or_envelope(body: bytes) -> bool:
    """Any other exception than the one that callers expect comes through, and fails the test."""
    try:
        read(wire.decode(body))
    except EnvelopeError:
        return False
    return True


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_or_read(body: bytes) -> None:
    refused_or_envelope(body)


@given(st.dictionaries(st.sampled_from(Envelope.__struct_fields__), json_values))
def test_any_values_of_the_fields_are_refused_or_read(fields: dict[str, Any]) -> None:
    refused_or_envelope(json.dumps({**json.loads(wire.encode(make())), **fields}).encode("utf-8", "surrogatepass"))


@given(st.integers(min_value=0), st.integers(0, 255))
def test_one_broken_byte_is_refused_or_read(at: int, byte: int) -> None:
    body = bytearray(wire.encode(make()))
    body[at % len(body)] = byte
    refused_or_envelope(bytes(body))


# --------------------------------------------------------------------------- numbers


def test_messages_are_numbered_by_subject() -> None:
    stamp = Stamp()
    assert [stamp.seq("a"), stamp.seq("a"), stamp.seq("b")] == [1, 2, 1]
    stamp.forget("a")
    assert stamp.seq("a") == 1
    assert stamp.message_id() != stamp.message_id()
    assert Stamp().boot != stamp.boot


def lost(numbers: list[int], boot: str = "b", gaps: GapCounter | None = None) -> list[int]:
    gaps = gaps or GapCounter()
    return [gaps.lost_before(make(message_id=f"{boot}-{n}", seq=n)) for n in numbers]


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([1, 2, 3], [0, 0, 0]),
        ([7, 8], [0, 0]),
        ([1, 4, 5], [0, 2, 0]),
        ([1, 1, 2], [0, 0, 0]),
        ([3, 1, 4], [0, 0, 0]),
        ([1, 2**53, 2, 5], [0, 0, 0, 2]),
        ([1, 1_000_002, 1_000_003], [0, 1_000_000, 0]),
    ],
)
def test_missing_numbers_are_counted(numbers: list[int], missing: list[int]) -> None:
    assert lost(numbers) == missing


def test_another_process_counts_anew() -> None:
    gaps = GapCounter()
    assert lost([1, 5], "old", gaps) == [0, 3]
    assert lost([1, 2], "new", gaps) == [0, 0]


def test_the_table_of_senders_stays_small() -> None:
    gaps = GapCounter(limit=2)
    lost([1], "first", gaps)
    lost([1], "second", gaps)
    lost([1], "third", gaps)
    assert lost([9], "first", gaps) == [0]
    assert lost([9], "third", gaps) == [7]
