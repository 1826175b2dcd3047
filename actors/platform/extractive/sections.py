"""Sections of a longer text of quotations, under headings from a fixed list.

Called by whoever writes in quotations. A sentence's section is told by its words alone.
"""

import re
from collections.abc import Sequence
from typing import Literal

from actors.platform.extractive.candidates import Candidate
from actors.platform.text.language import Language

Section = Literal["event", "figures", "outlook"]

HEADINGS: dict[Language, dict[Section, str]] = {
    "en": {"event": "What the source says", "figures": "The figures", "outlook": "What comes next"},
    "pl": {"event": "Co mówi źródło", "figures": "Liczby", "outlook": "Co dalej"},
    "de": {"event": "Was die Quelle sagt", "figures": "Die Zahlen", "outlook": "Wie es weitergeht"},
}
# With fewer sentences a text needs no headings, and neither does a section of its own.
_ENOUGH = 9
_OF_SECTION = 2
_OUTLOOK: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:will|expects?|expected|plans?|planned|next (?:week|month|year|decision|step)|forecasts?|"
        r"projected|is due|are due|by 20\d\d)\b",
        re.IGNORECASE,
    ),
    "pl": re.compile(
        r"\b(?:będzie|będą|planuj\w+|oczekuj\w+|spodziewa\w*|prognoz\w+|ma zostać|mają zostać|do 20\d\d)\b",
        re.IGNORECASE,
    ),
    # "Wird" and "werden" are the passive as well: they count with a time that is to come.
    "de": re.compile(
        r"\b(?:erwartet|erwarten|plant|planen|soll|sollen|prognose\w*|bis 20\d\d)\b"
        r"|\b(?:wird|werden)\b.{0,200}\b(?:künftig\w*|voraussichtlich|nächste\w|kommende\w|morgen"
        r"|ab (?:dem )?\d)\b"
        r"|\b(?:künftig\w*|voraussichtlich|nächste\w|kommende\w|morgen)\b.{0,200}\b(?:wird|werden)\b",
        re.IGNORECASE,
    ),
}
# Numbers that neither count nor measure: of paragraphs and houses, times, days, years.
_NO_FIGURE = re.compile(
    r"(?:§|\b(?:art|abs|nr|no|ziff|ust|pkt|poz|lok|ul|para|din|top|item|page|section|clause)\b\.?) ?"
    r"\d[\d.,/-]*"
    r"|\b\d{1,2}[:.]\d\d(?!\d| ?(?:%|percent|proc|prozent|m|k|e|€|£|\$))\b"
    r"|\b\d{1,2}\.\d{1,2}\.(?:\d{4})?"
    r"|\b(?:19|20)\d\d\b"
    r"|\b\d{1,2}\.? (?:jan|feb|mar|mär|apr|may|maj|mai|jun|cze|jul|lip|aug|sie|sep|wrz|oct|okt|paź|nov|lis"
    r"|dec|dez|gru|lut|sty|kwi)\w*",
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
    return [(HEADINGS[language][name], part) for name, part in by.items() if part]


def _section(text: str, language: Language) -> Section:
    if _OUTLOOK[language].search(text):
        return "outlook"
    return "figures" if len(_NUMBER.findall(_NO_FIGURE.sub(" ", text))) >= _MANY_NUMBERS else "event"
