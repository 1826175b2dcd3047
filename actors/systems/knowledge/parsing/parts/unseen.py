"""Takes out of a page's tree what its reader does not see, before anything else looks at it.

Called by `settling`. Not shown, without size or colour, or far outside: by attributes, by an element's own
style, or by the page's style sheets. What is merely folded is text, and so is what only moves into sight.
What others see in place of `aria-hidden` words is not known: a sentence with such words has a hole.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from tinycss2 import parse_component_value_list
from tinycss2.color3 import RGBA, parse_color

from actors.systems.knowledge.parsing.parts.figures_in_text import HOLE
from actors.systems.knowledge.parsing.parts.page_parts import BLOCKS, is_folded
from actors.systems.knowledge.parsing.parts.style_rules import Style, StyleRules
from models.text import word_list

_READ = frozenset(
    word_list("""
        display visibility content-visibility opacity filter font-size color background background-color
        background-image position left top right text-indent margin-left clip clip-path height max-height
        width overflow overflow-x overflow-y transform transition animation animation-name will-change
        -webkit-text-fill-color
    """)
)
_MOVES = ("transform", "transition", "animation", "animation-name", "will-change")
_MEASURE = re.compile(r"(?P<size>[+-]?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(?P<unit>[a-z]{0,4}|%)")
# Letters of up to so many pixels or points are dots, what has no more room shows none, and so far out is no
# screen: in pixels, and in letters or hundredths.
_DOT, _THIN, _FAR, _FAR_OTHER = 2, 1, -1000, -100
_CLIPPED = re.compile(
    r"rect\((?:[01](?:px)?[\s,]{0,9}){4}\)|inset\((?:50|100)%[^)]{0,40}\)|circle\(0(?:px|%)?[^)]{0,40}\)"
)
_SHRUNK = re.compile(
    r"scale[xy]?\(\s{0,9}0(?:\.0{1,9})?\s{0,9}[,)]"
    r"|translate(?:3d|x|y)?\([^()-]{0,20}-(?:\d{4,9}(?:\.\d{1,9})?px|\d{3,9}(?:r?em|vw|vh))"
)
_FADED = re.compile(r"opacity\(\s{0,9}0(?:\.0{1,9})?%?\s{0,9}\)")
_LEAST_OPAQUE = 0.05
# By how much, of 1, a colour differs from its ground at least if it is seen; and how much of it is there.
_LEAST_CONTRAST, _LEAST_INK = 0.05, 0.1
_WHITE = (1.0, 1.0, 1.0)
# What elements say of their looks without a style.
_HINTS = {"color": "color", "text": "color", "bgcolor": "background-color"}
_HINTED = frozenset(("font", "body", "table", "tr", "td", "th"))
_WHOLE = frozenset(("html", "body"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_NAMED_UNSEEN = frozenset(
    word_list("sr-only visually-hidden screen-reader-text visuallyhidden screen-reader-only")
)
# A part of a page that React sends later than its place, and moves there.
_STREAMED = re.compile(r"\bS:[0-9a-f]{1,8}\Z")
_WORD = re.compile(r"\w")
# What is cut off is shown by these.
_DOTS = re.compile(r"\s{0,9}(?:\.{2,6}|…|\[…\]|\[\.{3}\])\s{0,9}")
_DOTS_LAST = re.compile(rf"{_DOTS.pattern}\Z")
_Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an element hands down: whether words are seen in it; their colour and its ground's, if known."""

    shown: bool = True
    sized: bool = True
    ink: bool = True
    colour: _Colour | None = None
    ground: _Colour | None = _WHITE


class Unseen:
    """What a reader does not see of a tree."""

    def __init__(self, tree: Any) -> None:
        self._rules = StyleRules(tree, _READ)
        # A whole page is hidden by nobody for long: what holds its title is shown by scripts.
        self._whole = {above for title in tree.iter("h1") for above in title.iterancestors()}
        self._gone: list[Any] = []
        self._silent: list[tuple[Any, bool]] = []
        self._cut: list[tuple[Any, str]] = []
        self._holes: list[Any] = []
        self._walk(tree)

    def take_out(self) -> None:
        """Change the tree: elements go, or lose their words."""
        for element, is_tail in self._silent:
            if is_tail:
                element.tail = None
            else:
                element.text = None
        for element in self._holes:
            before, above = element.getprevious(), element.getparent()
            begins = before is None and not (above.text or "").strip()
            for child in list(element):
                element.remove(child)
            # Within a sentence what shows no words is a hole; where one begins with it, nothing would tell.
            begins = begins and element.get("aria-hidden") is not None
            element.text = HOLE if begins and (element.tail or "").strip() else None
        for element, said in self._cut:
            before = element.getprevious()
            if before is None:
                element.getparent().text = said
            else:
                before.tail = said
        for element in self._gone:
            if element.getparent() is not None:
                element.drop_tree()

    def _walk(self, tree: Any) -> None:
        stack: list[tuple[Any, _Seen]] = [(tree, _Seen())]
        while stack:
            element, around = stack.pop()
            if not isinstance(element.tag, str) or element.tag in ("head", "script", "style"):
                continue
            style = {**_hinted(element), **self._rules.style_of(element)}
            is_whole = element.tag in _WHOLE or element in self._whole or element is tree
            if not is_whole and self._is_gone(element, style):
                continue
            # A page's ground counts, not that all of it is hidden until it is loaded.
            seen = _ground_of(around, style) if is_whole else _within(around, style)
            is_unseen = not _is_seen(seen)
            if is_unseen and element.text:
                self._silent.append((element, False))
            for child in element:
                if is_unseen and child.tail:
                    self._silent.append((child, True))
                stack.append((child, seen))

    def _is_gone(self, element: Any, style: Style) -> bool:
        """Whether neither an element nor anything in it is seen; it is put where it belongs."""
        hidden = element.get("hidden")
        is_streamed = _STREAMED.search(element.get("id") or "") is not None
        is_hidden = hidden not in (None, "until-found") and "display" not in style and not is_streamed
        is_block = element.tag in BLOCKS
        if is_hidden or style.get("display") == "none" or _is_away(element, style):
            if hidden != "until-found" and not is_folded(element) and not self._is_cut_off(element):
                self._gone.append(element)
                return True
        elif element.tag not in _HEADINGS and _is_named_unseen(element):
            (self._gone if is_block else self._holes).append(element)
            return True
        elif (element.get("aria-hidden") or "").strip().lower() == "true" and not is_folded(element):
            if any(child.tag in BLOCKS for child in element.iter()):
                self._gone.append(element)
                return True
            if _WORD.search("".join(element.itertext())) and next(element.iter("svg", "math"), None) is None:
                self._holes.append(element)
                return True
        return False

    def _is_cut_off(self, element: Any) -> bool:
        """Whether dots stand in its place until it is asked for, in the middle of a text; they go."""
        before, above = element.getprevious(), element.getparent()
        said = (above.text if before is None else before.tail) or ""
        if element.tag in BLOCKS or not _WORD.search("".join(element.itertext())):
            return False
        if before is not None and not said.strip():
            if _DOTS.fullmatch("".join(before.itertext())):
                self._gone.append(before)
                return True
            return False
        if dots := _DOTS_LAST.search(said):
            gap = " " if dots[0] != dots[0].strip() else ""
            self._cut.append((element, said[: dots.start()] + gap))
        return dots is not None


def _hinted(element: Any) -> Style:
    hints = _HINTS.items() if element.tag in _HINTED else ()
    return {name: element.get(hint).strip().lower() for hint, name in hints if element.get(hint)}


def _is_away(element: Any, style: Style) -> bool:
    """Whether an element is see-through, has no room, or lies outside."""
    if not style:
        return False
    moves = any(style.get(name, "none") not in ("none", "auto") for name in _MOVES) or element.get(
        "data-w-id"
    )
    opaque, unit = _measure(style.get("opacity", "1"))
    if opaque <= _LEAST_OPAQUE * (100 if unit == "%" else 1):
        return not moves
    if _is_far(style, "text-indent") or _FADED.search(style.get("filter", "")):
        return True
    if style.get("content-visibility") == "hidden" or _SHRUNK.search(style.get("transform", "")):
        return True
    if element.tag in _HEADINGS:
        return False
    is_cut = any(style.get(name) in ("hidden", "clip") for name in ("overflow", "overflow-x", "overflow-y"))
    if is_cut and any(_is_least(style, name, _THIN) for name in ("height", "max-height", "width")):
        return not moves
    if _CLIPPED.fullmatch(style.get("clip-path", "")):
        return not moves
    is_placed = style.get("position") in ("absolute", "fixed")
    if is_placed and _CLIPPED.fullmatch(style.get("clip", "")):
        return True
    places = ("left", "top", "right", "margin-left") if is_placed else ("margin-left",)
    return any(_is_far(style, name) for name in places)


def _measure(value: str) -> tuple[float, str]:
    """A number and its unit; infinite where there is none."""
    found = _MEASURE.fullmatch(value)
    return (float(found["size"]), found["unit"]) if found else (float("inf"), "")


def _is_least(style: Style, name: str, most: int) -> bool:
    size, unit = _measure(style.get(name, ""))
    return 0 <= size <= (most if unit in ("px", "pt") else 0)


def _is_far(style: Style, name: str) -> bool:
    size, unit = _measure(style.get(name, ""))
    return size <= (_FAR if unit in ("px", "pt") else _FAR_OTHER)


def _within(around: _Seen, style: Style) -> _Seen:
    """What an element hands down, of what it is handed."""
    if not style:
        return around
    seen = _ground_of(around, style)
    if visible := style.get("visibility"):
        seen = replace(seen, shown=visible not in ("hidden", "collapse"))
    if "font-size" in style:
        seen = replace(seen, sized=not _is_least(style, "font-size", _DOT))
    return _inked(seen, style.get("-webkit-text-fill-color") or style.get("color") or "")


def _inked(seen: _Seen, told: str) -> _Seen:
    found = parse_color(told)
    if not isinstance(found, RGBA):
        return seen
    return replace(seen, colour=tuple(found[:3]), ink=found.alpha >= _LEAST_INK)


def _ground_of(around: _Seen, style: Style) -> _Seen:
    told = [style.get(name, "") for name in ("background-image", "background-color", "background")]
    if "(" in told[0] or "url(" in told[2] or "gradient(" in told[2]:
        return replace(around, ground=None, colour=None)
    for part in parse_component_value_list(told[1] or told[2]):
        found = parse_color(part)
        if isinstance(found, RGBA) and found.alpha >= _LEAST_INK:
            return replace(around, ground=tuple(found[:3]), colour=None)
    return around


def _is_seen(seen: _Seen) -> bool:
    if not (seen.shown and seen.sized and seen.ink):
        return False
    if seen.ground is None or seen.colour is None:
        return True
    parts = zip(seen.colour, seen.ground, strict=True)
    return any(abs(one - other) >= _LEAST_CONTRAST for one, other in parts)


def _is_named_unseen(element: Any) -> bool:
    return not _NAMED_UNSEEN.isdisjoint((element.get("class") or "").split())
