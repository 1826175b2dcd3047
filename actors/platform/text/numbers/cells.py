"""What a table's cells say: a day or a period, and numbers. Only what nobody could read otherwise.

English, Polish and German forms, and ISO 8601; `03/04/2026` may be two days and is none.
Numbers are read by the column: `1,234` alone may be two, beside `1,204,000` it is one.
"""

import math
import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Literal, NamedTuple

from actors.platform.text.lexicon import phrases_of_all, words_of_all
from actors.platform.text.numbers.number_readings import Reader
from models.content.articles import Cell

DateForm = Literal["day", "month", "quarter", "year"]

# By the kind of a reading.
_FORMS: dict[str, DateForm] = {"day": "day", "month": "month", "quarter": "quarter", "number": "year"}
# Beyond these no statistic goes, and floats are no longer exact.
LARGEST = Decimal(10) ** 18
YEARS = range(1500, 2200)

_MONTH_OF_YEAR = re.compile(r"(?P<month>0?[1-9]|1[0-2])[/.](?P<year>\d{4})\Z", re.ASCII)
_YEAR = re.compile(r"\d{4}\Z", re.ASCII)
_LONGEST_DATE, _LONGEST_NUMBER = 48, 64
# Numbers are missing here, and nothing else is said.
_BLANKS = frozenset(["", "-", "–", "—", ".", "..", "...", "…", ":"])
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


class Dated(NamedTuple):
    """A day, or the first one of a period, and the form that it is written in."""

    day: date
    form: DateForm


def dated(cell: Cell) -> Dated | None:
    """What a cell says of time; None where it says nothing that is read in one way only."""
    if isinstance(cell, bool) or not isinstance(cell, str | int):
        return None
    text = cell.strip() if isinstance(cell, str) else str(cell) if cell in YEARS else ""
    if not text or len(text) > _LONGEST_DATE:
        return None
    if (found := _MONTH_OF_YEAR.match(text)) and int(found["year"]) in YEARS:
        return Dated(date(int(found["year"]), int(found["month"]), 1), "month")
    # Of whole days, months and quarters, the forms of all languages are read in English.
    said = [one.readings for one in Reader(text, "en").found() if one.text == text]
    kind, _, value = said[0][0].partition(":") if said and len(said[0]) == 1 else ("", "", "")
    if kind not in _FORMS or (kind == "number" and not _YEAR.match(text)) or int(value[:4]) not in YEARS:
        return None
    year, month, day = [*value.split("-"), "1", "1"][:3]
    first = date(int(year), 3 * int(month[1:]) - 2 if kind == "quarter" else int(month), int(day))
    return Dated(first, _FORMS[kind])


def is_blank(cell: Cell) -> bool:
    """Whether a cell says that there is nothing."""
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or (isinstance(cell, str) and _is_blank_text(cell.strip().casefold()))


def _is_blank_text(text: str) -> bool:
    return text in _BLANKS or text in phrases_of_all("amounts", "blanks")


def is_total(cell: Cell) -> bool:
    """Whether a cell, in place of a date, says that its row is the sum or the mean of the others."""
    return isinstance(cell, str) and cell.strip().rstrip(":").casefold() in words_of_all("tables", "totals")


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
