"""What a client may send (the refusals stand in test_ws.py, each on a live socket)."""

from __future__ import annotations

import pytest

from gateway import frames, wire

LIMIT = 1000


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ('{"query": "why?"}', wire.Query("why?")),
        ('{"type": "query", "query": "why?", "session_id": null}', wire.Query("why?")),
        ('{"query": "why?", "unheard_of": [1, {}]}', wire.Query("why?")),
        ('{"query": "a\\u0000b"}', wire.Query("a\x00b")),
        ('{"type": "stop", "query_id": "q"}', wire.Stop("q")),
        ('{"type": "resume", "session_id": "s"}', wire.Resume("s")),
        (
            '{"type": "resume", "session_id": "s", "after": {"query_id": "q", "attempt": 2, "n": 7}}',
            wire.Resume("s", wire.Position("q", 2, 7)),
        ),
        ('{"type": "ping"}', wire.Ping()),
    ],
)
def test_read(text, frame):
    assert frames.read(text, LIMIT) == frame


def test_the_limit_counts_bytes():
    with pytest.raises(frames.Refused) as caught:
        frames.read('{"query": "' + "ü" * 600 + '"}', LIMIT)
    assert caught.value.code == "frame_too_large"


@pytest.mark.parametrize(
    ("text", "query_id"),
    [
        ('{"query": "\\ud800", "query_id": "q1"}', "q1"),
        ('{"query": 5, "query_id": "q1"}', "q1"),
        ('{"query": "say \\"query_id\\": \\"forged\\"", "x": , "query_id": "q1"}', "q1"),
        ('{"query": 5, "query_id": 7}', None),
    ],
)
def test_a_refusal_names_the_turn_where_it_can(text, query_id):
    with pytest.raises(frames.Refused) as caught:
        frames.read(text, LIMIT)
    assert caught.value.query_id == query_id


def test_a_wrong_field_is_named():
    with pytest.raises(frames.Refused) as caught:
        frames.read('{"query": "x", "session_id": 5}', LIMIT)
    assert caught.value.message == "session_id: Expected `str | null`, got `int`."
