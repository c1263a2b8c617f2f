"""Is thinking told apart from the answer, however the text is cut and whichever tags are missing?"""

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from participants.backend.thinking import MARKERS, TAG_NAMES, Piece, ThinkSplitter

FRAGMENTS = [
    *MARKERS,
    *(f"<{name}>" for name in TAG_NAMES),
    *(f"</{name}>" for name in TAG_NAMES),
    *('<think id="1">', "</THINK >", "<think/>", "<think", "</thi", "<", "[", "<b>", "</", "<|channel"),
    *("`", "``", "```", "```xml\n", "\n```\n", "\n", "\n\n", " ", "> ", "~~~\n", "a", "it is 4", "день 🙂"),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


def fold(pieces: Iterable[Piece]) -> tuple[str, str]:
    """The thinking and the answer that the pieces add up to, as their reader keeps them."""
    texts = {"thinking": "", "answer": ""}
    for kind, text, retract in pieces:
        assert texts["answer"].endswith(text if retract else "")
        texts["answer"] = texts["answer"].removesuffix(text if retract else "")
        texts[kind] += text
    return texts["thinking"], texts["answer"]


def split(*chunks: str, known_thinking: bool = False) -> tuple[str, str]:
    splitter = ThinkSplitter(known_thinking)
    return fold([*itertools.chain.from_iterable(map(splitter.feed, chunks)), *splitter.close()])


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("It is 4.", "", "It is 4."),
        ("<think>two and two</think>It is 4.", "two and two", "It is 4."),
        ("<thinking>a</thinking>\n\nb", "a", "\n\nb"),
        ("<thought>a</thought>b", "a", "b"),
        ('\n<THINK type="deep">\na</Think >b', "\na", "\nb"),
        ("<|channel>thought\na<channel|>b", "\na", "b"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("Well. <think>a</think>b <think>c</think>d", "ac", "Well. b d"),
        ("<think></think>b", "", "b"),
        ("<think/>b", "", "<think/>b"),
    ],
)
def test_tags_are_taken_out_of_the_text(text: str, thinking: str, answer: str) -> None:
    assert split(text) == (thinking, answer)


def test_a_lone_closing_tag_makes_thinking_of_what_was_said() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("the user wants") == [Piece("answer", "the user wants")]
    assert splitter.feed("  a sum</thi") == [Piece("answer", "  a sum")]
    assert splitter.feed("nk>It is 4.") == [
        Piece("thinking", "the user wants  a sum", retract=True),
        Piece("answer", "It is 4."),
    ]
    assert splitter.close() == []


def test_only_the_first_lone_closing_tag_counts() -> None:
    assert split("a</think>Write </think> at the end.") == ("a", "Write </think> at the end.")


def test_after_an_opener_a_bare_closing_tag_in_the_answer_is_text() -> None:
    assert split("<think>a</think>Write </think> at the end.") == ("a", "Write </think> at the end.")


def test_a_doubled_closing_tag_is_not_shown() -> None:
    assert split("<think>a</think>\n</think>b") == ("a", "\nb")


def test_nested_thinking() -> None:
    assert split("So: <think>a<think>b</think>c</think>d") == ("abc", "So: d")


def test_a_repeated_opener_does_not_swallow_the_answer() -> None:
    assert split("<think>\n<think>a</think>b") == ("\na", "b")


def test_the_prompt_opened_the_thinking() -> None:
    splitter = ThinkSplitter(known_thinking=True)
    assert splitter.feed("a</think>b") == [Piece("thinking", "a"), Piece("answer", "b")]


def test_the_model_repeats_the_opener_of_the_prompt() -> None:
    assert split("\n<think>a</think>b </think> c", known_thinking=True) == ("\na", "b </think> c")


@pytest.mark.parametrize(
    "text",
    [
        "Write `<think>` and `</think>` around it.",
        "``a ` <think>`` b",
        "```xml\n<think>a</think>\n```\nThat is all.",
        "~~~\n</think>\n~~~\n",
        "1. So:\n   ```\n   </think>\n   ```\n",
        "> ```\n> <think>\n> ```\n",
        "````\n```\n<think>\n````\n",
        "```\n```python\n<think>\n```\n",
        "a < b <thin",
        "<thinker>a</thinker>",
    ],
)
def test_tags_in_code_and_what_only_resembles_them_stay_in_the_answer(text: str) -> None:
    assert split(text) == ("", text)


@pytest.mark.parametrize("code", ["```\nx\n```", "`x`", "```x```", "a ` b\n"])
def test_code_that_has_ended_protects_nothing(code: str) -> None:
    assert split(f"{code}<think>a</think>b") == ("a", f"{code}b")


def test_a_fence_left_open_in_a_draft_does_not_swallow_the_answer() -> None:
    assert split("<think>```python\nx</think>b") == ("```python\nx", "b")


def test_a_tag_quoted_within_thinking_does_not_end_it() -> None:
    assert split("<think>is `</think>` a tag?</think>b") == ("is `</think>` a tag?", "b")


@pytest.mark.parametrize(
    ("text", "unclosed"),
    [("<think>a", True), (" \n<think>a", True), ("Well. <think>a", False), ("<think>a</think>", False), ("", False)],
)
def test_thinking_that_never_ends_is_reported_when_there_is_no_answer(text: str, unclosed: bool) -> None:
    splitter = ThinkSplitter()
    splitter.feed(text)
    assert not splitter.unclosed
    splitter.close()
    assert splitter.unclosed is unclosed


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("a <b> c", "a <b> c"),
        ("a <thi", "a "),
        ("a <thi ", "a <thi "),
        ("a <think x", "a "),
        ("a [/T", "a "),
        ("a [1", "a [1"),
    ],
)
def test_only_what_may_still_become_a_tag_is_held_back(text: str, given: str) -> None:
    splitter = ThinkSplitter()
    assert "".join(piece.text for piece in splitter.feed(text)) == given
    assert "".join(piece.text for piece in splitter.close()) == text.removeprefix(given)


def test_an_endless_tag_is_given_up() -> None:
    text = "<think " + "x" * 500
    assert fold(ThinkSplitter().feed(text)) == ("", text)


@given(TEXTS, st.lists(st.integers(0, 120)), st.booleans())
@example("the user wants  a sum</think>It is 4.", [14, 27], False)
def test_where_the_text_is_cut_changes_nothing(text: str, cuts: list[int], known_thinking: bool) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert split(*chunks, known_thinking=known_thinking) == split(text, known_thinking=known_thinking)
    assert split(*text, known_thinking=known_thinking) == split(text, known_thinking=known_thinking)


@given(TEXTS.filter(lambda text: not any(mark in text.lower() for mark in ("think", "thought", "channel"))))
def test_a_text_without_tags_is_all_answer(text: str) -> None:
    assert split(text) == ("", text)


@given(st.lists(st.sampled_from([*FRAGMENTS, "word"]), max_size=14))
def test_every_word_ends_up_in_the_thinking_or_in_the_answer(fragments: list[str]) -> None:
    words = [f"{{{number}}}" for number in range(len(fragments))]
    thinking, answer = split("".join(itertools.chain.from_iterable(zip(fragments, words, strict=True))))
    assert [thinking.count(word) + answer.count(word) for word in words] == [1] * len(words)


@given(st.lists(st.sampled_from([" ", "a", "日", "\n", ">", "/", "b "])).map("".join), st.sampled_from(TAG_NAMES))
def test_no_character_but_the_tags_is_lost(text: str, name: str) -> None:
    assert split(f"<{name}>{text}</{name}>{text}") == (text, text)
    assert split(f"{text}</{name}>{text}") == (text, text)
