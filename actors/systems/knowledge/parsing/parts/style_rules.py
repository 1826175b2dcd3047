"""What a page's own style sheets (`<style>`) and its elements say of how these look, by the cascade.

Asked by `unseen`. Selectors of tags, classes, ids and attributes, within, behind or without others, are
understood; a rule with another, or for other media than a wide screen, counts for nothing. Sheets that are
loaded are not known. Of a page's rules and looks only so many count that it is read in time.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import tinycss2
from cssselect import SelectorError
from cssselect.parser import (
    Attrib,
    Class,
    CombinedSelector,
    Element,
    Hash,
    Matching,
    Negation,
    Selector,
    SpecificityAdjustment,
    parse,
)

_MOST_RULES, _MOST_LOOKS = 2_000, 1_000_000
# Characters of all sheets together, and of what one element or selector says.
_LONGEST, _LONGEST_OWN = 300_000, 2_000
_MOST_ABOVE = 60
_WIDTH = re.compile(
    r"\(\s{0,9}(min|max)-width\s{0,9}:\s{0,9}(\d{1,5}(?:\.\d{1,9})?)\s{0,9}(px|r?em)\s{0,9}\)"
)
# Pixels.
_WIDE, _EM = 1280, 16
_NEAR = {"+": 1, "~": _MOST_ABOVE}

_LISTS = (Matching, SpecificityAdjustment)

# Values by property, in lower case; the order in which declarations count.
Style = dict[str, str]
_Order = tuple[bool, tuple[int, int, int], int]


class _Rule(NamedTuple):
    number: int
    specificity: tuple[int, int, int]
    selector: Any
    told: tuple[tuple[str, str, bool], ...]


class StyleRules:
    """The rules of a tree's style sheets."""

    def __init__(self, tree: Any, properties: frozenset[str]) -> None:
        self._properties = properties
        self._looks = 0
        self._by: dict[str, list[_Rule]] = {}
        sheets = (one.text_content() for one in tree.iter("style") if _is_everywhere(one.get("media")))
        rules = _rules(tinycss2.parse_stylesheet("\n".join(sheets)[:_LONGEST], True, True))
        for number, rule in zip(range(_MOST_RULES), rules, strict=False):
            told = tuple(_declared(rule.content, properties))
            for selector in _selectors(rule) if told else ():
                tree = selector.parsed_tree
                self._by.setdefault(_key(tree), []).append(_Rule(number, selector.specificity(), tree, told))

    def style_of(self, element: Any) -> Style:
        """What is said of an element: by the rules, and by itself."""
        won: dict[str, tuple[_Order, str]] = {}
        if self._by:
            for rule in self._rules_for(element):
                self._say(won, rule.told, rule.specificity, rule.number)
        if own := element.get("style"):
            told = tuple(_declared(own[:_LONGEST_OWN], self._properties))
            self._say(won, told, (_MOST_RULES, 0, 0), _MOST_RULES)
        return {name: value for name, (_, value) in won.items()}

    def _say(
        self,
        won: dict[str, tuple[_Order, str]],
        told: tuple[tuple[str, str, bool], ...],
        specificity: tuple[int, int, int],
        number: int,
    ) -> None:
        for name, value, important in told:
            order = (important, specificity, number)
            if name not in won or won[name][0] <= order:
                won[name] = (order, value)

    def _rules_for(self, element: Any) -> Iterator[_Rule]:
        ident = element.get("id")
        keys = [*(f".{name}" for name in set((element.get("class") or "").split())), element.tag, "*"]
        for key in (*keys, *((f"#{ident}",) if ident else ())):
            for rule in self._by.get(key, ()):
                if self._matches(rule.selector, element):
                    yield rule

    def _matches(self, told: Any, element: Any) -> bool:
        self._looks += 1
        if self._looks > _MOST_LOOKS:
            return False
        if isinstance(told, Element):
            return told.element in (None, "*") or told.element.lower() == element.tag
        if isinstance(told, CombinedSelector):
            return self._matches(told.subselector, element) and self._is_within(told, element)
        if not self._matches(told.selector, element):
            return False
        if isinstance(told, Class):
            return told.class_name in (element.get("class") or "").split()
        if isinstance(told, Hash):
            return bool(told.id == element.get("id"))
        if isinstance(told, Attrib):
            return _has(told, element)
        if isinstance(told, Negation):
            return not self._matches(told.subselector, element)
        return any(self._matches(one, element) for one in told.selector_list)

    def _is_within(self, told: CombinedSelector, element: Any) -> bool:
        """Whether what stands before a combinator is above an element, or before it."""
        if told.combinator in _NEAR:
            near, most = element.itersiblings(preceding=True), _NEAR[told.combinator]
        else:
            near, most = element.iterancestors(), 1 if told.combinator == ">" else _MOST_ABOVE
        elements = (one for one in near if isinstance(one.tag, str))
        return any(self._matches(told.selector, one) for one, _ in zip(elements, range(most), strict=False))


def _has(told: Attrib, element: Any) -> bool:
    value = element.get(told.attrib.lower())
    if value is None or told.value is None:
        return value is not None
    wanted, operator = told.value.value, told.operator
    if not wanted:
        return operator == "=" and not value
    return bool(
        (operator == "=" and value == wanted)
        or (operator == "^=" and value.startswith(wanted))
        or (operator == "$=" and value.endswith(wanted))
        or (operator == "*=" and wanted in value)
        or (operator == "~=" and wanted in value.split())
        or (operator == "|=" and (value == wanted or value.startswith(f"{wanted}-")))
    )


def _rules(found: list[Any]) -> Iterator[Any]:
    for rule in found:
        if rule.type == "qualified-rule":
            yield rule
        elif rule.type == "at-rule" and rule.content is not None and _holds(rule):
            yield from _rules(tinycss2.parse_rule_list(rule.content, True, True))


def _holds(rule: Any) -> bool:
    """Whether the rules within another count: of layers, of what all know, and of a wide screen."""
    if rule.lower_at_keyword != "media":
        return rule.lower_at_keyword in ("layer", "supports")
    return _is_everywhere(tinycss2.serialize(rule.prelude))


def _is_everywhere(media: str | None) -> bool:
    """Whether a wide screen is among the media."""
    return any(_is_wide(one) for one in (media or "all").lower()[:_LONGEST_OWN].split(","))


def _is_wide(query: str) -> bool:
    asked = _WIDTH.findall(query)
    rest = " ".join(word for word in _WIDTH.sub(" ", query).split() if word not in ("and", "only"))
    widths = [(kind, float(size) * (1 if unit == "px" else _EM)) for kind, size, unit in asked]
    return rest in ("", "all", "screen") and all(
        width <= _WIDE if kind == "min" else width >= _WIDE for kind, width in widths
    )


def _declared(block: Any, properties: frozenset[str]) -> Iterator[tuple[str, str, bool]]:
    for one in tinycss2.parse_blocks_contents(block, skip_comments=True, skip_whitespace=True):
        if one.type == "declaration" and one.lower_name in properties:
            value = tinycss2.serialize(one.value).strip().lower()
            if len(value) <= _LONGEST_OWN:
                yield one.lower_name, value, one.important


def _selectors(rule: Any) -> list[Selector]:
    """The selectors of a rule; none of what is not understood."""
    told = tinycss2.serialize([one for one in rule.prelude if one.type != "comment"])
    try:
        found = parse(told) if len(told) <= _LONGEST_OWN else []
    except SelectorError:
        return []
    return [one for one in found if one.pseudo_element is None and _is_known(one.parsed_tree)]


def _is_known(told: Any, *, most: int = 20) -> bool:
    if isinstance(told, Element) or not most:
        return most > 0
    if isinstance(told, CombinedSelector):
        parts = [told.selector, told.subselector]
        return told.combinator in (" ", ">", "+", "~") and all(_is_known(one, most=most - 1) for one in parts)
    parts = [told.selector] if isinstance(told, (Class, Hash, Attrib, Negation, *_LISTS)) else []
    if isinstance(told, Negation):
        parts.append(told.subselector)
    elif isinstance(told, _LISTS):
        parts.extend(told.selector_list)
    return bool(parts) and all(_is_known(one, most=most - 1) for one in parts)


def _key(told: Any) -> str:
    """By what the elements that it may be about are found: an id, a class, a tag, or any."""
    if isinstance(told, CombinedSelector):
        return _key(told.subselector)
    if isinstance(told, Hash):
        return f"#{told.id}"
    if isinstance(told, Class):
        return f".{told.class_name}"
    if isinstance(told, Element):
        return "*" if told.element in (None, "*") else told.element.lower()
    return _key(told.selector)
