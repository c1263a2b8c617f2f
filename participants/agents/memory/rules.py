"""What is kept of a turn where no model sums it up?

Decisions only: an ended turn in, an engram out.
"""

from __future__ import annotations

import re

from bus.messages.ledger import EndedTurn
from bus.messages.memory import Memory

INTENTS = ("fact", "explanation", "comparison", "procedure")
_SUMMARY_CHARS = 400
_QUERY_CHARS = 1000
_CODE = re.compile(r"```.*?(?:```|$)", re.DOTALL)
_MARKUP = re.compile(r"[*`#>|]+|\b_+|_+\b|!?\[([^\]]*)\]\([^)]*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_ASKED_FOR = {
    "comparison": (
        r"vs|versus|compared?|comparison|difference|differ|better|worse|prefer|unterschied|vergleich\w*|besser|"
        r"différence|comparer|diferencia|comparar|mejor"
    ),
    "procedure": (
        r"how (?:do|can|to|should|would)|steps?|instructions?|install|set ?up|configure|guide|recipe|"
        r"wie (?:kann|mache|macht|geht)|anleitung|rezept|schritte?|comment (?:faire|puis)|cómo (?:puedo|se|hago)"
    ),
    "explanation": (
        r"why|explain|how does|how come|what does .{1,60} mean|reason|warum|wieso|erklär\w*|pourquoi|expli\w*|por qué"
    ),
}


def engram(turn: EndedTurn) -> Memory:
    """A turn as a memory: the question, and the answer's beginning."""
    return Memory(
        memory_id="",
        user_id="",
        kind="engram",
        query=cut(" ".join(turn.query.split()), _QUERY_CHARS),
        text=summary(turn.end.answer),
        intent=intent(turn.query),
        session_id=turn.session_id,
        query_id=turn.query_id,
        created_at=turn.created_at,
        critic_score=turn.grade.score if turn.grade else None,
        sentiment=turn.sentiment,
        untrusted=turn.end.untrusted,
    )


def intent(query: str) -> str:
    """What kind of answer a question asks for."""
    asked = query.casefold()
    found = (name for name, words in _ASKED_FOR.items() if re.search(rf"\b(?:{words})\b", asked))
    return next(found, "fact")


def summary(answer: str) -> str:
    """The first sentences, without code and markup; where there is nothing else, the code itself."""
    text = " ".join(_MARKUP.sub(lambda found: found.group(1) or "", _CODE.sub(" ", answer)).split())
    text = text or " ".join(answer.split())
    out = ""
    for sentence in _SENTENCE_END.split(text):
        if out and len(out) + len(sentence) >= _SUMMARY_CHARS:
            return out
        out = f"{out} {sentence}".lstrip()
    return cut(out, _SUMMARY_CHARS)


def cut(text: str, chars: int) -> str:
    """At most so many characters, with a mark where there were more."""
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"
