"""Is there anything in a turn that is worth remembering?

Decisions only: an ended turn in, a reason to keep nothing out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bus.messages.ledger import EndedTurn

_WORD = re.compile(r"\w+")
_COMMAND = re.compile(r"\s*/[a-z]")
_SMALL_TALK = """
    a all alright and awesome bye cheers cool day evening excellent fine for good goodbye got great haha hello hey hi
    how is it lol me morning much nice night no nope of ok okay perfect please so sure thank thanks that the there ty
    understood up very well what wow yeah yep yes you your
    danke dir gut gute guten hallo ja klar moin morgen nacht nein schön sehr servus super tag tschüss vielen
    au beaucoup bien bonjour bonsoir ça d accord merci non oui revoir salut
    adiós buenas bueno buenos días gracias hola muchas noches sí vale
    bem bom dia obrigada obrigado olá sim tchau boa noite
    buongiorno buonasera ciao grazie mille prego va bene
    dag dank doei goed hoi je nee wel
    cześć dziękuję nie tak
    да нет привет спасибо хорошо пока
    ありがとう こんにちは はい いいえ 你好 谢谢 好的 감사합니다 안녕하세요 네
"""
"""Greetings, thanks, assent and goodbyes, in the languages that most users write."""
_SMALL = frozenset(_SMALL_TALK.split())
_MOST_SMALL_WORDS = 8
_ECHO = 0.6
"""With so much of an answer's words in what was recalled for it, it says nothing new."""


def why_not(turn: EndedTurn, recalled: Iterable[str] = ()) -> str:
    """Why nothing is kept of a turn, in words; empty where something is.

    Args:
        turn: An answered turn.
        recalled: The texts of what the prompt held from memory, and of what was looked up in it.
    """
    if turn.end.status != "answered" or not turn.end.answer.strip():
        return "It was not answered."
    if not turn.end.model or _COMMAND.match(turn.query):
        return "It is a command."
    if is_small_talk(turn.query):
        return "It is small talk."
    if repeats(turn.end.answer, turn.query, recalled):
        return "It only repeats what is remembered."
    return ""


def is_small_talk(text: str) -> bool:
    """Whether a text greets, thanks or agrees, and says nothing else."""
    words = _words(text)
    return len(words) <= _MOST_SMALL_WORDS and all(word in _SMALL for word in words)


def repeats(answer: str, query: str, recalled: Iterable[str]) -> bool:
    """Whether an answer says what was recalled for it once more: else each time it is asked, there is one more."""
    known = {word for text in recalled for word in _words(text)}
    if not known:
        return False
    said = {word for word in _words(answer) if _is_content(word)} - set(_words(query))
    return bool(said) and len(said & known) >= _ECHO * len(said)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _is_content(word: str) -> bool:
    return len(word) > 3 or not word.isascii() or any(c.isdigit() for c in word)
