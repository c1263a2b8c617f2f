"""How is a compressed body unpacked without letting it fill the memory?

100 kB of gzip can be 100 MB. The limit holds while it is unpacked, not afterwards; and one layer is unpacked only,
since layers multiply.
"""

from __future__ import annotations

import zlib
from typing import Protocol

from participants.web.errors import WebError

ACCEPTED = "gzip, deflate"
_STEP = 65_536


class Decoder(Protocol):
    """Turns what came over the wire into the body, up to some bytes at a time."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of the body.

        Raises:
            WebError: The data is not what the header said.
        """
        ...


class Plain:
    """A body that is not compressed."""

    def feed(self, data: bytes, limit: int) -> bytes:
        """As it came."""
        return data[:limit]


class Inflate:
    """gzip, zlib's format, or raw deflate, which some servers call deflate too."""

    def __init__(self) -> None:
        self._state = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._head: bytes | None = b""

    def feed(self, data: bytes, limit: int) -> bytes:
        """Unpack; what follows the end of the packed data is passed over."""
        if self._head is not None:
            data = self._head + data
            self._head = data if len(data) < 2 else None
            if self._head is not None:
                return b""
            if not _has_header(data):
                self._state = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unpack(data, limit)

    def _unpack(self, data: bytes, limit: int) -> bytes:
        out = bytearray()
        try:
            while data and len(out) < limit and not self._state.eof:
                out += self._state.decompress(data, min(_STEP, limit - len(out)))
                data = self._state.unconsumed_tail
        except zlib.error as error:
            raise WebError("The server's answer is damaged: it cannot be unpacked.") from error
        return bytes(out)


def _has_header(data: bytes) -> bool:
    """Whether it begins as gzip or zlib do."""
    return data[:2] == b"\x1f\x8b" or (data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0)


def decoder(encoding: str) -> Decoder:
    """For a Content-Encoding header.

    Raises:
        WebError: It names a format that we did not ask for.
    """
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return Plain()
    if name in ("gzip", "x-gzip", "deflate"):
        return Inflate()
    raise WebError(f"The server packed its answer as {encoding[:40]!r}, which was not asked for.")
