"""Which elements does a page's own style sheet hide?

No browser: what decides whether text is seen is read from `style` attributes and from `<style>` blocks. Rules that
hold only in some state or size (`:hover`, `@media (max-width…)`) and style sheets in other files are not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

Style = dict[str, str]

_PROPERTIES = frozenset({
    "display", "visibility", "opacity", "font-size", "color", "background", "background-color",
    "background-image", "position", "left", "top", "right", "bottom", "text-indent", "margin-left",
    "margin-top", "width", "height", "max-width", "max-height", "overflow", "overflow-x", "overflow-y", "clip",
    "clip-path", "transform", "content-visibility", "font", "-webkit-background-clip", "background-clip",
    "filter",
})  # fmt: skip
_COMMENT = re.compile(r"/\*.*?(\*/|$)", re.DOTALL)
_PART = re.compile(r"[^{}]*")
_ALWAYS = re.compile(r"@(media\s+(all|screen|only\s+screen)\s*|layer\b[^;]*|supports\b.*|scope\b.*)", re.DOTALL)
_MOST_RULES = 1500
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:e[+-]?\d+)?\s*([a-z%]*)")
_FAR = 300
"""Pixels, about; text that begins so far to the left of the page or above it is not on it."""


class Rule(NamedTuple):
    """One selector with the declarations that matter here."""

    selector: str
    style: Style
    rank: tuple[int, int, int, int]


def declarations(text: str) -> Style:
    """What a `style` attribute says of the properties that matter here."""
    out: Style = {}
    for part in _COMMENT.sub("", text[:4000]).split(";"):
        name, _, value = part.partition(":")
        name = name.strip().lower()
        if name in _PROPERTIES:
            out[name] = value.lower().replace("!important", "").strip()
    return out


def rules(css: str) -> list[Rule]:
    """The rules of a style sheet that say something of these properties, the weakest first."""
    out: list[Rule] = []
    for selectors, body in _blocks(_COMMENT.sub("", css)):
        style = declarations(body)
        if not style:
            continue
        important = "!important" in body.lower()
        for selector in selectors.split(","):
            bare = selector.strip()
            if bare and ":" not in bare and len(bare) <= 200:
                out.append(Rule(bare, style, (important, *_specificity(bare))))
        if len(out) > _MOST_RULES:
            break
    return sorted(out, key=lambda rule: rule.rank)


def _blocks(css: str) -> Iterator[tuple[str, str]]:
    """(selectors, declarations) of each rule that always holds; blocks in blocks are walked, not recursed into."""
    skip_from: int | None = None
    depth, at, prelude = 0, 0, ""
    while at < len(css):
        found = _PART.match(css, at)
        text, at = (found[0], found.end()) if found else ("", at)
        brace, at = css[at : at + 1], at + 1
        if brace == "{":
            depth += 1
            prelude = text.rpartition(";")[2].strip()
            if skip_from is None and prelude.startswith("@") and not _ALWAYS.fullmatch(prelude):
                skip_from = depth
        elif brace == "}":
            if skip_from is None and prelude and not prelude.startswith("@"):
                yield prelude, text
            skip_from = None if skip_from == depth else skip_from
            depth, prelude = max(0, depth - 1), ""


def _specificity(selector: str) -> tuple[int, int, int]:
    return (
        selector.count("#"),
        len(re.findall(r"[.\[]", selector)),
        len(re.findall(r"(?:^|[\s>+~])[a-z]", selector, re.IGNORECASE)),
    )


def hides(style: Style) -> bool:
    """Whether an element of this style is not seen, with all that is in it."""
    if style.get("display", "").startswith("none") or style.get("content-visibility") == "hidden":
        return True
    if _zero(style.get("opacity", ""), 0.05) or re.search(r"opacity\(\s*0%?\s*\)", style.get("filter", "")):
        return True
    return _away(style) or _clipped(style) or _no_size(style)


def _zero(value: str, below: float = 0.01) -> bool:
    found = _NUMBER.fullmatch(value)
    return found is not None and abs(float(found[1])) < (below * 100 if found[2] == "%" else below)


def _pixels(value: str) -> float:
    """A length, about: em and the like count as 16 pixels, a hundredth of the page as 10."""
    found = _NUMBER.match(value)
    if not found:
        return 0.0
    scale = {"em": 16, "rem": 16, "ch": 8, "vw": 10, "vh": 10, "%": 10, "in": 96, "cm": 38, "pt": 1.3}
    return float(found[1]) * scale.get(found[2], 1)


def _away(style: Style) -> bool:
    """Moved off the page."""
    if _pixels(style.get("text-indent", "")) <= -_FAR:
        return True
    if any(_pixels(style.get(side, "")) <= -_FAR for side in ("margin-left", "margin-top")):
        return True
    if style.get("position") in ("absolute", "fixed", "relative"):
        if any(_pixels(style.get(side, "")) <= -_FAR for side in ("left", "top", "right", "bottom")):
            return True
        if any(_pixels(style.get(side, "")) >= 5000 for side in ("left", "top")):
            return True
    moves = re.findall(r"translate[xy3d]*\(([^)]*)\)", style.get("transform", ""))
    return any(abs(_pixels(part.strip())) >= 5000 for move in moves for part in move.split(",")) or bool(
        re.search(r"scale[xy]?\(\s*0+(\.0*)?\s*[,)]", style.get("transform", ""))
    )


def _clipped(style: Style) -> bool:
    clip = style.get("clip", "").replace("px", "").replace(",", " ").replace(" ", "")
    if style.get("position") in ("absolute", "fixed") and re.fullmatch(r"rect\(([01])\1*\)", clip):
        return True
    found = re.match(r"(inset|circle|ellipse)\(\s*([\d.]+)", style.get("clip-path", ""))
    return found is not None and (float(found[2]) >= 50 if found[1] == "inset" else float(found[2]) == 0)


def _no_size(style: Style) -> bool:
    overflow = " ".join(style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    sizes = [style[name] for name in ("width", "height", "max-width", "max-height") if name in style]
    return ("hidden" in overflow or "clip" in overflow) and any(_zero(size, 1.5) for size in sizes)


def font_gone(style: Style) -> bool | None:
    """Whether the font is too small to see; None where the element says nothing of it that changes that."""
    value = style.get("font-size", "")
    if not value and (found := re.search(r"(?:^|\s)(0|[\d.]+[a-z%]+)(?:/|\s)", style.get("font", "") + " ")):
        value = found[1]
    found = _NUMBER.fullmatch(value)
    if found is None:
        return False if value in ("small", "medium", "large", "smaller", "larger", "x-small", "x-large") else None
    if found[2] in ("em", "%", "ex", "ch") and float(found[1]) > 0.1:
        return None  # a part of what the parent has
    return float(found[1]) < (2 if found[2] in ("px", "pt") else 0.1)


def same_colours(style: Style) -> bool:
    """Whether text has the colour of what is behind it, or none."""
    if "text" in style.get("background-clip", "") + style.get("-webkit-background-clip", ""):
        return False  # the background is seen through the letters
    if "none" not in style.get("background-image", "none"):
        return False
    ink = _colour(style.get("color", ""))
    ground = _colour(style.get("background-color", "") or style.get("background", ""))
    return ink == "transparent" or (bool(ink) and ink == ground)


def _colour(value: str) -> str:
    text = value.replace(" ", "")
    text = {"white": "#ffffff", "black": "#000000"}.get(text, text)
    if found := re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,([\d.]+)%?)?\)", text):
        if found[4] is not None and float(found[4]) == 0:
            return "transparent"
        return "#" + "".join(f"{min(255, int(part)):02x}" for part in found.groups()[:3])
    if re.fullmatch(r"#[0-9a-f]{3}", text):
        return "#" + "".join(char * 2 for char in text[1:])
    return text
