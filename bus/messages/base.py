"""What is a message, and how is one read?"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import msgspec
from msgspec import Meta, Struct

from bus.envelope import Envelope
from bus.errors import EnvelopeError
from bus.subjects import keyed

_types: dict[str, type[Message]] = {}
_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def about(text: str, **limits: Any) -> Meta:
    """A field's description, as it appears in the protocol reference, with its limits."""
    return Meta(description=text, **limits)


class Message(Struct, frozen=True, kw_only=True):
    """The root of all messages. A subclass names its subject, and the field that adds a word to it, if any.

    Unknown fields of a newer sender are passed over; a missing or wrong one is refused with its name.
    """

    SUBJECT: ClassVar[str] = ""
    KEY: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _types[cls.__name__] = cls

    @property
    def subject(self) -> str:
        """Where this message is published."""
        return keyed(self.SUBJECT, str(getattr(self, self.KEY))) if self.KEY else self.SUBJECT

    @classmethod
    def read(cls, envelope: Envelope) -> Self:
        """The payload of `envelope` as this class.

        Raises:
            EnvelopeError: It is of another type, or a field is missing or wrong.
        """
        message = read(envelope)
        if not isinstance(message, cls):
            raise EnvelopeError(f"{envelope.subject}: expected {cls.__name__}, got {envelope.message_type}")
        return message


def message_types() -> dict[str, type[Message]]:
    """All message classes by name."""
    return dict(_types)


def read(envelope: Envelope) -> Message:
    """The payload as the class that the envelope names.

    Raises:
        EnvelopeError: The type is unknown, or a field is missing or wrong.
    """
    name = envelope.message_type
    decoder = _decoders.get(name)
    if decoder is None:
        if name not in _types:
            raise EnvelopeError(f"{envelope.subject}: unknown message type {name!r}")
        decoder = _decoders[name] = msgspec.json.Decoder(_types[name])
    try:
        return decoder.decode(envelope.payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EnvelopeError(f"{envelope.subject}: {name}: {error}") from error
