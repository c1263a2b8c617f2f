"""Which of a page's elements are seen, and what stands in them?

The parser builds the tree that a browser would. From it, a lighter one is made of what can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from participants.tools.web_fetch.css import Rule, Style, declarations, font_gone, hides, rules, same_colours

NEVER_SEEN = frozenset({
    "head", "script", "style", "noscript", "template", "svg", "iframe", "object", "embed", "canvas", "audio",
    "video", "map", "datalist", "title", "meta", "link", "base", "param", "source", "track", "noframes",
    "noembed", "frameset", "dialog", "rp",
})  # fmt: skip
_DEEPEST = 400
"""Levels; browsers stop near there, too. The parser's time grows with the square of the depth."""
_MOST_NODES = 120_000
_MOST_MATCHES = 100_000
_NOTHING: Style = {}
_NESTING = re.compile(
    r"<(?:(?P<close>/)?(?P<tag>div|span|section|article|main|aside|nav|header|footer|b|i|u|s|em|strong|font|small|big|tt"
    r"|code|center|blockquote|ul|ol|dl|table|figure|details|sub|sup|ins|del|q|cite|label|fieldset|pre|marquee|applet"
    r"|address|menu|dir|hgroup|search|[a-z][a-z0-9]*-[^\s/>]*)(?=[\s/>])(?P<more>[^<>]*)>?"
    r"|(?P<raw>script|style)(?=[\s/>])|(?P<comment>!--))",
    re.IGNORECASE,
)


class Element:
    """A seen element: its tag, attributes, and children, which are elements and pieces of text."""

    __slots__ = ("attributes", "children", "length", "link_length", "links", "tag")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag, self.attributes = tag, attributes
        self.children: list[Element | str] = []
        self.length = self.link_length = self.links = 0
        """Characters of text in it, those of them in links, and how many links."""


class Look(NamedTuple):
    """What an element inherits: whether text shows in it, and its colours."""

    visible: bool = True
    font: bool = True
    colours: Style = {}


class Hidden(NamedTuple):
    """A subtree that is not seen."""

    node: LexborNode
    length: int


class Document:
    """A parsed page."""

    def __init__(self, html: str) -> None:
        text, self.cut = flattened(html)
        self.parser = LexborHTMLParser(text)
        sheets = [node for node in self.parser.css("style") if _for_screens(node)]
        self._styles = self._matched(rules("\n".join(node.text() for node in sheets)))
        self.hidden: list[Hidden] = []

    def first(self, selector: str) -> LexborNode | None:
        """The first element that fits a CSS selector."""
        return self.parser.css_first(selector)

    def _matched(self, found: Iterable[Rule]) -> dict[int, Style]:
        """Styles by element."""
        styles: dict[int, Style] = {}
        matches = 0
        for rule in found:
            try:
                nodes = self.parser.css(rule.selector)
            except Exception:  # noqa: BLE001, S112  a selector that this parser does not know hides nothing
                continue
            for node in nodes:
                styles.setdefault(node.mem_id, {}).update(rule.style)
            matches += len(nodes)
            if matches > _MOST_MATCHES:
                break
        return styles

    def seen(self, root: LexborNode | None = None) -> Element:
        """What is seen of the page; with `root` what would be seen of that hidden element, were it shown."""
        top = root or self.parser.body
        out = Element("body", {})
        self.hidden = []
        if top is None:
            return out
        todo: list[tuple[LexborNode, Element, Look, bool]] = [(top, out, Look(), root is not None)]
        made: list[tuple[Element, Element]] = []
        while todo and len(made) < _MOST_NODES:
            node, parent, look, shown = todo.pop()
            if node.is_text_node:
                if look.visible and look.font and not same_colours(look.colours):
                    parent.children.append(node.text_content or "")
                continue
            if not node.is_element_node or (child := self._child(node, look, shown)) is None:
                continue
            element, inner = child
            parent.children.append(element)
            made.append((element, parent))
            todo += [(each, element, inner, False) for each in reversed(_children(node))]
        self.cut = self.cut or bool(todo)
        measure(made)
        return out

    def _child(self, node: LexborNode, look: Look, shown: bool) -> tuple[Element, Look] | None:
        """The element and what its children inherit; None where it is not seen."""
        tag = node.tag or ""
        if tag in NEVER_SEEN:
            return None
        attributes = {name.lower(): value or "" for name, value in node.attributes.items()}
        style = self._styles.get(node.mem_id, _NOTHING)
        if "style" in attributes:
            style = {**style, **declarations(attributes["style"])}
        if shown:
            style = {}
        elif attributes.get("aria-hidden", "").strip().lower() == "true":
            return None
        elif (style and hides(style)) or ("hidden" in attributes and not style.get("display")):
            self.hidden.append(Hidden(node, len(node.text() or "")))
            return None
        inner = _inherited(look, style) if style else look
        if look.visible and not inner.visible:
            self.hidden.append(Hidden(node, len(node.text() or "")))
        return Element(tag, attributes), inner


def _for_screens(sheet: LexborNode) -> bool:
    media = (sheet.attributes.get("media") or "all").lower()
    return "(" not in media and ("all" in media or "screen" in media)


def _children(node: LexborNode) -> list[LexborNode]:
    out: list[LexborNode] = []
    child = node.first_child
    while child is not None:
        out.append(child)
        child = child.next
    return out


def _inherited(look: Look, style: Style) -> Look:
    visible = look.visible
    if "visibility" in style:
        visible = style["visibility"] not in ("hidden", "collapse")
    gone = font_gone(style)
    font = look.font if gone is None else not gone
    colours = {name: style[name] for name in style if "color" in name or "background" in name}
    return Look(visible, font, _over(look.colours, colours) if colours else look.colours)


def _over(below: Style, colours: Style) -> Style:
    """An element's colours on those of its parent; a background of its own covers all of the parent's."""
    if any("background" in name for name in colours):
        below = {name: value for name, value in below.items() if "background" not in name}
    return {**below, **colours}


def measure(made: list[tuple[Element, Element]]) -> None:
    """Count text and links, from the leaves upward. `made` holds (element, parent), parents before their children."""
    for element, parent in reversed(made):
        element.length += sum(len(child.strip()) for child in element.children if isinstance(child, str))
        if element.tag == "a":
            element.link_length, element.links = element.length, 1
        parent.length += element.length
        parent.link_length += element.link_length
        parent.links += element.links


def flattened(html: str) -> tuple[str, bool]:
    """`html` without the levels beyond the deepest that anybody needs, and whether its rest was left out.

    Tags beyond that depth are dropped. Where one could hide what is in it, the page ends there.
    """
    out: list[str] = []
    depth = last = at = 0
    styled = re.search(r"<style", html, re.IGNORECASE) is not None
    while found := _NESTING.search(html, at):
        at = _after(html, found)
        if not found["tag"]:
            continue
        depth = max(0, depth - 1) if found["close"] else depth + 1
        if found["close"] or depth <= _DEEPEST:
            continue
        out.append(html[last : found.start()])
        last = at
        if _may_hide(found["more"], styled=styled):
            return "".join(out), True
    out.append(html[last:])
    return "".join(out), False


def _may_hide(attributes: str, *, styled: bool) -> bool:
    said = attributes.strip(" \t\n\r\f/").lower()
    return bool(said) if styled else "style" in said or "hidden" in said


def _after(html: str, found: re.Match[str]) -> int:
    """Where markup goes on: what stands in a script, a style sheet or a comment is none."""
    ending = "-->" if found["comment"] else f"</{found['raw']}" if found["raw"] else ""
    if not ending:
        return found.end()
    at = html.find(ending, found.end())
    return at if at >= 0 else found.end()
