"""What does a line of the stream mean, and where does it end?"""

from __future__ import annotations

from collections.abc import AsyncIterator

import ollama
import pytest

from participants.agents.generator.chat import Unreadable, encode, lines, read


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


def test_error_line_is_an_error() -> None:
    with pytest.raises(ollama.ResponseError, match="out of memory"):
        read(b'{"error": "out of memory"}')


@pytest.mark.parametrize("arguments", ['"{}"', '""', "null", "[1]", '{"a": 1}'])
def test_odd_arguments_do_not_refuse_the_answer(arguments: str) -> None:
    line = f'{{"message": {{"tool_calls": [{{"function": {{"name": "f", "arguments": {arguments}}}}}]}}}}'
    assert (read(line.encode()).message.tool_calls or [])[0].function.name == "f"


def test_lone_surrogates_are_sent_as_question_marks() -> None:
    assert encode({"content": "a\ud800"}) == b'{"content":"a?"}'
