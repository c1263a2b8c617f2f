"""Which tool does a name mean that a model gave?

By rules that cannot pick a neighbour: as it stands; without case and separators; without the channel markers and
prefixes that models add; as a declared alias. The first rule under which anything fits decides, and only where it
leaves one tool. All else is unknown: `search_web` is not web_search, and `e` is not persona.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping

from bus.messages.tool import ToolSchema
from participants.kernel.mend import folded

_LONGEST = 256
_ADDRESSED = re.compile(r"\bto=([^\s<|]+)")
_MARKER = re.compile(r"<[|｜]?[^<>]*[>|｜]?|\[/?[A-Z_]+\]")
_PREFIX = re.compile(r"(?:functions?|tools?|default_api)(?:[.:/]|::)", re.IGNORECASE)
_NUMBERED = re.compile(r":\d{1,4}$")
_AROUND = " \t\r\n\"'`()\\,;"


def spoken(name: str) -> str:
    """A tool's name as model servers take it: some refuse a dot, so `notes.add` is offered as `notes__add`."""
    return re.sub(r"[^A-Za-z0-9_-]", "__", name)


def bare(name: str) -> str:
    """A name without channel markers, quotes, known prefixes and a call's number."""
    addressed = _ADDRESSED.search(name)
    parts = [addressed[1]] if addressed else [part for part in _MARKER.split(name) if part.strip(_AROUND)]
    kept = _NUMBERED.sub("", parts[0].strip(_AROUND)) if parts else ""
    while found := _PREFIX.match(kept):
        kept = kept[found.end() :]
    return kept


def resolve(name: str, tools: Mapping[str, ToolSchema]) -> ToolSchema | None:
    """The tool that is meant; None for none, and for more than one."""
    if len(name) > _LONGEST:
        return None
    for rule in (_exact, _spoken, _like, _alias):
        for given in dict.fromkeys((name, bare(name))):
            found = list(rule(given, tools)) if given else []
            if found:
                return found[0] if len(found) == 1 else None
    return None


def _exact(name: str, tools: Mapping[str, ToolSchema]) -> Iterator[ToolSchema]:
    if name in tools:
        yield tools[name]


def _spoken(name: str, tools: Mapping[str, ToolSchema]) -> Iterator[ToolSchema]:
    return (tool for tool in tools.values() if spoken(tool.tool) == name)


def _like(name: str, tools: Mapping[str, ToolSchema]) -> Iterator[ToolSchema]:
    wanted = folded(name)
    return (tool for tool in tools.values() if wanted and folded(tool.tool) == wanted)


def _alias(name: str, tools: Mapping[str, ToolSchema]) -> Iterator[ToolSchema]:
    wanted = folded(name)
    return (tool for tool in tools.values() if wanted and wanted in map(folded, tool.policies.aliases))


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The names, those most like `name` first: by letters, and by the words that both have."""
    wanted = bare(name)[:_LONGEST] or name[:_LONGEST]

    def likeness(real: str) -> float:
        letters = difflib.SequenceMatcher(None, folded(wanted), folded(real)).ratio()
        words, real_words = _words(wanted), _words(real)
        return letters + len(words & real_words) / max(1, len(words | real_words))

    return sorted(names, key=lambda real: (-likeness(real), real))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).lower()))
