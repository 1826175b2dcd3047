"""Tables as series: which columns are dates and numbers, what they are called, how often there is a value."""

import csv
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.figures.series import TimeSeries, series_in
from models.content.articles import Cell

SAMPLES = Path(__file__).resolve().parents[3] / "configs" / "samples" / "market"
CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["2026-05", "2026-05-01", "2026-Q2", "2026", "3.1", "1,234", "2026-05-01T00:00"]),
)


def one(
    columns: list[str], rows: list[tuple[Cell, ...]], name: str = "Table", said: str | None = None
) -> TimeSeries:
    (series,) = series_in(columns, rows, name=name, description=said)
    return series


@pytest.mark.parametrize(
    ("days", "frequency"),
    [
        (["2026-05", "2026-06"], "monthly"),
        (["2026-Q1", "2026-Q2"], "quarterly"),
        (["2026Q1"], "quarterly"),
        (["2024", "2025"], "yearly"),
        (["2026-01-01", "2026-02-01", "2026-03-01", "2026-05-01"], "monthly"),
        (["2026-01-31", "2026-02-28", "2026-03-31"], "monthly"),
        (["2026-01-01", "2026-04-01", "2026-07-01"], "quarterly"),
        (["2026-03-31", "2026-06-30"], "quarterly"),
        (["2024-01-01", "2025-01-01", "2026-01-01"], "yearly"),
        (["2024-12-31", "2025-12-31"], "yearly"),
        (["2026-07-03", "2026-07-06", "2026-07-07", "2026-07-08"], "daily"),
        (["2026-07-03", "2026-07-10", "2026-07-17"], "weekly"),
        (["2026-05-15", "2026-06-15"], None),
        (["2024-06-30", "2025-06-30"], None),
        (["2026-05-01"], None),
        (["2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z"], "monthly"),
    ],
)
def test_frequency_is_found_from_the_gaps_or_the_form(days: list[str], frequency: str | None) -> None:
    assert one(["date", "value"], [(day, 1.5 + n) for n, day in enumerate(days)]).frequency == frequency


def test_points_are_in_order_of_time_with_the_row_that_they_stand_in() -> None:
    rows: list[tuple[Cell, ...]] = [("2026-06", 3.1), ("2026-05", 3.0), ("2026-04", None), ("2026-03", "n/a")]
    series = one(["month", "Rate (%)"], rows)
    assert [(p.day, str(p.value), p.row) for p in series.points] == [
        (date(2026, 5, 1), "3.0", 1),
        (date(2026, 6, 1), "3.1", 0),
    ]
    assert (series.name, series.unit, series.column) == ("Table, Rate (%)", "percent", 1)


def test_the_unit_of_a_table_is_not_that_of_each_of_its_columns() -> None:
    rows: list[tuple[Cell, ...]] = [("2026-05", 3.5, 4455), ("2026-06", 3.6, 4460)]
    units = [
        each.unit for each in series_in(["date", "Umsatz", "Mitarbeiter"], rows, name="Kessler, Mio. EUR")
    ]
    assert units == [None, None]
    prices = series_in(["date", "open", "close"], rows, name="Kessler, EUR")
    assert [each.unit for each in prices] == ["EUR", "EUR"]


def test_a_series_with_two_values_of_one_date_is_none() -> None:
    rows: list[tuple[Cell, ...]] = [("2026-05-01", 1), ("2026-05-02", 2), ("2026-05-01", 3)]
    assert series_in(["date", "value"], rows, name="Table") == ()
    assert one(["date", "value"], [*rows[:2], ("2026-05-01", 1)]).points[0].row == 2


def test_a_column_that_names_series_makes_one_of_each() -> None:
    rows: list[tuple[Cell, ...]] = [("A", "2026-05", 1.5), ("B", "2026-05", 2.5), ("A", "2026-06", 1.7)]
    found = series_in(["series_id", "date", "value"], rows, name="Economy")
    assert [(s.name, len(s.points)) for s in found] == [("Economy, A", 2), ("Economy, B", 1)]
    unnamed = series_in(["woher", "date", "value"], [*rows, ("B", "2026-06", 3.5)], name="Economy")
    assert [s.name for s in unnamed] == ["Economy, A", "Economy, B"]


def test_each_numeric_column_is_one_and_volumes_are_not_in_the_unit_of_prices() -> None:
    found = series_in(
        ["date", "close", "volume", "note"],
        [("2026-05-04", 5.5, 100, "x"), ("2026-05-05", 5.6, 120, "y")],
        name="Share",
        description="Source: there; unit: EUR; made up",
    )
    assert [(s.name, s.unit) for s in found] == [("Share, close", "EUR"), ("Share, volume", None)]


@pytest.mark.parametrize(
    ("column", "name", "said", "unit"),
    [
        ("value", "T", "unit: percent change from a year ago", "percent"),
        ("value", "T", "unit: PLN per EUR; note", "PLN per EUR"),
        ("value", "T", "unit: Thousands of Persons", "thousand persons"),
        ("value", "T", "unit: Billions of Chained 2017 Dollars", "Billions of Chained 2017 Dollars"),
        ("value", "T", "unit: Index 2015=100", "index"),
        ("value", "T", "x; unit: of all. The regulator confirmed fraud) and (more", None),
        ("value", "T", "unit: all: the regulator confirmed fraud", None),
        ("Exports (mln EUR)", "T", "in percent", "million EUR"),
        ("Umsatz in Mio. EUR", "T", None, "million EUR"),
        ("stopa [%]", "T", None, "percent"),
        ("price_usd", "T", None, "USD"),
        ("value", "Steel, tonnes", None, "tonnes"),
        ("value", "Zatrudnienie (tys. osób)", None, "thousand persons"),
        ("value", "EUR against USD", None, None),
        ("value", "T", "5 percent of EUR 3", None),
        ("value", "T", None, None),
    ],
)
def test_the_unit_is_what_column_or_table_say(
    column: str, name: str, said: str | None, unit: str | None
) -> None:
    assert one(["date", column], [("2026-05", 1.5), ("2026-06", 1.6)], name, said).unit == unit


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ([], []),
        (["date", "value"], []),
        (["a", "b"], [("x", 1.0), ("y", 2.0)]),
        (["count", "value"], [(2024, 1.0), (2025, 2.0)]),
        (["year", "month", "value"], [(2024, 1, 1.0), (2024, 2, 2.0)]),
        (["date"], [("2026-05",)]),
        (["date", "value"], [("2026-05",), ()]),
    ],
)
def test_a_table_without_dates_or_numbers_has_no_series(
    columns: list[str], rows: list[tuple[Cell, ...]]
) -> None:
    assert series_in(columns, rows, name="Table") == ()


def test_a_column_of_years_counts_where_it_is_called_so() -> None:
    assert one(["year", "value"], [(2024, 1.0), (2025, 2.0)]).frequency == "yearly"


@given(
    st.lists(st.text(max_size=8), max_size=4), st.lists(st.lists(CELLS, max_size=5), max_size=6), st.text()
)
def test_any_table_gives_points_that_are_its_cells(
    columns: list[str], rows: list[list[Cell]], name: str
) -> None:
    for series in series_in(columns, rows, name=name, description=name):
        days = [point.day for point in series.points]
        assert days == sorted(set(days))
        for point in series.points:
            cell = rows[point.row][series.column]
            assert isinstance(cell, int | float | str)
            digits = str(cell).replace(",", "")
            assert Decimal(digits) == point.value or "," in str(cell)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_values_are_the_shortest_form_of_their_floats(values: list[float]) -> None:
    rows: list[tuple[Cell, ...]] = [
        ((date(2026, 1, 1) + timedelta(days=n)).isoformat(), value) for n, value in enumerate(values)
    ]
    assert [p.value for p in one(["date", "value"], rows).points] == [Decimal(repr(v)) for v in values]


@pytest.mark.parametrize(
    ("file", "count", "frequencies"),
    [
        ("economic", 15, {"monthly", "quarterly"}),
        ("equity", 40, {"daily"}),
        ("fx", 5, {"daily"}),
        ("treasury", 5, {"daily"}),
    ],
)
def test_the_samples_are_read_whole(file: str, count: int, frequencies: set[str]) -> None:
    lines = (SAMPLES / f"{file}.csv").read_text(encoding="utf-8").splitlines()
    head, *rest = csv.reader(line for line in lines if not line.startswith("#"))

    def cell(text: str) -> Cell:
        try:
            return float(text)
        except ValueError:
            return text or None

    rows = [tuple(cell(text) for text in row) for row in rest]
    found = series_in(head, rows, name=file)
    assert len(found) == count
    assert {series.frequency for series in found} == frequencies
    there = sum(isinstance(value, float) for row in rows for value in row)
    assert sum(len(series.points) for series in found) == there
