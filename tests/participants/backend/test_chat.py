"""What does a line of the stream mean, and where does it end?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import ollama
import pytest

from participants.backend.chat import Unreadable, beginning, calls_in, encode, lines, read


async def cut(data: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_lines_end_at_line_feeds_alone(size: int) -> None:
    data = '{"message":{"content":"a\u0085b\u2028c\x0cd"}}\n\n{"done":true}'.replace("\x0c", "\\f").encode()
    found = [line async for line in lines(cut(data, size))]
    assert len(found) == 2
    assert read(found[0]).message.content == "a\u0085b\u2028c\x0cd"
    assert read(found[1]).done


@pytest.mark.parametrize("line", [b"{", b"[]", b"5", b'{"message": 5}', b'{"done": "x"}', b"\xff", b"[" * 100_000])
def test_what_is_no_chunk_is_unreadable(line: bytes) -> None:
    with pytest.raises(Unreadable):
        read(line)


async def repeat(piece: bytes) -> AsyncIterator[bytes]:
    while True:
        yield piece


async def test_what_has_no_end_is_read_up_to_a_limit() -> None:
    assert await beginning(repeat(b"abc"), 8) == b"abcabcab"
    assert await beginning(cut(b"abc", 2), 8) == b"abc"
    with pytest.raises(Unreadable, match="a line of more than"):
        await anext(lines(repeat(b"x" * 65_536)))


def test_error_line_is_an_error() -> None:
    with pytest.raises(ollama.ResponseError, match="out of memory"):
        read(b'{"error": "out of memory"}')


def test_lone_surrogates_are_sent_as_question_marks() -> None:
    assert encode({"content": "a\ud800"}) == b'{"content":"a?"}'


def calls_of(calls: str) -> list[tuple[str, str]]:
    line = f'{{"message": {{"content": "x", "tool_calls": {calls}}}}}'
    return calls_in(bytes(read(line.encode()).message.tool_calls))


@pytest.mark.parametrize("arguments", ['"{}"', '""', "null", "[1]", '{"a": 1}', '{"a": 1e400, "a": 2}'])
def test_odd_arguments_do_not_refuse_the_answer(arguments: str) -> None:
    assert calls_of(f'[{{"function": {{"name": "f", "arguments": {arguments}}}}}]') == [("f", arguments)]


@pytest.mark.parametrize(
    ("calls", "given"),
    [
        ("null", []),
        ("[]", []),
        ('[{"name": "f", "arguments": {}}]', [("f", "{}")]),
        ('{"function": {"name": "f"}}', [("f", "null")]),
        ("[{}, {}]", [("", "null")] * 2),
        ("[5, null]", [("", "")]),
        ('[{"function": {"name": 7}}]', [("", "null")]),
        ("[" * 200 + "]" * 200, [("", "")]),
    ],
)
def test_odd_calls_do_not_refuse_the_answer(calls: str, given: list[Any]) -> None:
    assert calls_of(calls) == given


def test_message_without_calls() -> None:
    assert calls_in(bytes(read(b'{"message": {"content": "x"}}').message.tool_calls)) == []
