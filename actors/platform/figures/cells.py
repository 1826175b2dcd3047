"""What a table's cells say: a day or a period, and numbers. Only what nobody could read otherwise.

Called by `series`. English, Polish and German forms, and ISO 8601; `03/04/2026` may be two days and is none.
Numbers are read by the column: `1,234` alone may be two, beside `1,204,000` it is one.
"""

import math
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple

from babel.dates import get_month_names

from actors.platform.text.normal_form import words
from models.content.articles import Cell
from models.text import word_list

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
# Numbers are missing here, and nothing else is said.
_BLANKS = frozenset(["", "-", "–", "—", ".", "..", "...", "…", ":", "n/a", "k.a.", "k. a.", "b.d.", "b. d."])
_TOTALS = frozenset(
    word_list(
        "total totals sum summe insgesamt gesamt razem ogółem suma average mean durchschnitt mittelwert "
        "średnio średnia"
    )
)
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "’": "'"})
_SIGNED = re.compile(
    r"(?P<sign>[-+−]?)(?P<before>[$€£]?) ?(?P<inner>[-−]?)(?P<body>\d[\d.,' ]*)(?P<after>%|[$€£]|zł)?\Z",
    re.ASCII,
)
# The ways to write numbers: the decimal point, and what stands between groups of three digits.
_WAYS = tuple(
    (
        point,
        re.compile(
            rf"(?:\d{{1,18}}|[1-9]\d{{0,2}}(?:{re.escape(group)}\d{{3}}){{1,5}})(?:{re.escape(point)}\d{{1,12}})?\Z",
            re.ASCII,
        ),
    )
    for point in ".,"
    for group in ".,' "
    if group != point
)


def _month_numbers() -> dict[str, int]:
    """The names of months in three languages, whole and short, as `words` has them."""
    # What German tables have, and CLDR has not.
    found: dict[str, int] = {"mrz": 3, "sept": 9, "sep": 9}
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


def is_blank(cell: Cell) -> bool:
    """Whether a cell says that there is nothing."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and cell.strip().casefold() in _BLANKS)


def is_total(cell: Cell) -> bool:
    """Whether a cell, in place of a date, says that its row is the sum or the mean of the others."""
    return isinstance(cell, str) and cell.strip().rstrip(":").casefold() in _TOTALS


class Numbers(NamedTuple):
    """The numbers of a column, None where a cell is blank; all have the same sign of percent or money."""

    values: tuple[Decimal | None, ...]
    mark: str


def may_be_number(cell: Cell) -> bool:
    """Whether a cell can be read as a number, in one way or in several."""
    return not is_blank(cell) and (read := _read(cell)) is not None and read.ways != _UNREAD.ways


def numbers_of(cells: Sequence[Cell]) -> Numbers | None:
    """The numbers of a column; None where a cell that isn't blank can't be read in exactly one way.

    All cells are written in the same way: what one leaves open another may settle. A bracket is an
    accountant's minus only where no cell has a minus sign.
    """
    read = [None if is_blank(cell) else _read(cell) or _UNREAD for cell in cells]
    there = [one for one in read if one is not None]
    if len({one.mark for one in there}) != 1 or {"(", "-"} <= {one.sign for one in there}:
        return None
    found = {
        tuple(None if one is None else one.ways[way] for one in read)
        for way in range(len(_WAYS))
        if all(one.ways[way] is not None for one in there)
    }
    return Numbers(found.pop(), there[0].mark) if len(found) == 1 else None


class _Read(NamedTuple):
    """A cell by each of `_WAYS`, with its sign and its mark."""

    ways: tuple[Decimal | None, ...]
    sign: str = ""
    mark: str = ""


_UNREAD = _Read((None,) * len(_WAYS))


def _read(cell: Cell) -> _Read | None:
    """A number as it may be read: of a float its shortest form, so that 3.1 less 3.0 is 0.1."""
    if isinstance(cell, str):
        return _read_text(cell.strip().translate(_SPACES)) if len(cell) <= _LONGEST_NUMBER else None
    if cell is None or isinstance(cell, bool):
        return None
    if isinstance(cell, int):
        value = Decimal(cell) if abs(cell) < 2**63 else LARGEST
    else:
        value = Decimal(repr(cell)) if math.isfinite(cell) else LARGEST
    return _Read((value,) * len(_WAYS)) if abs(value) < LARGEST else None


def _read_text(text: str) -> _Read | None:
    bracket = text.startswith("(") and text.endswith(")")
    found = _SIGNED.match(text[1:-1] if bracket else text)
    if found is None or (found["before"] and found["after"]):
        return None
    sign = (found["sign"] + found["inner"]).replace("−", "-") + ("(" if bracket else "")
    if len(sign) > 1:
        return None
    body = found["body"].rstrip(" ")
    ways = tuple(_value(body, sign, point) if form.match(body) else None for point, form in _WAYS)
    return _Read(ways, sign, found["before"] or found["after"] or "")


def _value(body: str, sign: str, point: str) -> Decimal | None:
    whole, _, part = body.partition(point)
    digits = re.sub(r"\D", "", whole) + (f".{part}" if part else "")
    value = Decimal(f"-{digits}" if sign in ("-", "(") else digits)
    return value if abs(value) < LARGEST else None
