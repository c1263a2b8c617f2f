"""What is worth remembering, and what is kept of it by rules alone."""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.critique import Grade
from bus.messages.ledger import EndedTurn, TurnEnd
from participants.agents.memory import rules, worth


def ended(query: str, answer: str, **end: Any) -> EndedTurn:
    """An answered turn."""
    made = TurnEnd(status="answered", finish_reason="stop", answer=answer, model="gemma3:4b", **end)
    return EndedTurn(session_id="s", user_id="ann", query_id="q", query=query, created_at="2026-12-06", end=made)


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Thank you so much!",
        "ok 👍",
        "Hi there.",
        "",
        "😀",
        "Danke dir!",
        "merci beaucoup",
        "はい",
        "good night :)",
    ],
)
def test_small_talk_is_small_talk(text: str) -> None:
    assert worth.is_small_talk(text)


@pytest.mark.parametrize(
    "text", ["thanks, my sister is Nora", "How is Kiel?", "42", "no tea for me", "Good morning, call me Ishmael"]
)
def test_what_says_something_is_not(text: str) -> None:
    assert not worth.is_small_talk(text)


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (ended("thanks", "You are welcome."), "small talk"),
        (ended("/remember x", "Remembered: x"), "command"),
        (ended("Why?", " "), "not answered"),
    ],
)
def test_nothing_is_kept_of_what_says_nothing(turn: EndedTurn, why: str) -> None:
    assert why in worth.why_not(turn)


def test_an_answer_that_only_repeats_what_was_recalled_is_not_kept_again() -> None:
    turn = ended("What is my PIN hint?", "Your PIN hint is blue whale.")
    assert "repeats" in worth.why_not(turn, ["My PIN hint is blue whale."])
    assert worth.why_not(turn, ["An octopus lives in Kiel."]) == ""
    assert worth.why_not(turn) == ""


def test_an_answer_that_adds_something_to_it_is_kept() -> None:
    turn = ended("And whales?", "The blue whale eats four tons of krill a day, mostly around Antarctica.")
    assert worth.why_not(turn, ["My PIN hint is blue whale."]) == ""


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("What is the difference between TCP and UDP?", "comparison"),
        ("How do I install Debian?", "procedure"),
        ("Warum ist der Himmel blau?", "explanation"),
        ("Where is Kiel?", "fact"),
        ("", "fact"),
    ],
)
def test_the_intent_comes_from_how_it_is_asked(query: str, intent: str) -> None:
    assert rules.intent(query) == intent


def test_an_engram_holds_question_summary_and_what_was_said_of_it() -> None:
    turn = ended("Where  is\nKiel?", "**Kiel** is in the north. See [a map](http://x).", untrusted=True)
    kept = rules.engram(turn)
    assert (kept.query, kept.text) == ("Where is Kiel?", "Kiel is in the north. See a map.")
    assert (kept.untrusted, kept.critic_score, kept.sentiment) == (True, None, 0)
    graded = EndedTurn(
        session_id="s",
        user_id="ann",
        query_id="q",
        query="Q?",
        created_at="",
        end=turn.end,
        grade=Grade(score=4),
        sentiment=-1,
    )
    assert (rules.engram(graded).critic_score, rules.engram(graded).sentiment) == (4, -1)


def test_a_long_answer_is_cut_at_a_sentence_and_code_is_left_out() -> None:
    answer = "Use `snake_case`. ```python\nprint(1)\n``` " + "This is a sentence. " * 100
    text = rules.summary(answer)
    assert text.startswith("Use snake_case. This is a sentence.")
    assert (len(text) <= 400, text[-1]) == (True, ".")
    assert rules.summary("```\nonly code\n```") == "``` only code ```"
    assert rules.summary("x" * 1000) == "x" * 399 + "…"
