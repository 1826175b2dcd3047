"""Sections of a longer text of quotations, under headings from a fixed list.

Called by whoever writes in quotations. A sentence's section is told by its words alone.
"""

import re
from collections.abc import Sequence
from typing import Literal, get_args

from actors.platform.extractive.candidates import Candidate
from actors.platform.text.language import Language
from actors.platform.text.lexicon import ENGLISH, lexicon, pattern_in, words_of_all

Section = Literal["event", "figures", "outlook"]

_FILE = "quoting"
# With fewer sentences a text needs no headings, and neither does a section of its own.
_ENOUGH = 9
_OF_SECTION = 2
# Numbers that neither count nor measure: of paragraphs and houses, times, days, years.
_NUMBERED, _MONTHS = ("|".join(sorted(words_of_all(_FILE, key))) for key in ("numbered", "months"))
_NO_FIGURE = re.compile(
    rf"(?:§|\b(?:{_NUMBERED})\b\.?) ?\d[\d.,/-]*"
    r"|\b\d{1,2}[:.]\d\d(?!\d| ?(?:%|percent|proc|prozent|m|k|e|€|£|\$))\b"
    r"|\b\d{1,2}\.\d{1,2}\.(?:\d{4})?"
    r"|\b(?:19|20)\d\d\b"
    rf"|\b\d{{1,2}}\.? (?:{_MONTHS})\w*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MANY_NUMBERS = 2


def sections(found: Sequence[Candidate], language: Language) -> list[tuple[str | None, list[Candidate]]]:
    """The sentences by heading, in their order; where they are few, one section without a heading."""
    if len(found) < _ENOUGH:
        return [(None, list(found))]
    by: dict[Section, list[Candidate]] = {"event": [], "figures": [], "outlook": []}
    for one in found:
        by[_section(one.text, language)].append(one)
    for name in ("figures", "outlook"):
        if len(by[name]) < _OF_SECTION:
            moved = {id(one) for one in (*by["event"], *by[name])}
            by["event"] = [one for one in found if id(one) in moved]
            by[name] = []
    return [(headings(language)[name], part) for name, part in by.items() if part]


def headings(language: Language) -> dict[Section, str]:
    """The heading of each section; in English where the language has none."""
    texts = {**lexicon(ENGLISH, _FILE), **lexicon(language, _FILE)}
    return {section: texts[f"heading_{section}"] for section in get_args(Section)}


def _section(text: str, language: Language) -> Section:
    if pattern_in(language, _FILE, "outlook").search(text):
        return "outlook"
    return "figures" if len(_NUMBER.findall(_NO_FIGURE.sub(" ", text))) >= _MANY_NUMBERS else "event"
