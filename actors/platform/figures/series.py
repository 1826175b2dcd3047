"""A table as series: what was measured, in which unit, when, and in which cell each value stands.

Called by whoever computes figures from a table. Tables come from outside: a column with a cell that is
neither blank nor readable in one way is no series, and nothing is guessed that a reader of the table could
not see in it. Linear in the cells.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from actors.platform.figures.table_notes import says_forecast, says_part_of_year, says_scale, says_share
from actors.platform.text.lexicon import words_of_all
from actors.platform.text.numbers.cells import Dated, dated, is_blank, is_total, may_be_number, numbers_of
from actors.platform.text.numbers.units import (
    PERCENT,
    POINTS,
    counts_people,
    is_known,
    unit_in_heading,
    unit_in_text,
    unit_of_column,
    unit_of_mark,
)
from models.content.articles import Cell
from models.record import Record
from models.text import one_line, shortened

Frequency = Literal["daily", "weekly", "monthly", "quarterly", "yearly"]

_DATE_NAMES = words_of_all("tables", "dates")
# Parts of a date in columns of their own: no series, and a year beside them is not the whole date.
_PARTS = words_of_all("tables", "parts_of_dates")
_YEAR_NAMES = words_of_all("tables", "years")
_NO_MEASURE = frozenset(["id", "no", "no.", "nr", "nr.", "rank", "lp", "lp.", "#", ""])
_SERIES_NAMES = words_of_all("tables", "series")
# A column of such a name says nothing that the table's name doesn't.
_VALUE_NAMES = words_of_all("tables", "values")
_MOST_NAME = 120


class Point(Record):
    """A value, the first or last day of its period, and the index of the table's row that it stands in."""

    day: date
    value: Decimal
    row: int


class TimeSeries(Record):
    """Values in order of time, one for each day, all of the table's column `column`.

    `unit` is one that `units` knows, or the table's own words; `frequency` is None where days are irregular.
    `partial`: its values are of parts of years, and the name says so. `relative`: its changes may be said in
    percent; those of shares and temperatures may not.
    """

    name: str
    unit: str | None
    frequency: Frequency | None
    points: tuple[Point, ...]
    column: int
    partial: bool = False
    relative: bool = True


def series_in(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    name: str,
    description: str | None = None,
) -> tuple[TimeSeries, ...]:
    """The series of a table, in the order of its columns; none of a table without a column of dates.

    Each numeric column is a series; where a column names several (`series_id`, `symbol`), each of these is.
    Blank cells and rows of totals are left out. A series with a cell that can't be read in one way is none,
    nor is one with two values of one date, or with forecasts among its values.
    """
    heads = [one_line(head) for head in columns]
    plain = [_plain(head) for head in heads]
    days = _date_column(plain, rows)
    if days is None:
        return ()
    when, exact = days
    said = "; ".join([name, description or "", heads[when]])
    read = [dated(_cell(row, when)) for row in rows]
    yearly = all(each is None or each.form == "year" for each in read)
    if says_forecast(said) or (yearly and any(head in _PARTS for n, head in enumerate(plain) if n != when)):
        return ()
    numeric = [
        n
        for n, head in enumerate(plain)
        if n != when and head not in _PARTS | _NO_MEASURE and _mostly_numbers(_cell(row, n) for row in rows)
    ]
    texts = [n for n in range(len(heads)) if n != when and n not in numeric]
    expected = {
        n for n, row in enumerate(rows) if any(says_forecast(str(_cell(row, c) or "")) for c in texts)
    }
    groups = _groups(_naming(plain, texts, rows, read), rows, read)
    if len(groups) == 1 and name.strip():
        groups = {"": next(iter(groups.values()))}
    shared = not any(unit_in_heading(heads[column]) in (PERCENT, POINTS) for column in numeric)
    found = []
    for column in numeric:
        alone = len(numeric) == 1
        cells = [_cell(row, column) for row in rows]
        whole = numbers_of([cell for n, cell in enumerate(cells) if read[n] is not None])
        settled = (
            dict(zip((n for n in range(len(rows)) if read[n]), whole.values, strict=True)) if whole else {}
        )
        for group, members in groups.items():
            words = "; ".join([said, heads[column], group])
            if says_forecast(f"{heads[column]}; {group}") or not expected.isdisjoint(members):
                continue
            own = numbers_of([cells[n] for n in members])
            numbers = [settled[n] for n in members] if whole else own.values if own else []
            mark = whole.mark if whole else own.mark if own else ""
            points = _points(members, numbers, read)
            unit, right = _unit(heads[column], name, description, mark, points, alone=alone, shared=shared)
            frequency = _frequency([one.day for one in points], exact)
            called = _called(name, group, heads[column], alone=alone)
            partial = says_part_of_year(words)
            # What is of a part of a year must be called so, and a part is no year.
            if (
                not points
                or not right
                or (partial and not (says_part_of_year(called) and frequency != "yearly"))
            ):
                continue
            found.append(
                TimeSeries(
                    name=called,
                    unit=unit,
                    frequency=frequency,
                    points=points,
                    column=column,
                    partial=partial,
                    relative=is_known(unit) or not says_share(f"{words}; {unit}"),
                )
            )
    return tuple(found)


def _date_column(plain: list[str], rows: Sequence[Sequence[Cell]]) -> tuple[int, Frequency | None] | None:
    """The column of dates, and the frequency that their form says: `2026-05` is a month.

    All its cells are dates of one form, but for those of totals and of rows without numbers. None where a
    column that is called one of dates is so only in part: another column would have other dates.
    """
    best: tuple[int, int, Frequency | None] | None = None
    numbered = [any(may_be_number(cell) for cell in row) for row in rows]
    for n, head in enumerate(plain):
        cells = [_cell(row, n) for row in rows]
        there = [cell for cell in cells if not is_blank(cell) and not is_total(cell)]
        forms = Counter(found.form for cell in there if (found := dated(cell)) is not None)
        named = head in _DATE_NAMES
        # Whole days tell by themselves that they are dates; years and months may be counts, codes or rates.
        if not named and set(forms) != {"day"}:
            continue
        gaps = any(is_blank(cell) and numbers for cell, numbers in zip(cells, numbered, strict=True))
        if gaps or len(forms) != 1 or forms.total() < len(there):
            if named and any(character.isdigit() for cell in there for character in str(cell)):
                return None
            continue
        (form,) = forms
        if head in _YEAR_NAMES and form != "year":
            return None  # `2011-12` is a fiscal year there, or whatever else
        exact: dict[str, Frequency] = {"month": "monthly", "quarter": "quarterly", "year": "yearly"}
        worth = named + 2 * (form != "year")
        if best is None or worth > best[0]:
            best = worth, n, exact.get(form)
    return None if best is None else best[1:]


def _groups(
    naming: list[int], rows: Sequence[Sequence[Cell]], read: list[Dated | None]
) -> dict[str, list[int]]:
    """The rows that have a date, by what they are of."""
    groups: dict[str, list[int]] = {}
    for n, row in enumerate(rows):
        if read[n] is not None:
            groups.setdefault(", ".join(_said(_cell(row, c)) for c in naming), []).append(n)
    return groups


def _naming(
    plain: list[str],
    texts: list[int],
    rows: Sequence[Sequence[Cell]],
    read: list[Dated | None],
) -> list[int]:
    """The columns that say of which series a row is: those named so, else those that sort the days."""
    if named := [n for n in texts if plain[n] in _SERIES_NAMES]:
        return named
    days = [when.day for when in read if when is not None]
    if len(set(days)) == len(days):
        return [n for n in texts if plain[n] not in _PARTS and _repeats(_cell(row, n) for row in rows)]
    for n in texts:
        pairs = [(when.day, _said(_cell(row, n))) for row, when in zip(rows, read, strict=True) if when]
        if len(set(pairs)) == len(pairs) and 2 * len({text for _, text in pairs}) <= len(pairs):
            return [n]
    return []


def _repeats(cells: Iterable[Cell]) -> bool:
    """Whether a column of texts sorts its rows: it has several, and some of them more than once."""
    there = [cell for cell in cells if not is_blank(cell)]
    return 1 < len(set(there)) < len(there)


def _points(
    members: list[int], numbers: Sequence[Decimal | None], read: list[Dated | None]
) -> tuple[Point, ...]:
    """The values by day; none where a day has two: then rows are of different things, or one is wrong."""
    by_day: dict[date, Point] = {}
    for n, value in zip(members, numbers, strict=False):
        when = read[n]
        if when is None or value is None:
            continue
        if (there := by_day.get(when.day)) is not None and there.value != value:
            return ()
        by_day[when.day] = Point(day=when.day, value=value, row=n)
    return tuple(by_day[day] for day in sorted(by_day))


def _frequency(days: list[date], exact: Frequency | None) -> Frequency | None:
    """How often there is a value, by the gap in the middle of all; months and more only where days fit.

    Days that are neither all the first nor all the last of their months may be anything: they stay days.
    """
    if exact is not None or len(days) < 2:
        return exact
    if all(day.day == 1 for day in days) or all(_last_of_month(day) for day in days):
        months = [12 * day.year + day.month for day in days]
        middle = _middle([later - earlier for earlier, later in pairwise(months)])
        last = 0 if _last_of_month(days[0]) else 1
        if middle == 12 and all(day.month == (1 if last else 12) for day in days):
            return "yearly"
        if middle == 3 and all(day.month % 3 == last for day in days):
            return "quarterly"
        return "monthly" if middle == 1 else None
    middle = _middle([(later - earlier).days for earlier, later in pairwise(days)])
    return "daily" if middle <= 4 else "weekly" if 5 <= middle <= 9 else None


def _last_of_month(day: date) -> bool:
    return (day + timedelta(days=1)).day == 1


def _middle(gaps: list[int]) -> int:
    return sorted(gaps)[len(gaps) // 2]


def _unit(
    head: str,
    name: str,
    description: str | None,
    mark: str,
    points: tuple[Point, ...],
    *,
    alone: bool,
    shared: bool,
) -> tuple[str | None, bool]:
    """As the column says it, else its cells, else the table's description or name; and whether these agree.

    Volumes are not in the prices' unit. Percent holds for all columns that say nothing else (`shared`), but
    not for samples, nor for values that are no shares.
    """
    own, marked = unit_in_heading(head), unit_of_mark(mark)
    if mark == "%":
        return (own, True) if own == POINTS else (PERCENT, own in (None, PERCENT))
    if own:
        return own, not mark or own not in (PERCENT, POINTS)
    of_table = unit_in_text(description or "") or unit_in_heading(name)
    if mark:
        scaled = says_scale("; ".join([head, name, description or ""]))
        money = of_table if alone and of_table not in (PERCENT, POINTS) else None
        return money or (None if scaled else marked), True
    if of_table == PERCENT and not alone:
        shares = shared and not counts_people(head) and all(abs(one.value) <= 100 for one in points)
        return PERCENT if shares else None, True
    return of_table if unit_of_column(head, alone=alone) else None, True


def _called(name: str, group: str, head: str, *, alone: bool) -> str:
    """The table's name, then the row's and the column's where they say more."""
    said = [part for part in (one_line(name), group) if part]
    if not (alone and said and (group or _plain(head) in _VALUE_NAMES or head in name)):
        said.append(head)
    return shortened(", ".join(said), _MOST_NAME)


def _plain(head: str) -> str:
    return head.casefold().strip()


def _cell(row: Sequence[Cell], column: int) -> Cell:
    return row[column] if column < len(row) else None


def _said(cell: Cell) -> str:
    return "" if cell is None else shortened(str(cell), 60)


def _mostly_numbers(cells: Iterable[Cell]) -> bool:
    """Whether at least half of what is not blank may be a number."""
    there = [may_be_number(cell) for cell in cells if not is_blank(cell)]
    return bool(there) and 2 * sum(there) >= len(there)
