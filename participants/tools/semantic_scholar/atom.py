"""How is a feed read that anybody may have written? By a parser that takes no DTD, so no entities, and no depth."""

from __future__ import annotations

from xml.parsers import expat

from participants.web.errors import WebError

_DEEPEST = 64


class Node:
    """An element: its name without the namespace, attributes, children, and the text directly in it."""

    __slots__ = ("attributes", "children", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name, self.attributes, self.text = name, attributes, ""
        self.children: list[Node] = []

    def all(self, name: str) -> list[Node]:
        """Children of this name."""
        return [child for child in self.children if child.name == name]

    def first(self, name: str) -> str:
        """The text of the first child of this name; empty where there is none."""
        return next((child.text.strip() for child in self.children if child.name == name), "")


class _Builder:
    def __init__(self) -> None:
        self.root = Node("", {})
        self._open = [self.root]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > _DEEPEST:
            raise WebError("The feed is nested too deeply.")
        node = Node(name.rpartition(" ")[2], attributes)
        self._open[-1].children.append(node)
        self._open.append(node)

    def end(self, _name: str) -> None:
        self._open.pop()

    def text(self, data: str) -> None:
        self._open[-1].text += data


def parse(data: bytes) -> Node:
    """The feed's root element.

    Raises:
        WebError: It is no XML, or has a document type of its own.
    """
    builder = _Builder()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _no_doctype
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        raise WebError("The answer is no feed.") from error
    return builder.root.children[0]


def _no_doctype(*_about: object) -> None:
    raise WebError("The answer brings a document type of its own, which is not read.")
