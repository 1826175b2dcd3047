"""Tables of market data: the days that are asked for, cells as numbers, and rows as a `DataTable`.

Every provider of market data makes its tables here, so that all are in order of time, without doubled
days, at most `MOST_ROWS` long, and say in their note what was left out.
"""

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from models.content.articles import Cell
from models.content.outside import DataKind, DataTable
from models.errors import InputInvalid, ProviderFailed

MOST_ROWS = 2000
# What a request without `start` goes back. Economic series are monthly or rarer as a rule.
_BACK: dict[DataKind, timedelta] = {"economic": timedelta(days=3653)}
_BACK_DAILY = timedelta(days=366)
_EARLIEST = date(1900, 1, 1)
_STALE = timedelta(days=400)

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z", re.ASCII)
_NUMBER = re.compile(r"[-+]?(\d{1,20}(\.\d{0,20})?|\.\d{1,20})([eE][-+]?\d{1,3})?\Z", re.ASCII)
_MISSING = frozenset(["", ".", "-", "n/a", "na", "nan", "null"])


@dataclass(frozen=True)
class Span:
    """Days, both included. None where the caller left it open."""

    start: date | None = None
    end: date | None = None

    def filled(self, kind: DataKind, today: date) -> tuple[date, date]:
        """First and last day: up to today, and back by a year, or ten years for economic series."""
        end = min(self.end or today, today + timedelta(days=1))
        start = self.start or end - _BACK.get(kind, _BACK_DAILY)
        return max(start, _EARLIEST), end

    def holds(self, day: date) -> bool:
        """Whether a day is asked for."""
        return (self.start is None or self.start <= day) and (self.end is None or day <= self.end)


def checked_span(start: date | None, end: date | None, today: date) -> Span:
    """The span. InputInvalid where it is empty or lies in the future; the message names the field."""
    # It may be tomorrow already where the caller is.
    if start is not None and start > today + timedelta(days=1):
        raise InputInvalid(f"start: {start} lies in the future (today is {today}): give an earlier day")
    if start is not None and end is not None and end < start:
        raise InputInvalid(f"end: {end} is before start {start}: exchange them, or leave one out")
    if end is not None and end < _EARLIEST:
        raise InputInvalid(f"end: {end} is before {_EARLIEST}: give a later day")
    return Span(start, end)


def read_day(text: object) -> date:
    """A day written `YYYY-MM-DD`; ValueError for anything else."""
    if not isinstance(text, str) or not _DAY.match(text):
        raise ValueError("write a day as YYYY-MM-DD, such as 2026-05-31")
    return date.fromisoformat(text)


def read_number(raw: object) -> int | float | None:
    """A cell as a number, None where the value is missing; ValueError for what is neither."""
    if raw is None or isinstance(raw, bool):
        if raw is None:
            return None
        raise ValueError("not a number")
    if isinstance(raw, int | float):
        if isinstance(raw, int):
            return raw if abs(raw) < 2**53 else float(raw) if abs(raw) < 10**300 else None
        return raw if math.isfinite(raw) else None
    if not isinstance(raw, str):
        raise ValueError("not a number")
    text = raw.strip()
    if text.lower() in _MISSING:
        return None
    if not _NUMBER.match(text):
        raise ValueError("not a number")
    value = float(text)
    return value if math.isfinite(value) else None


def read_csv(body: bytes, columns: tuple[str, ...], provider: str) -> list[dict[str, str]]:
    """The rows of a CSV by column, none of an empty body. Cells that a row lacks can't be read as numbers.

    Raises:
        ProviderFailed: it is no CSV, or lacks one of `columns`.
    """
    rows = csv.DictReader(
        body.decode("utf-8-sig", errors="replace").strip().splitlines(), restval="not there"
    )
    try:
        missing = [column for column in columns if column not in (rows.fieldnames or columns)]
        if missing:
            raise ProviderFailed(f"{provider}: the answer is not its CSV: it has no column {missing[0]}")
        return list(rows)
    except csv.Error as error:
        raise ProviderFailed(f"{provider}: the answer is no CSV: {error}") from error


class Readings:
    """Rows by day, as they are read. A day that comes twice keeps its last row."""

    def __init__(self) -> None:
        self.rows: dict[date, tuple[Cell, ...]] = {}
        self.unreadable = 0

    def add(self, day: object, cells: Iterable[object]) -> None:
        """Add a row; one whose day or values can't be read is counted instead."""
        try:
            when = day if isinstance(day, date) else read_day(day)
            self.rows[when] = tuple(read_number(cell) for cell in cells)
        except ValueError:
            self.unreadable += 1

    def within(self, span: Span) -> dict[date, tuple[Cell, ...]]:
        """The rows of a span."""
        return {day: row for day, row in self.rows.items() if span.holds(day)}


def make_table(
    *,
    kind: DataKind,
    source: str,
    series_id: str,
    title: str,
    unit: str | None,
    columns: tuple[str, ...],
    rows: Mapping[date, tuple[Cell, ...]],
    span: Span,
    today: date,
    url: str | None = None,
    notes: Iterable[str] = (),
    unreadable: int = 0,
) -> DataTable:
    """The newest `MOST_ROWS` rows as a table, the oldest first. `columns` are those after the date.

    Raises:
        InputInvalid: there is not one value in the span.
    """
    days = sorted(rows)
    if not any(cell is not None for row in rows.values() for cell in row):
        start, end = span.filled(kind, today)
        raise InputInvalid(
            f"start, end: {source} has no values of {series_id} from {start} to {end}: ask for other days"
        )
    told = [note for note in notes if note]
    if len(days) > MOST_ROWS:
        told.append(f"the newest {MOST_ROWS} of {len(days)} rows")
        days = days[-MOST_ROWS:]
    if unreadable:
        told.append(f"{unreadable} rows could not be read and are left out")
    if span.end is None and today - days[-1] > _STALE:
        told.append(f"the newest value is of {days[-1]}")
    return DataTable(
        kind=kind,
        source=source,
        series_id=series_id,
        title=title,
        unit=unit,
        columns=("date", *columns),
        rows=tuple((day.isoformat(), *rows[day]) for day in days),
        url=url,
        note="; ".join(told) or None,
    )
