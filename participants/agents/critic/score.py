"""Which score did a grader give?

Read from the last marker `[RESULT]` and from nothing else, and only where what stands there is one whole number from
1 to 5. Anything else is no score, with a reason: a wrong score is worse than none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARKER = re.compile(r"\[\s*RESULT\s*\]", re.IGNORECASE)
_SCORE = re.compile(
    r"""[\s:=*_`"'(\[{]*                            # what models put around it
        (?:score\s*[:=]?\s*)?
        (?P<score>[1-5])
        (?:\s*\(?\s*(?:/|out\s+of|of)\s*5\b)?     # 4/5
        [*_`"')\]}]*
        (?=[\s.!;,<]|$)                             # no other sign or letter is part of it
        [^\d\n]*(?:\n|$)                            # and no other number stands in its line""",
    re.VERBOSE | re.IGNORECASE,
)
_FEEDBACK = re.compile(r"^\s*(?:[*_#\s]*feedback[*_\s]*[:：][*_\s]*)", re.IGNORECASE)
_FEEDBACK_CHARS = 2000


class Verdict(NamedTuple):
    """A score with the grader's words, or why there is none."""

    score: int | None
    feedback: str
    reason: str


def read(answer: str) -> Verdict:
    """What a grader said."""
    markers = list(MARKER.finditer(answer))
    if not markers:
        return Verdict(None, _words(answer), "The grader gave no result.")
    last = markers[-1]
    feedback = _words(answer[: last.start()])
    found = _SCORE.match(answer, last.end())
    if found is None:
        return Verdict(None, feedback, "The grader's result is no whole number from 1 to 5.")
    return Verdict(int(found["score"]), feedback, "")


def _words(text: str) -> str:
    """The grader's words before the result, without their label."""
    words = _FEEDBACK.sub("", MARKER.sub(" ", text)).strip()
    return words if len(words) <= _FEEDBACK_CHARS else f"{words[:_FEEDBACK_CHARS]}…"
