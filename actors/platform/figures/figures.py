"""Figures that code computes from a series, each with the cells that it was computed from.

Called by whoever writes of tables; `figure_sentences` says a figure in words. No model has a part in it, and
so a figure is right or the table is wrong. Pure; linear in the points.
"""

from bisect import bisect_right
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Literal

from actors.platform.figures.series import Frequency, Point, TimeSeries
from actors.platform.text.numbers.units import PERCENT, POINTS, change_unit
from models.record import Record

FigureKind = Literal["latest", "change_period", "change_year", "highest", "lowest", "average"]

# Sums of many values are exact to this many digits.
_DIGITS = 80
# Data may have this many decimals, or as many as three digits of their smallest value take.
_MOST_DECIMALS, _MOST_OF_SMALL = 4, 12
# Values that are all smaller have no digits that are shown.
_SMALLEST = Decimal("1e-12")
# The decimals that a computed share or average may have beyond those of the data.
_MOST_COMPUTED = 2
# How far before the same day a year ago a value of daily or weekly data may lie.
_NEAR = timedelta(days=7)


class CellRef(Record):
    """A cell of a table, as the indexes of its row and its column."""

    row: int
    column: int


class Figure(Record):
    """A figure of a series: `value` in `unit`, a decimal number as text.

    `day` is of the value itself, of an average the last one that it counts. A change is `level` on `day` less
    `base` on `since`; `relative` is the same in percent of the base, where that means something. Of the
    highest, the lowest and the average `since` and `until` are the span, and `repeated` says that an extreme
    was there more than once: then `day` is the last time. `cells` are those that it was computed from.
    """

    kind: FigureKind
    series: str
    value: str
    unit: str | None
    frequency: Frequency | None
    day: date
    since: date | None = None
    until: date | None = None
    level: str | None = None
    base: str | None = None
    level_unit: str | None = None
    relative: str | None = None
    repeated: bool = False
    cells: tuple[CellRef, ...]


def figures(series: TimeSeries) -> tuple[Figure, ...]:
    """What can be said of a series: the latest value, its changes, the extremes and the average.

    Rounded half up, away from zero: values and their differences to the decimals of the data, changes in
    percent to one more but at most two, averages likewise but never to fewer than the data have. There is no
    figure of what is not there: no change in percent of a base that isn't positive, none since a year ago
    without a value of then, no extremes where all values are the same, and no average of a single one or
    where some are missing. Of a series of parts of years there is only the latest value.
    """
    points = series.points
    if not points or 0 < max(abs(point.value) for point in points) < _SMALLEST:
        return ()
    with localcontext() as context:
        context.prec = _DIGITS
        context.rounding = ROUND_HALF_UP
        return _Figures(series).all()


class _Figures:
    """The figures of one series that has points."""

    def __init__(self, series: TimeSeries) -> None:
        self._series = series
        self._points = series.points
        self._decimals = _decimals(series.points)
        self._computed = min(self._decimals + 1, _MOST_COMPUTED)

    def all(self) -> tuple[Figure, ...]:
        """All that there are, the latest value first."""
        latest = self._points[-1]
        found = [self._figure("latest", self._text(latest.value), latest.day, (latest,))]
        if self._series.partial:
            return tuple(found)
        before = self._points[-2] if len(self._points) > 1 else None
        year_ago = self._year_ago()
        if before is not None:
            found.append(self._change("change_period", before))
        if year_ago is not None and year_ago is not before:
            found.append(self._change("change_year", year_ago))
        return (*found, *self._extremes(), *self._average())

    def _year_ago(self) -> Point | None:
        """The value of the same period a year before; of days the last one up to that day, within a week."""
        latest = self._points[-1].day
        if latest.year == 1:
            return None
        leap = (latest.month, latest.day) == (2, 29)
        then = latest.replace(year=latest.year - 1, day=28 if leap else latest.day)
        place = bisect_right(self._points, self._end(then), key=lambda one: one.day)
        if not place:
            return None
        found = self._points[place - 1]
        if self._series.frequency in ("monthly", "quarterly", "yearly"):
            return found if (found.day.year, found.day.month) == (then.year, then.month) else None
        return found if then - found.day <= _NEAR else None

    def _end(self, day: date) -> date:
        """The last day that is of the same period: months may be dated with their first or last day."""
        months = self._series.frequency in ("monthly", "quarterly", "yearly")
        return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1) if months else day

    def _change(self, kind: FigureKind, base: Point) -> Figure:
        latest, unit = self._points[-1], self._series.unit
        change = latest.value - base.value
        relative = None
        if self._series.relative and unit not in (PERCENT, POINTS) and base.value > 0 and latest.value >= 0:
            share = _rounded(100 * change / base.value, self._computed)
            relative = share if Decimal(share) else None
        return self._figure(
            kind,
            self._text(change),
            latest.day,
            (latest, base),
            unit=change_unit(unit),
            since=base.day,
            level=self._text(latest.value),
            base=self._text(base.value),
            level_unit=unit,
            relative=relative,
        )

    def _extremes(self) -> list[Figure]:
        values = [point.value for point in self._points]
        if min(values) == max(values):
            return []
        found = []
        kinds: tuple[tuple[FigureKind, Decimal], ...] = (("highest", max(values)), ("lowest", min(values)))
        for kind, value in kinds:
            there = [point for point in self._points if point.value == value]
            text, last = self._text(value), there[-1]
            found.append(self._figure(kind, text, last.day, (last,), **self._span(), repeated=len(there) > 1))
        return found

    def _average(self) -> list[Figure]:
        if len(self._points) < 2 or not self._regular():
            return []
        mean = sum(point.value for point in self._points) / Decimal(len(self._points))
        text = _rounded(mean, max(self._decimals, self._computed))
        return [self._figure("average", text, self._points[-1].day, self._points, **self._span())]

    def _regular(self) -> bool:
        """Whether there is a value of each period of the span: else their mean isn't that of the span."""
        if self._series.frequency is None or self._series.frequency in ("daily", "weekly"):
            return self._series.frequency is not None
        months = {"monthly": 1, "quarterly": 3, "yearly": 12}[self._series.frequency]
        first, last = self._points[0].day, self._points[-1].day
        return 12 * (last.year - first.year) + last.month - first.month == months * (len(self._points) - 1)

    def _span(self) -> dict[str, date]:
        return {"since": self._points[0].day, "until": self._points[-1].day}

    def _figure(
        self, kind: FigureKind, value: str, day: date, points: tuple[Point, ...], **more: object
    ) -> Figure:
        cells = tuple(CellRef(row=point.row, column=self._series.column) for point in points)
        told = {"unit": self._series.unit, "frequency": self._series.frequency, **more}
        return Figure.model_validate(
            {"kind": kind, "series": self._series.name, "value": value, "day": day, "cells": cells, **told}
        )

    def _text(self, value: Decimal) -> str:
        return _rounded(value, self._decimals)


def _decimals(points: tuple[Point, ...]) -> int:
    """The decimals of the data. Floats may bring many that mean nothing: then fewer."""
    most = max(_places(point.value) for point in points)
    there = [point.value.adjusted() for point in points if point.value]
    enough = max(_MOST_DECIMALS, 2 - min(there, default=0))
    return min(most, enough, _MOST_OF_SMALL)


def _places(value: Decimal) -> int:
    """The decimals of a value, without zeros at its end: of 7300000.0 none."""
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _rounded(value: Decimal, decimals: int) -> str:
    """Half up, away from zero, as plain digits, and never `-0`."""
    rounded = value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    return f"{rounded or abs(rounded):f}"
