"""Days in a text, in the forms of three languages, and their normal form.

Called by `reading.item`. `2026-06-30`, `30.06.2026`, `June 30th, 2026` and `30 czerwca 2026` are one day.
`03/04/2026` is the third of April or the fourth of March, and stays both: `2026-03-04|2026-04-03`.
"""

import re
from collections.abc import Iterator

from actors.platform.figures.number_forms import day_exists, in_figures
from actors.platform.figures.number_words import CAPITAL_MONTHS, POLISH_MONTHS, SHORT_MONTHS

_FIGURES = re.compile(
    r"(?<![\w/.-])(?:(?P<iso>\d{4}([-/])(?:0[1-9]|1[0-2])\2[0-3]\d)(?!\d|[-/.]\d)"
    r"|(?P<dotted>\d{1,2}\. ?\d{1,2}\. ?\d{4})(?!\d)"
    r"|(?P<slashed>\d{1,2}([/-])\d{1,2}\5\d{4})(?![\w/-]))"
)
_DAY_FIRST = re.compile(
    r"(?<![\w.,/-])(\d{1,2})(?:st|nd|rd|th|\.)?[ -](?:of )?([^\W\d_]{3,12})\.?,?[ -](\d{4})(?!\d)"
)
_MONTH_FIRST = re.compile(r"(?<![^\W_])([^\W\d_]{3,12})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?!\d)")
MONTHS = CAPITAL_MONTHS | POLISH_MONTHS | SHORT_MONTHS
_YEARS = range(1900, 2200)


def days(text: str) -> Iterator[tuple[int, int, str]]:
    """The days of a text: from where to where, and the normal form, which may have two readings."""
    found = [*_in_figures(text), *_in_words(_DAY_FIRST, text, 1, 2), *_in_words(_MONTH_FIRST, text, 2, 1)]
    return iter(sorted(found))


def _in_figures(text: str) -> Iterator[tuple[int, int, str]]:
    for found in _FIGURES.finditer(text):
        kind = found.lastgroup if found.lastgroup in ("iso", "dotted", "slashed") else None
        kind = kind or ("iso" if found["iso"] else "slashed")
        readings = in_figures(kind, found[kind])
        ways = sorted(reading.removeprefix("day:") for reading in readings if reading.startswith("day:"))
        if ways and int(ways[0][:4]) in _YEARS:
            yield *found.span(kind), "|".join(ways)


def _in_words(pattern: re.Pattern[str], text: str, day: int, month: int) -> Iterator[tuple[int, int, str]]:
    for found in pattern.finditer(text):
        number = MONTHS.get(found[month].casefold(), 0)
        year, of_month = int(found[3]), int(found[day])
        if number and year in _YEARS and day_exists(year, number, of_month):
            yield *found.span(), f"{year:04}-{number:02}-{of_month:02}"
