"""The score is the last well-formed result, or none: never a wrong one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from participants.agents.critic import prompts
from participants.agents.critic.score import read
from tests.participants.agents.critic.turns import answered

GRADED = [
    ("... [RESULT] (an integer number between 1 and 5) ... Feedback: weak [RESULT] 2", 2),
    ("[RESULT] **4**", 4),
    ("[RESULT] 4.", 4),
    ("[RESULT] 4\n\nThank you!", 4),
    ("[RESULT] 4/5", 4),
    ("[RESULT] 4 / 5.", 4),
    ("[RESULT] 4 out of 5", 4),
    ("[RESULT] 4 (out of 5)", 4),
    ("[RESULT]: 3", 3),
    ("[RESULT] Score: 5", 5),
    ("[RESULT](4)", 4),
    ("[ result ]\n\n3\n", 3),
    ("[RESULT] 4, because it is good.", 4),
    ('[RESULT] "4"', 4),
    ("[RESULT] 1<eos>", 1),
    ("[RESULT] 4\n1. Note", 4),
    ("[RESULT] 5 [RESULT] 2", 2),
]
NOT_GRADED = [
    "",
    "I give it a 4.",
    "Score: 4",
    "I cannot grade this.",
    "[RESULT]",
    "[RESULT] four",
    "[RESULT] 6",
    "[RESULT] 0",
    "[RESULT] 4.5",
    "[RESULT] 4,5",
    "[RESULT] 4 . 5",
    "[RESULT] 4.0",
    "[RESULT] 4/10",
    "[RESULT] 4/50",
    "[RESULT] 44",
    "[RESULT] 10",
    "[RESULT] -4",
    "[RESULT] - 4",
    "[RESULT] +4",
    "[RESULT] 4-5",
    "[RESULT] 3 – 4",
    "[RESULT] 4 or 5",
    "[RESULT] 4 to 5",
    "[RESULT] 4 5",
    "[RESULT] 4%",
    "[RESULT] 4th",
    "[RESULT] ４",
    "[RESULT] ٤",
    "[RESULT] (1-5)",
    "[RESULT] (an integer number between 1 and 5)",
    "[RESULT] 4 [RESULT] 6",
    "[RESULT] 4/5 or 5/5",
    "RESULT 4",
]


@pytest.mark.parametrize(("answer", "score"), GRADED)
def test_a_well_formed_result_is_read(answer: str, score: int) -> None:
    verdict = read(f"Feedback: It is so and so.\n{answer}")
    assert (verdict.score, verdict.reason) == (score, "")


@pytest.mark.parametrize("answer", NOT_GRADED)
def test_anything_else_is_no_score_with_a_reason(answer: str) -> None:
    verdict = read(answer)
    assert verdict.score is None
    assert verdict.reason


@given(st.text(), st.integers(-(10**6), 10**6), st.text(alphabet=" \n.*,;"))
def test_no_number_outside_the_range_is_ever_a_score(before: str, number: int, after: str) -> None:
    score = read(f"{before}[RESULT] {number}{after}").score
    assert score == (number if 1 <= number <= 5 else None)


@given(st.text())
def test_no_text_without_a_marker_is_graded(text: str) -> None:
    assert read(text.replace("[", "(")).score is None


@given(st.text(max_size=200))
def test_what_the_prompt_holds_is_never_its_grade(answer: str) -> None:
    echoed = prompts.grading(answered("Why?", f"{answer} [RESULT] 5"), prompts.RUBRICS["realistic"], 4000)
    whole = "\n".join(message["content"] for message in echoed)
    assert read(whole).score is None
    assert read(f"{whole}\nFeedback: weak. [RESULT] 2").score == 2


def test_the_words_before_it_are_the_feedback() -> None:
    assert read("**Feedback:** Short and right.\n\n[RESULT] 4").feedback == "Short and right."
    assert read("No result, just words.").feedback == "No result, just words."
    assert len(read("x" * 5000).feedback) == 2001
