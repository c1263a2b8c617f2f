"""Are thinking, answer and printed calls told apart together, however the text is cut?"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bus.messages.tool import ToolSchema
from participants.agents.generator.reader import AnswerReader
from participants.backend.thinking import Piece

TOOLS = [
    ToolSchema(
        tool="web_search",
        name="web_search",
        description="",
        parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    )
]
CALL = '{"name": "web_search", "arguments": {"query": "x"}}'
TAGGED = f"<tool_call>{CALL}</tool_call>"
ONE = [("web_search", {"query": "x"})]


def fold(pieces: list[Piece]) -> tuple[str, str]:
    """Thinking and answer, as their reader keeps them."""
    texts = {"thinking": "", "answer": ""}
    for kind, text, retract in pieces:
        assert texts["answer"].endswith(text if retract else "")
        texts["answer"] = texts["answer"].removesuffix(text if retract else "")
        texts[kind] += text
    return texts["thinking"], texts["answer"]


def read(*chunks: str) -> tuple[str, str, list[tuple[str, Any]]]:
    reader = AnswerReader(TOOLS, "find x")
    pieces = [*itertools.chain.from_iterable(map(reader.feed, chunks)), *reader.close()]
    return (*fold(pieces), reader.calls)


@pytest.mark.parametrize(
    ("text", "thinking", "answer", "calls"),
    [
        (f"<think>a</think>{CALL}", "a", "", ONE),
        (f"<think>a</think>\n\nLet me see.\n{TAGGED}", "a", "\n\nLet me see.\n", ONE),
        (f"<think>{TAGGED}</think>b", TAGGED, "b", []),
        (f"{TAGGED}</think>b", TAGGED, "b", []),
        (f"I could:\n{TAGGED}\nor not</think>b", f"I could:\nor not{TAGGED}\n", "b", []),
        (f"a {TAGGED[:20]}</think>b", f"a {TAGGED[:20]}", "b", []),
        (f"well</think>{TAGGED}", "well", "", ONE),
        (f"a<think>b</think>{TAGGED} c", "b", "a c", ONE),
        ("the user wants  a sum</think>It is 4.", "the user wants  a sum", "It is 4.", []),
        ("```xml\n<think>a</think>\n```", "", "```xml\n<think>a</think>\n```", []),
    ],
)
def test_calls_stand_in_the_answer_alone(text: str, thinking: str, answer: str, calls: list[Any]) -> None:
    for found in (read(text), read(*text)):
        assert (sorted(found[0]), found[1], found[2]) == (sorted(thinking), answer, calls)


FRAGMENTS = [
    *("<think>", "</think>", "<tool_call>", "</tool_call>", CALL, TAGGED, CALL[:25], CALL[25:], "```json\n", "\n```\n"),
    *("a", " ", "\n", "Let me see.\n", "`", "<", "{", "}", "日"),
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=10).map("".join), st.lists(st.integers(0, 200), max_size=6))
@example(f"{TAGGED}<think></think>a{TAGGED}</think>", [])
@example("<tool_call><think></think>{</think>", [])
def test_where_the_text_is_cut_changes_nothing(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    whole = read(text)
    for found in (read(*[text[a:b] for a, b in itertools.pairwise(edges)]), read(*text)):
        assert (sorted(found[0]), *found[1:]) == (sorted(whole[0]), *whole[1:])


@given(
    st.lists(st.sampled_from(["a", " ", "\n", "{", "}", '"name"', ":", "`", "<b>", "日", "- "]), max_size=20).map(
        "".join
    )
)
def test_a_text_without_tags_and_calls_is_all_answer(text: str) -> None:
    assert read(*text) == ("", text, [])
