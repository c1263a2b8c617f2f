"""How are calls read that name the tool, or each argument, by a tag of its own?

`<tool_use><name>web_search</name><arguments><query>rain boots</query></arguments></tool_use>`, and
`<web_search><query>rain boots</query></web_search>`. Only the names of announced tools and of what they declare count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NAME = re.compile(r"<((?:(?:tool|function)_?)?name)>\s*([^<>\s]{1,80})\s*</\1>", re.IGNORECASE)
_NAME_BEGUN = re.compile(
    r"<(?:[a-z_]{0,13}|(?:(?:tool|function)_?)?name>[^<>]{0,90}(?:</?[a-z_]{0,14})?)", re.IGNORECASE
)
_OWN = re.compile(r"<(/?)([A-Za-z][\w.-]{0,63})>")


class Named(NamedTuple):
    """A tag that names a tool. `waits`: the text ends within it; `closes`: it is the end of such a tag."""

    end: int = 0
    name: str = ""
    closes: bool = False
    waits: bool = False


def name_at(text: str, at: int) -> Named | None:
    """`<name>NAME</name>`; None where there is none."""
    if found := _NAME.match(text, at):
        return Named(found.end(), found[2])
    return Named(waits=True) if _NAME_BEGUN.fullmatch(text, at) else None


def own_tag_at(text: str, at: int, names: Iterable[str]) -> Named | None:
    """`<NAME>` or `</NAME>` of a tool whose name is no everyday word; None where there is none."""
    telling = [name for name in names if not name.isalpha()]
    if found := _OWN.match(text, at):
        return Named(found.end(), found[2], closes=bool(found[1])) if found[2] in telling else None
    rest = text[at:]
    begun = any(f"<{name}>".startswith(rest) or f"</{name}>".startswith(rest) for name in telling)
    return Named(waits=True) if begun else None


def children_at(text: str, at: int, declared: Iterable[str]) -> tuple[dict[str, str], int, bool]:
    """Arguments as tags of their own, where they end, and whether the text ends within one."""
    found: dict[str, str] = {}
    names = {name for name in declared if re.fullmatch(r"[A-Za-z_][\w-]*", name)}
    while opening := _OWN.match(text, _after_blank(text, at)):
        name = opening[2]
        if opening[1] or name not in names or name in found:
            break
        closing = text.find(f"</{name}>", opening.end())
        if closing < 0:
            return found, at, True
        value = text[opening.end() : closing]
        found[name] = value.removeprefix("\n").removesuffix("\n")
        at = closing + len(name) + 3
    rest = text[_after_blank(text, at) :]
    return found, at, any(f"<{name}>".startswith(rest) for name in names) if rest or found else False


def _after_blank(text: str, at: int) -> int:
    found = re.compile(r"\s*").match(text, at)
    return found.end() if found else at
