"""What a table's cells say: a day or a period, and a number. Only what nobody could read otherwise.

Called by `series`. English, Polish and German forms, and ISO 8601; `03/04/2026` may be two days and is none.
"""

import math
import re
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple

from babel.dates import get_month_names

from actors.text.normal_form import words
from models.content.articles import Cell

DateForm = Literal["day", "month", "quarter", "year"]

# Beyond these no statistic goes, and floats are no longer exact.
LARGEST = Decimal(10) ** 18
YEARS = range(1500, 2200)

_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?Q(?P<quarter>[1-4])"
    r"|-(?P<month>\d{2})(?:-(?P<day>\d{2})(?:[T ][\d:.+\-Z]{1,32})?)?)?\Z",
    re.ASCII,
)
_QUARTER = re.compile(
    r"(?:(?P<year>\d{4}) ?q(?P<quarter>[1-4])|q(?P<quarter2>[1-4])[ /]?(?P<year2>\d{4}))\Z", re.ASCII
)
_ROMAN_QUARTER = re.compile(r"(?P<quarter>i|ii|iii|iv) (?:kw|kwartal)\.? (?P<year>\d{4})\Z", re.ASCII)
_GERMAN_QUARTER = re.compile(r"(?P<quarter>[1-4])\. ?(?:quartal|quarter|kwartal) (?P<year>\d{4})\Z", re.ASCII)
_DOTTED = re.compile(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})\Z", re.ASCII)
_MONTH_OF_YEAR = re.compile(r"(?P<month>0?[1-9]|1[0-2])[/.](?P<year>\d{4})\Z", re.ASCII)
_NAMED_MONTH = re.compile(r"(?P<name>[^\W\d_]{3,12})\.?[ -](?P<year>\d{4})\Z")
_LONGEST_DATE, _LONGEST_NUMBER = 48, 64
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
# Text is a number only where nobody could read it as another: `1.234` and `1,234` may be thousands.
_NUMBER = re.compile(
    r"(?P<sign>[-+−]?)(?P<whole>\d{1,18}|\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,5})"
    r"(?:[.,](?P<part>\d{1,2}|\d{4,12}))?(?: ?%)?\Z",
    re.ASCII,
)


def _month_numbers() -> dict[str, int]:
    """The names of months in three languages, whole and short, as `words` has them."""
    found: dict[str, int] = {}
    for locale in ("en", "pl", "de"):
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in get_month_names(width, context, locale).items():
                    found[words(name)] = int(number)
    return found


_MONTHS = _month_numbers()


class Dated(NamedTuple):
    """A day, or the first one of a period, and the form that it is written in."""

    day: date
    form: DateForm


def dated(cell: Cell) -> Dated | None:
    """What a cell says of time; None where it says nothing that is read in one way only."""
    if isinstance(cell, bool) or not isinstance(cell, str | int):
        return None
    text = cell.strip() if isinstance(cell, str) else str(cell) if cell in YEARS else ""
    if len(text) > _LONGEST_DATE:
        return None
    found = _parts(text)
    if found is None or found[0] not in YEARS:
        return None
    year, month, day, form = found
    try:
        return Dated(date(year, month, day), form)
    except ValueError:
        return None


def _parts(text: str) -> tuple[int, int, int, DateForm] | None:
    if found := _ISO.match(text):
        year = int(found["year"])
        if found["quarter"]:
            return year, 3 * int(found["quarter"]) - 2, 1, "quarter"
        if found["month"]:
            return year, int(found["month"]), int(found["day"] or 1), "day" if found["day"] else "month"
        return year, 1, 1, "year"
    plain = text.casefold().replace("ł", "l")
    if found := _QUARTER.match(plain):
        return (
            int(found["year"] or found["year2"]),
            3 * int(found["quarter"] or found["quarter2"]) - 2,
            1,
            "quarter",
        )
    if found := _ROMAN_QUARTER.match(plain):
        return int(found["year"]), 3 * _ROMAN[found["quarter"]] - 2, 1, "quarter"
    if found := _GERMAN_QUARTER.match(plain):
        return int(found["year"]), 3 * int(found["quarter"]) - 2, 1, "quarter"
    if found := _DOTTED.match(plain):
        return int(found["year"]), int(found["month"]), int(found["day"]), "day"
    if found := _MONTH_OF_YEAR.match(plain):
        return int(found["year"]), int(found["month"]), 1, "month"
    if (found := _NAMED_MONTH.match(text)) and (month := _MONTHS.get(words(found["name"]))):
        return int(found["year"]), month, 1, "month"
    return None


def number_in(cell: Cell) -> Decimal | None:
    """A cell's number: of a float its shortest form, so that 3.1 less 3.0 is 0.1. None where it has none."""
    if cell is None or isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        found = _NUMBER.match(cell.strip()) if len(cell) <= _LONGEST_NUMBER else None
        if found is None:
            return None
        whole = re.sub(r"\D", "", found["whole"])
        sign = "-" if found["sign"] in ("-", "−") else ""
        value = Decimal(f"{sign}{whole}.{found['part'] or '0'}" if found["part"] else f"{sign}{whole}")
    elif isinstance(cell, int):
        value = Decimal(cell) if abs(cell) < 2**63 else LARGEST
    else:
        value = Decimal(repr(cell)) if math.isfinite(cell) else LARGEST
    return value if abs(value) < LARGEST else None
