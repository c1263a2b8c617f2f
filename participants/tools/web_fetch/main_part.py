"""Which part of a page is what somebody came for?

Menus, banners and lists of other pages are left out; where that leaves too little, the page is such a list, and is
taken whole.
"""

from __future__ import annotations

import re

from participants.tools.web_fetch.tree import Element, measure

_NOT_CONTENT = frozenset({
    "nav", "footer", "button", "select", "textarea", "input", "option", "optgroup", "menu",
})  # fmt: skip
_ROLES = frozenset({
    "navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "complementary", "menu",
    "menubar", "toolbar",
})  # fmt: skip
_BOILERPLATE = re.compile(
    r"(^|[\s_-])(cookies?|consent|gdpr|newsletter|subscri\w+|promo\w*|advert\w*|ads?|sponsor\w*|share|sharing|social"
    r"|related|recommend\w*|breadcrumbs?|also|skip-?link|paywall|popup|modal|sidebar|toc|nav\w*|menu|pagination|pager)"
    r"([\s_-]|$)",
    re.IGNORECASE,
)
_BLOCKS = frozenset({
    "div", "section", "ul", "ol", "table", "aside", "p", "dl", "header", "form", "figure", "td", "tr", "tbody",
    "details", "span", "center",
})  # fmt: skip
_MATTER_EMPTY = frozenset({"br", "td", "th", "hr"})
_ENOUGH = 350
"""Characters."""


def main_part(page: Element) -> Element:
    """The part to read, without what is around it."""
    whole = pruned(page, hard=False)
    for candidate in (_marked(page), page):
        part = pruned(candidate, hard=True) if candidate is not None else None
        if part is not None and _is_enough(part, whole):
            return part
    return whole if whole.length else page


def _is_enough(part: Element, whole: Element) -> bool:
    some = part.length >= _ENOUGH or part.length * 2 > whole.length
    return some and (part.length * 7 > whole.length or part.links == whole.links)


def _marked(page: Element) -> Element | None:
    """The element that says of itself that it is the main one: the smallest that holds most of what such hold."""
    found = [e for e in descendants(page) if e.tag == "main" or e.attributes.get("role") == "main"]
    best = max(found, key=lambda element: element.length, default=None)
    articles = [e for e in descendants(best or page) if e.tag == "article"]
    largest = max(articles, key=lambda element: element.length, default=None)
    if largest is not None and largest.length * 2 > (best or page).length:
        return largest
    return best


def descendants(element: Element) -> list[Element]:
    """All elements in it, and itself, in the page's order."""
    out: list[Element] = []
    todo = [element]
    while todo:
        here = todo.pop()
        out.append(here)
        todo += [child for child in reversed(here.children) if isinstance(child, Element)]
    return out


def pruned(element: Element, *, hard: bool) -> Element:
    """A copy without menus and forms; with `hard`, also without what looks like it belongs to the frame of the page."""
    top = Element(element.tag, element.attributes)
    todo = [(element, top)]
    made = [(top, Element("", {}))]
    in_content = element.tag in ("main", "article")
    while todo:
        source, copy = todo.pop()
        for child in source.children:
            if isinstance(child, str):
                copy.children.append(child)
            elif not _left_out(child, element, in_content=in_content, hard=hard):
                twin = Element(child.tag, child.attributes)
                copy.children.append(twin)
                made.append((twin, copy))
                todo.append((child, twin))
    measure(made)
    return top


def _left_out(element: Element, part: Element, *, in_content: bool, hard: bool) -> bool:
    tag = element.tag
    if not element.children and tag not in _MATTER_EMPTY:
        return True
    if tag in _NOT_CONTENT:
        return hard or tag not in ("nav", "footer", "menu")
    if tag == "a" and element.length <= 1 and re.search("anchor|headerlink|permalink", _named(element)):
        return True
    if not hard:
        return False
    if element.attributes.get("role", "") in _ROLES or (tag == "header" and not in_content and element.links > 2):
        return True
    name = _named(element)
    noted = re.search(r"note|admonition|topic", name) is not None
    if tag == "aside" and not noted:
        return True
    if tag not in _BLOCKS or element.length * 2 > part.length:
        return False
    if _BOILERPLATE.search(name) and not noted:
        return True
    return element.links >= 3 and element.link_length > 0.75 * element.length


def _named(element: Element) -> str:
    return f"{element.attributes.get('class', '')} {element.attributes.get('id', '')}"
