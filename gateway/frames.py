"""What did a chat client send, or why is it no frame?"""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from gateway import wire
from gateway.auth import is_id

LONGEST_ID = 128
LONGEST_APPROVAL_ID = 300
_decode_query = msgspec.json.Decoder(wire.Query).decode
_NAMED = {name: re.compile(rf'"{name}"\s*:\s*"([^"\\]{{1,{LONGEST_ID}}})"') for name in ("query_id", "session_id")}
_NO_TYPE = "Object missing required field `type`"
_EMPTY = "Expected `str` of length >= 1 - at `$.query`"


@dataclass(frozen=True)
class Refused(Exception):
    """A frame that cannot be acted on. The query it meant, if any, was not accepted."""

    code: str
    message: str
    query_id: str | None = None
    session_id: str | None = None

    def frame(self) -> wire.Error:
        """What the client is told."""
        return wire.Error(self.code, self.message, False, self.query_id, self.session_id)


def read(text: str | None, limit: int) -> wire.ClientFrame:
    """One text frame as a struct.

    Args:
        text: The frame; None for a binary one.
        limit: In bytes.

    Raises:
        Refused: With words for the client.
    """
    if text is None:
        raise Refused("bad_frame", "Binary frames are not understood: send each JSON object as a text frame.")
    if len(text) > limit or len(text.encode()) > limit:
        raise _refused(text, "frame_too_large", f"A frame may have {limit} bytes: send the text in smaller parts.")
    try:
        frame = _decode(text)
    except msgspec.ValidationError as error:
        raise _invalid(text, str(error)) from error
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _refused(text, "bad_frame", f"This is no JSON that can be read: {error}.") from error
    _check(frame)
    return frame


def _decode(text: str) -> wire.ClientFrame:
    try:
        return wire.decode_client_frame.decode(text)
    except msgspec.ValidationError as error:
        if str(error) != _NO_TYPE:
            raise
        return _decode_query(text)


def _invalid(text: str, problem: str) -> Refused:
    if problem == _EMPTY:
        return _refused(text, "empty_query", "The question is empty.")
    what, _, where = problem.partition(" - at `$.")
    return _refused(text, "bad_frame", f"{where.rstrip('`')}: {what}." if where else f"{what}.")


def _refused(text: str, code: str, message: str) -> Refused:
    """Name the turn even where the frame as a whole cannot be read, so that its sender can stop waiting."""
    found = {name: pattern.search(text) for name, pattern in _NAMED.items()}
    ids = {name: match[1] if match else None for name, match in found.items()}
    return Refused(code, message, ids["query_id"], ids["session_id"])


def _check(frame: wire.ClientFrame) -> None:
    for name in ("query_id", "session_id"):
        value = getattr(frame, name, None)
        if value is not None and not is_id(value, LONGEST_ID):
            raise Refused("bad_frame", f"{name}: expected 1 to {LONGEST_ID} characters without control characters.")
    if isinstance(frame, wire.Approve) and not is_id(frame.approval_id, LONGEST_APPROVAL_ID):
        raise Refused("bad_frame", "approval_id: expected the id of an `approval_request`.")
    if isinstance(frame, wire.Query):
        _check_query(frame)


def _check_query(query: wire.Query) -> None:
    if not query.query.strip():
        raise Refused("empty_query", "The question is empty.", query.query_id, query.session_id)
    if query.attachments:
        words = "Attachments cannot be read yet. The question was not sent: ask it again without them."
        raise Refused("attachments_not_supported", words, query.query_id, query.session_id)
