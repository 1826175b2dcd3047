"""What a page's own style sheets (`<style>`) and its elements say of how these look, by the cascade.

Asked by `unseen`. Selectors of tags, classes, ids and attributes, also within or right below others, are
understood; a rule with another, or for some screens only, counts for nothing. Sheets that are loaded are not
known. Of a page's rules and looks only so many count that it is read in time.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import tinycss2
from cssselect import SelectorError
from cssselect.parser import Attrib, Class, CombinedSelector, Element, Hash, Selector, parse

_MOST_RULES, _MOST_LOOKS = 2_000, 1_000_000
# Characters of all sheets together, and of what one element or selector says.
_LONGEST, _LONGEST_OWN = 300_000, 2_000
_MOST_ABOVE = 60
_EVERYWHERE = frozenset(("", "all", "screen"))

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
        value = element.get(told.attrib.lower())
        return value is not None and (told.operator == "exists" or value == told.value.value)

    def _is_within(self, told: CombinedSelector, element: Any) -> bool:
        most = 1 if told.combinator == ">" else _MOST_ABOVE
        return any(
            self._matches(told.selector, above)
            for above, _ in zip(element.iterancestors(), range(most), strict=False)
        )


def _rules(found: list[Any]) -> Iterator[Any]:
    for rule in found:
        if rule.type == "qualified-rule":
            yield rule
        elif (
            rule.type == "at-rule"
            and rule.lower_at_keyword == "media"
            and rule.content is not None
            and _is_everywhere(tinycss2.serialize(rule.prelude))
        ):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            yield from (one for one in inner if one.type == "qualified-rule")


def _is_everywhere(media: str | None) -> bool:
    return (media or "").strip().lower() in _EVERYWHERE


def _declared(block: Any, properties: frozenset[str]) -> Iterator[tuple[str, str, bool]]:
    for one in tinycss2.parse_blocks_contents(block, skip_comments=True, skip_whitespace=True):
        if one.type == "declaration" and one.lower_name in properties:
            yield one.lower_name, tinycss2.serialize(one.value).strip().lower(), one.important


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
        parts = (told.selector, told.subselector)
        return told.combinator in (" ", ">") and all(_is_known(part, most=most - 1) for part in parts)
    if isinstance(told, Attrib) and told.operator not in ("exists", "="):
        return False
    return isinstance(told, Class | Hash | Attrib) and _is_known(told.selector, most=most - 1)


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
