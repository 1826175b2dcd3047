"""The days that a page shows its readers with its headline, or else behind its text.

Read by `page_day`. A day counts by what stands beside it in its line: a word for publishing, a name, a place,
or nothing. What stands beside a word that isn't known may be the day of anything: of a change, an event, a
deadline.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from actors.platform.text.numbers.written_days import DayReader, WrittenDay
from actors.systems.knowledge.parsing.parts.page_parts import BLOCKS, names_of_part
from actors.systems.knowledge.parsing.parts.part_names import is_called

_OTHER_TAGS = frozenset(
    ("nav", "footer", "aside", "form", "blockquote", "table", "figure", "article", "script", "style")
)
_HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
_TITLES = _HEADINGS | {"h1"}
_LABELS = frozenset(("dt", "th", "label"))
# A paragraph of the text itself; what stands before the first is the head of an article.
_PARAGRAPH = 100
_MOST, _LONGEST = 20_000, 150
_FEW, _FEWEST = 4, 3
_PARTS = re.compile(r"[|·•●]")
_WORD = re.compile(r"[^\W\d_]+")
_RANGE = re.compile(r"\d\.?\s?[–—-]\Z")
# Behind these a day is not what the words before it are about.
_APART = (",", ";", ".", ")", "-", "–", "—", "/")
_UNCLEAR = WrittenDay(frozenset())


@dataclass(slots=True)
class _Line:
    """What stands in one line: its words, and the days that elements of it hold, in order."""

    tag: str
    is_dated: bool
    is_behind: bool
    said: list["str | _DayOf"] = field(default_factory=list)
    linked: int = 0

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join(" ".join(one for one in self.said if isinstance(one, str)).split())


class _DayOf(NamedTuple):
    """A day that an element holds; one that it does not say clearly has no readings."""

    written: WrittenDay
    is_published: bool = False


class ShownDays(NamedTuple):
    """The days in the head of the article, and those behind where its text begins."""

    in_head: list[WrittenDay]
    behind: list[WrittenDay]


def shown_days(tree: Any, reader: DayReader) -> ShownDays:
    """The days that may be the article's own. Where some are said to be of its publishing, only these."""
    article = _article(tree)
    places: dict[bool, list[_DayOf]] = {False: [], True: []}
    above, is_listed = "", False
    for line in _Lines(reader).read(article) if article is not None else ():
        text = line.text
        if line.tag in _HEADINGS:
            if is_called(text, "sections", file="days"):
                break
            is_listed = line.linked > 0
        elif len(text) > _LONGEST:
            is_listed = False
        elif not is_listed and line.linked < _FEW:
            places[line.is_behind] += [
                one
                for one in _days_in(line, above, reader)
                if one.is_published or not (line.is_behind and line.linked)
            ]
        if line.tag in _LABELS:
            above = f"{text}:"
        elif text:
            is_label = line.tag not in _TITLES and len(_WORD.findall(text)) <= _FEW
            above = text if is_label else ""
    return ShownDays(_surest(places[False]), _surest(places[True]))


def _surest(found: list[_DayOf]) -> list[WrittenDay]:
    published = [one for one in found if one.is_published]
    return [one.written for one in published or found if one.written.days]


def _days_in(line: _Line, above: str, reader: DayReader) -> Iterator[_DayOf]:
    """The days of a line that what stands beside them does not make others'."""
    beside: list[str] = [""]
    days: list[_DayOf] = []
    reads = line.is_dated or is_called(line.text, "published", file="days")
    for one in line.said:
        if isinstance(one, _DayOf):
            days.append(one)
            beside.append("")
            continue
        at = 0
        for placed in reader.all_in(one) if reads else ():
            beside[-1] += f" {one[at : placed.start]}"
            days.append(_DayOf(placed.written))
            beside.append("")
            at = placed.end
        beside[-1] += f" {one[at:]}"
    after = _PARTS.split(beside[-1])[0].strip()
    for place, day in enumerate(days):
        before = _PARTS.split(beside[place])[-1].strip()
        is_last, is_alone = place + 1 == len(days), place == 0 and not before
        is_begun = not is_last and is_called(beside[place + 1], "ranges", file="days")
        if is_begun or _is_others(before if not is_alone else above, after if is_last else ""):
            continue
        if day.is_published or is_called(before or (above if is_alone else ""), "published", file="days"):
            yield day._replace(is_published=True)
        elif (is_alone and not above.endswith(":")) or (not is_alone and _is_apart(before)):
            yield day


def _is_others(before: str, after: str) -> bool:
    is_sentence = after.endswith((".", "!", "?")) and len(_WORD.findall(after)) >= _FEWEST
    return is_sentence or any(is_called(one, "others", file="days") for one in (before, after))


def _is_apart(before: str) -> bool:
    """Whether the words before a day are a name, a place or a weekday, and not what happens on it."""
    told = _WORD.findall(before)
    if _RANGE.search(before):
        return False
    if not told or before.endswith(_APART):
        return True
    if before.endswith(":"):
        return False
    is_known = is_called(told[0], "bylines", file="days") or is_called(told[-1], "weekdays", file="days")
    return is_known or (len(told) > 1 and all(word[0].isupper() for word in told))


class _Lines:
    """Reads an article's lines, without those of its comments, of other articles and around the text."""

    def __init__(self, reader: DayReader) -> None:
        self._reader = reader
        self._left = _MOST
        self._is_behind = False
        self._line = _Line("", False, False)

    def read(self, article: Any) -> Iterator[_Line]:
        """Its lines, in order."""
        yield from self._in(article, article.tag, is_dated=False, is_linked=False)
        yield self._line

    def _in(self, element: Any, tag: str, *, is_dated: bool, is_linked: bool) -> Iterator[_Line]:
        self._say(element.text, is_linked)
        for child in element:
            self._left -= 1
            if isinstance(child.tag, str) and self._left > 0 and not _is_other(child):
                yield from self._child(child, tag, is_dated=is_dated, is_linked=is_linked)
            self._say(child.tail, is_linked)

    def _child(self, child: Any, tag: str, *, is_dated: bool, is_linked: bool) -> Iterator[_Line]:
        is_dated = is_dated or is_called(names_of_part(child), "days")
        is_block = child.tag in BLOCKS
        if is_block or child.tag == "br":
            yield self._ended(child.tag if is_block else tag, is_dated)
        if child.tag == "p" and sum(map(len, child.itertext())) >= _PARAGRAPH:
            self._is_behind = self._line.is_behind = True
        self._line.is_dated |= is_dated
        if (day := _day_of(child, self._reader)) is not None:
            self._line.said.append(day)
        else:
            inner = child.tag if is_block else tag
            yield from self._in(child, inner, is_dated=is_dated, is_linked=is_linked or child.tag == "a")
        if is_block:
            yield self._ended(tag, False)

    def _say(self, text: str | None, is_linked: bool) -> None:
        if text and text.strip():
            self._line.said.append(text)
            self._line.linked += len(_WORD.findall(text)) if is_linked else 0

    def _ended(self, tag: str, is_dated: bool) -> _Line:
        ended, self._line = self._line, _Line(tag, is_dated, self._is_behind)
        return ended


def _day_of(element: Any, reader: DayReader) -> _DayOf | None:
    """The day that an element holds by what it is; None where it is no such element."""
    kind = (element.get("itemprop") or "").split()
    is_own = "datePublished" in kind
    if element.tag != "time" and not is_own:
        return None
    text = " ".join("".join(element.itertext()).split())
    told = element.get("datetime") or element.get("content")
    written, shown = reader.only_in(told or text), reader.only_in(text)
    if written is None or (kind and not is_own):
        return _DayOf(_UNCLEAR)
    if shown is not None and not (written.days | written.near) & (shown.days | shown.near):
        return _DayOf(_UNCLEAR)
    return _DayOf(written, is_own or element.get("pubdate") is not None)


def _article(tree: Any) -> Any:
    """The part of the page that has its headline and its text, if that can be told."""
    articles = [one for one in tree.iter("article") if not _is_other(one, is_outer=True)]
    if len(articles) == 1:
        return articles[0]
    with_headline = [one for one in articles if next(one.iter("h1"), None) is not None]
    if articles:
        return with_headline[0] if len(with_headline) == 1 else None
    main = next(tree.iter("main"), None)
    if main is not None:
        return main
    headlines = list(tree.iter("h1"))
    if len(headlines) != 1:
        return None
    above = headlines[0].getparent()
    return above if above is not None and above.tag != "html" else None


def _is_other(element: Any, *, is_outer: bool = False) -> bool:
    """Whether a part is of other things than the article: by its tag, its name, or the thing that it is."""
    names = names_of_part(element)
    if is_called(names, "other_days"):
        return True
    if is_called(names, "changes") and not is_called(names, "published"):
        return True
    if is_outer:
        return False
    is_thing = element.get("itemscope") is not None and element.find(".//h1") is None
    return is_thing or element.tag in _OTHER_TAGS
