"""What does every message on the bus carry besides its payload?"""

from __future__ import annotations

import itertools
import os
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, cast

import msgspec
from msgspec import Meta, Raw, Struct

from bus.errors import EnvelopeError

SCHEMA_VERSION = 1
MAX_BYTES = 16 * 1024 * 1024
"""Larger bodies are refused before they are parsed."""


class TurnRef(NamedTuple):
    """Which turn a message is about; empty strings where none is meant."""

    session_id: str = ""
    user_id: str = ""
    query_id: str = ""


NO_TURN = TurnRef()


class Envelope(Struct, frozen=True, kw_only=True):
    """One message as it travels: JSON, the second of two frames (the first is the subject)."""

    message_id: Annotated[str, Meta(description="`BOOT-N`: the sender's process and its message counter.")]
    message_type: Annotated[str, Meta(description="The payload's class, such as `QueryReceived`.")]
    subject: Annotated[str, Meta(description="Where it was published.")]
    sender_id: Annotated[str, Meta(description="The `id:` of the sender's yaml.")]
    timestamp_utc: Annotated[str, Meta(description="When it was sent, ISO 8601.")]
    payload: Annotated[Raw, Meta(description="The message itself.")]
    seq: Annotated[int, Meta(description="Counts this process's messages of this subject from 1: a gap is a loss.")] = 0
    correlation_id: Annotated[str, Meta(description="The message_id that this one answers.")] = ""
    reply_to: Annotated[str, Meta(description="The asker's inbox.")] = ""
    session_id: Annotated[str, Meta(description="The conversation, where one is meant.")] = ""
    user_id: Annotated[str, Meta(description="The user, where one is meant.")] = ""
    query_id: Annotated[str, Meta(description="The turn, where one is meant.")] = ""
    schema_version: Annotated[int, Meta(description="Of the envelope.")] = SCHEMA_VERSION

    @property
    def turn(self) -> TurnRef:
        """The turn that it is about."""
        return TurnRef(self.session_id, self.user_id, self.query_id)

    @property
    def boot(self) -> str:
        """The sending process: another one after a restart."""
        return self.message_id.partition("-")[0]


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Envelope)


def now_utc() -> str:
    """The time as ISO 8601 with microseconds, in UTC."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def encode(envelope: Envelope) -> bytes:
    """The envelope as JSON bytes."""
    return _encoder.encode(envelope)


def encode_payload(payload: object) -> Raw:
    """A message as the raw JSON that an envelope carries. Half a surrogate pair becomes `?`: no UTF-8 can hold it."""
    try:
        return Raw(_encoder.encode(payload))
    except UnicodeEncodeError:
        return Raw(_encoder.encode(_whole(msgspec.to_builtins(payload))))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in cast("dict[Any, Any]", value).items()}
    return [_whole(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def decode(body: bytes) -> Envelope:
    """Read an envelope.

    Raises:
        EnvelopeError: Too large, no JSON, or a field is missing or wrong; the text names it.
    """
    if len(body) > MAX_BYTES:
        raise EnvelopeError(f"a message of {len(body)} bytes is over the limit of {MAX_BYTES}")
    try:
        return _decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EnvelopeError(f"no envelope: {error}") from error


class Stamp:
    """Numbers the messages of one process: ids, and one sequence a subject."""

    def __init__(self) -> None:
        self.boot = os.urandom(6).hex()
        self._count = itertools.count(1)
        self._seq: dict[str, int] = {}

    def message_id(self) -> str:
        """The next message's id."""
        return f"{self.boot}-{next(self._count)}"

    def seq(self, subject: str) -> int:
        """The next number of `subject`."""
        number = self._seq[subject] = self._seq.get(subject, 0) + 1
        return number

    def forget(self, subject: str) -> None:
        """Drop the counter of an inbox that is gone, so that the table stays small."""
        self._seq.pop(subject, None)


_MOST_LOST = 1_000_000
"""Nobody misses more at once: a greater number is an error of its sender, or was never sent by it."""


class GapCounter:
    """Notices missing numbers, by sending process and subject."""

    def __init__(self, limit: int = 4096) -> None:
        self._last: dict[tuple[str, str], int] = {}
        self._limit = limit

    def lost_before(self, envelope: Envelope) -> int:
        """How many messages of this sender and subject went missing just before this one.

        The first message heard of a sender says nothing: it may have spoken before we listened.
        """
        key = (envelope.boot, envelope.subject)
        last = self._last.pop(key, None)
        lost = 0 if last is None else max(0, envelope.seq - last - 1)
        believed = lost <= _MOST_LOST
        self._last[key] = max(envelope.seq if believed else 0, last or 0)
        if len(self._last) > self._limit:
            self._last.pop(next(iter(self._last)))
        return lost if believed else 0
