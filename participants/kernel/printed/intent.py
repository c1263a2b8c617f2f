"""Was the notation of a tool call asked for, rather than its result?

Then nothing that is printed may run, whatever it looks like: "show me the JSON of a web_search call". Tables of words,
on the careful side: shown text can be read, and a call that ran cannot be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

_FORMAT = re.compile(r"\b(?:json|xml|ya?ml|syntax|notation|payload|schema|markup|markdown|code block)", re.IGNORECASE)
_CALL = re.compile(r"\b(?:(?:tool|function|api)[ _-]?(?:calls?|calling|use)|tools?|functions?|calls?)\b", re.IGNORECASE)
_ITSELF = re.compile(
    r"(?:<|\[|\b)/?(?:tool_calls?|function_calls?)\b|\b(?:tool|function) calls? (?:looks?|format|example)|"
    r"\bexamples? (?:of )?(?:a |an )?(?:tool|function|api) calls?\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\b(?:examples?|samples?|look(?:s|ed)? like|syntax|format|(?:how|what) (?:do|does|would|can|could|should)|"
    r"(?:do not|don['’]?t|never|without) (?:run|runn?ing|call|calling|execut\w+|us(?:e|ing)))\b",
    re.IGNORECASE,
)
EXAMPLE = re.compile(
    r"\b(?:examples?|instance|e\.g|i\.e|samples?|looks|look like|is how|you (?:can|may)|would|could|might|format|"
    r"syntax|such as|illustrat\w*|demonstrat\w*|schema|beispiel\w*|ejemplo|exemple|exemplo|esempio|voorbeeld|"
    r"przykład|örnek)\b|"
    r"пример|例|예",
    re.IGNORECASE,
)
"""Words that introduce an example rather than a call."""
_HOW_TO = re.compile(
    r"\bhow (?:do|does|would|can|could|should|to)\b[^.?!\n]{0,40}\b(?:tools?|functions?|call(?:ed|s)?)\b", re.IGNORECASE
)
_PLACEHOLDER = re.compile(
    r"\s*(?:<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|\.{3}|…|your\b.{0,40}|string|integer|value|query|search (?:terms?|query)|"
    r"example(?: \w+)?)\s*",
    re.IGNORECASE,
)
_LONGEST = 20_000


def asks_for_notation(question: str, names: Iterable[str]) -> bool:
    """Whether a question is about how calls are written.

    Args:
        question: The user's.
        names: The tools' names.
    """
    text = question[:_LONGEST]
    named = any(
        re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE) for name in names if _telling(name)
    )
    if _ITSELF.search(text) or _HOW_TO.search(text) or (named and _ABOUT.search(text)):
        return True
    return bool(_FORMAT.search(text)) and (named or bool(_CALL.search(text)))


def has_placeholder(arguments: Any) -> bool:
    """Whether arguments hold what the reader of an example is to replace."""
    values = cast("dict[str, Any]", arguments).values() if isinstance(arguments, dict) else ()
    return any(isinstance(value, str) and _PLACEHOLDER.fullmatch(value[:100]) for value in values)


def _telling(name: str) -> bool:
    """Whether a name is no everyday word."""
    return not name.isalpha()
