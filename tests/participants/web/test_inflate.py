"""Compressed bodies, honest and hostile."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest

from participants.web.errors import WebError
from participants.web.inflate import decoder

TEXT = b"The tide comes in. " * 500


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize("step", [1, 7, 1000, 10**6])
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("X-GZIP", gzip.compress(TEXT)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("gzip", gzip.compress(TEXT) + b"rubbish behind it"),
    ],
)
def test_a_body_comes_out_as_it_went_in(encoding: str, packed: bytes, step: int) -> None:
    unpack = decoder(encoding)
    out = b"".join(unpack.feed(packed[at : at + step], 10**6) for at in range(0, len(packed), step))
    assert out == TEXT


def test_a_bomb_takes_no_more_than_the_limit() -> None:
    bomb = gzip.compress(bytes(200_000_000), 1)
    unpack = decoder("gzip")
    tracemalloc.start()
    assert len(unpack.feed(bomb, 1_000_001)) == 1_000_001
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8_000_000


@pytest.mark.parametrize("packed", [b"no gzip at all", gzip.compress(TEXT)[:-8] + bytes(8)])
def test_damaged_data_is_said(packed: bytes) -> None:
    with pytest.raises(WebError, match="cannot be unpacked"):
        decoder("gzip").feed(packed, 10**6)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip,gzip,gzip", "x" * 1000])
def test_what_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(WebError, match="not asked for"):
        decoder(encoding)
