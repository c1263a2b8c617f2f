"""Which names, numbers and plain words are in a text?

Rules alone, and quick: they help to tell memories apart that mean nearly the same, and find what vectors miss.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"(?<![\w.])(?:[A-ZÀ-ÞΑ-ΩА-Я][\w'’-]*\w|[\w.+-]+@[\w.-]+\w|\w*\d[\w.:/-]*\w|\d)", re.UNICODE)
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d[\d.,:/-]*\d|\d")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|neither|without|cannot|\w+n['’]t|nicht|kein\w*|nie|ohne|pas|jamais|sans|nunca|sin|non)\b"
)
_CHANGES = (
    "now, new, no longer, anymore, any more, instead, since then, moved, switched, changed, replaced, became, "
    "sold, quit, retrained, renamed, cancelled, jetzt, neue, neuer, neues, neuen, nicht mehr, stattdessen, seitdem, "
    "umgezogen, gewechselt, geändert, verkauft, maintenant, désormais, nouveau, nouvelle, déménagé, changé, vendu, "
    "ahora, nuevo, nueva, ya no, mudado, cambiado, vendido"
)
_CHANGE = re.compile(rf"\b(?:{'|'.join(_CHANGES.split(', '))})\b")
_COMMON_WORDS = """
    a about an and are as at be been but by can did do does for from had has have he her his how i in is it its me my
    of on or our she so some tell that the their them there they this to us was we were what when where which who whom
    whose why will with would you your user remember please know der die das den dem des ein eine einen einer ist sind
    war und oder wie was wer wo wann ich du er sie es wir mein meine dein le la les un une des est sont et ou qui que
    quoi el los las una es son y o quién qué cuál mi tu
"""
COMMON = frozenset(_COMMON_WORDS.split())
"""Words that say nothing by themselves, in the languages that most users write."""
_MOST_NAMES = 12


def names(text: str) -> list[str]:
    """Names, addresses and codes, in order, without a word that is large only because a sentence begins with it."""
    found = [match.group() for match in _NAME.finditer(text) if match.group().casefold() not in COMMON]
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def words(text: str) -> list[str]:
    """The words that say something, in small letters, each once, in order."""
    found = _WORD.findall(text.casefold().replace("_", " "))
    return list(dict.fromkeys(word for word in found if word not in COMMON and (len(word) > 1 or word.isdigit())))


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text."""
    return frozenset(_NUMBER.findall(text))


def is_negated(text: str) -> bool:
    """Whether a text says that something is not so. An even number of negations is not looked at."""
    return _NEGATION.search(text.casefold()) is not None


def tells_a_change(text: str) -> bool:
    """Whether a text says that something is otherwise than before."""
    return _CHANGE.search(text.casefold()) is not None
