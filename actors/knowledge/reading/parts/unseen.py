"""Takes out of a page's tree what its reader does not see, before anything else looks at it.

Called by `settling`. Not shown, without size or colour, or far outside: by attributes, by an element's own
style, or by the page's style sheets. What is merely folded is text, and so is what only moves into sight.
What others see in place of `aria-hidden` words is not known: a sentence with such words has a hole.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from actors.knowledge.reading.parts.figures_in_text import HOLE
from actors.knowledge.reading.parts.page_parts import BLOCKS, is_folded
from actors.knowledge.reading.parts.style_rules import Style, StyleRules
from models.text import word_list

_READ = frozenset(
    word_list("""
        display visibility opacity font-size color background background-color background-image position left
        top right text-indent margin-left clip clip-path height max-height width overflow overflow-x
        overflow-y transform transition animation animation-name will-change -webkit-text-fill-color
    """)
)
_MOVES = ("transform", "transition", "animation", "animation-name", "will-change")
_NONE = re.compile(r"[+-]?0*\.?0*(?:[a-z]{1,4}|%)?")
_TINY = re.compile(r"(?:0*[01]?(?:\.\d+)?px|0*\.?0*(?:[a-z]{1,4}|%)?)")
_FAR = re.compile(r"-\d{4,}(?:\.\d+)?px|-\d{3,}(?:\.\d+)?(?:r?em|%|vw|vh)")
_CLIPPED = re.compile(r"rect\((?:[01](?:px)?[\s,]*){4}\)|inset\((?:50|100)%[^)]*\)")
_NO_COLOUR = frozenset(("", "none", "transparent", "initial", "inherit", "unset"))
_WHITE = re.compile(
    r"white|#f{3}f?|#f{6}(?:f{2})?|rgba?\(\s*(?:255[\s,]+){2}255(?:[\s,/]+(?:1|1\.0|100%))?\s*\)"
)
_PAGE = "white"
_WHOLE = frozenset(("html", "body"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_NAMED_UNSEEN = frozenset(
    word_list("sr-only visually-hidden screen-reader-text visuallyhidden screen-reader-only")
)
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an element hands down: whether words can be seen in it, and on which colour."""

    shown: bool = True
    sized: bool = True
    colour: str = "black"
    ground: str = _PAGE


class Unseen:
    """What a reader does not see of a tree."""

    def __init__(self, tree: Any) -> None:
        self._rules = StyleRules(tree, _READ)
        # A whole page is hidden by nobody for long: what holds its title is shown by scripts.
        self._whole = {above for title in tree.iter("h1") for above in title.iterancestors()}
        self._gone: list[Any] = []
        self._silent: list[tuple[Any, bool]] = []
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
        for element in self._gone:
            if element.getparent() is not None:
                element.drop_tree()

    def _walk(self, tree: Any) -> None:
        stack: list[tuple[Any, _Seen]] = [(tree, _Seen())]
        while stack:
            element, around = stack.pop()
            if not isinstance(element.tag, str) or element.tag in ("head", "script", "style"):
                continue
            style = self._rules.style_of(element)
            is_whole = element.tag in _WHOLE or element in self._whole or element is tree
            if not is_whole and self._is_gone(element, style):
                continue
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
        is_hidden = hidden is not None and hidden != "until-found" and "display" not in style
        is_block = element.tag in BLOCKS
        if is_hidden or style.get("display") == "none" or _is_away(element, style):
            if hidden != "until-found" and not is_folded(element):
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


def _is_away(element: Any, style: Style) -> bool:
    """Whether an element is see-through, has no room, or lies outside."""
    if not style:
        return False
    moves = any(style.get(name, "none") not in ("none", "auto") for name in _MOVES) or element.get(
        "data-w-id"
    )
    if _NONE.fullmatch(style.get("opacity", "1")):
        return not moves
    if _FAR.fullmatch(style.get("text-indent", "")):
        return True
    if element.tag in _HEADINGS:
        return False
    is_cut = any(style.get(name) in ("hidden", "clip") for name in ("overflow", "overflow-x", "overflow-y"))
    if is_cut and any(_TINY.fullmatch(style.get(name, "auto")) for name in ("height", "max-height", "width")):
        return not moves
    if style.get("position") in ("absolute", "fixed"):
        return (
            any(_FAR.fullmatch(style.get(name, "")) for name in ("left", "top", "right", "margin-left"))
            or _CLIPPED.fullmatch(style.get("clip", "")) is not None
            or _CLIPPED.fullmatch(style.get("clip-path", "")) is not None
        )
    return _FAR.fullmatch(style.get("margin-left", "")) is not None


def _within(around: _Seen, style: Style) -> _Seen:
    """What an element hands down, of what it is handed."""
    if not style:
        return around
    seen = _ground_of(around, style)
    if visible := style.get("visibility"):
        seen = replace(seen, shown=visible not in ("hidden", "collapse"))
    if size := style.get("font-size"):
        seen = replace(seen, sized=_NONE.fullmatch(size) is None or not size)
    colour = style.get("-webkit-text-fill-color") or style.get("color")
    return replace(seen, colour=colour) if colour and colour not in ("inherit", "unset") else seen


def _ground_of(around: _Seen, style: Style) -> _Seen:
    if style.get("background-image", "none") not in _NO_COLOUR:
        return replace(around, ground="")
    ground = style.get("background-color") or style.get("background") or ""
    return around if ground in _NO_COLOUR else replace(around, ground=ground)


def _is_seen(seen: _Seen) -> bool:
    if not seen.shown or not seen.sized or seen.colour == "transparent":
        return False
    is_white = _WHITE.fullmatch(seen.colour) is not None
    return not (seen.colour == seen.ground or (is_white and _WHITE.fullmatch(seen.ground) is not None))


def _is_named_unseen(element: Any) -> bool:
    return not _NAMED_UNSEEN.isdisjoint((element.get("class") or "").split())
