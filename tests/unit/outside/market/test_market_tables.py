"""Tables of market data: spans, cells, and what a table keeps and says."""

import json
import math
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.market.exchange import cross_rates, needed
from actors.systems.market.tables import (
    MOST_ROWS,
    Readings,
    Span,
    checked_span,
    make_table,
    read_day,
    read_number,
)
from models.content.articles import Cell
from models.content.outside import DataTable
from models.errors import InputInvalid

TODAY = date(2026, 9, 30)


def table(rows: dict[date, tuple[Cell, ...]], span: Span = Span(), **more: int) -> DataTable:  # noqa: B008
    return make_table(
        kind="fx",
        source="ecb_fx",
        series_id="EUR/USD",
        title="t",
        unit=None,
        columns=("rate",),
        rows=rows,
        span=span,
        today=TODAY,
        **more,
    )


def test_an_open_span_is_a_year_or_ten_years_of_economic_series() -> None:
    assert Span().filled("equity", TODAY) == (date(2025, 9, 29), TODAY)
    assert Span().filled("economic", TODAY)[0] == date(2016, 9, 29)
    assert Span(end=date(2020, 1, 1)).filled("fx", TODAY) == (date(2018, 12, 31), date(2020, 1, 1))
    assert Span(end=date(2999, 1, 1)).filled("fx", TODAY)[1] == date(2026, 10, 1)
    assert Span(start=date(1, 1, 1)).filled("fx", TODAY)[0] == date(1900, 1, 1)


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (date(2026, 10, 2), None, "start: 2026-10-02 lies in the future (today is 2026-09-30)"),
        (date(2026, 2, 1), date(2026, 1, 1), "end: 2026-01-01 is before start 2026-02-01"),
        (None, date(1, 1, 1), "end: 0001-01-01 is before 1900-01-01"),
    ],
)
def test_an_impossible_span_is_refused_by_field(start: date | None, end: date | None, told: str) -> None:
    with pytest.raises(InputInvalid) as error:
        checked_span(start, end, TODAY)
    assert str(error.value).startswith(told)


def test_tomorrow_is_no_future_because_it_may_be_tomorrow_there() -> None:
    assert checked_span(TODAY + timedelta(days=1), None, TODAY).start == date(2026, 10, 1)


@pytest.mark.parametrize(
    "text", ["2026-5-1", "01/02/2026", "20260501", "2026-02-30", "", 20260501, None, "٢٠٢٦-05-01"]
)
def test_a_day_is_written_in_one_way(text: object) -> None:
    with pytest.raises(ValueError, match=r"YYYY-MM-DD|month|day"):
        read_day(text)


@pytest.mark.parametrize(
    ("raw", "number"),
    [
        ("3.5", 3.5),
        (" -1 ", -1.0),
        ("1e3", 1000.0),
        (7, 7),
        (None, None),
        (".", None),
        ("N/A", None),
        ("", None),
        ("NaN", None),
        (math.nan, None),
        (math.inf, None),
        ("1e999", None),
        (10**400, None),
        (".5", 0.5),
    ],
)
def test_cells_are_numbers_or_missing(raw: object, number: float | None) -> None:
    assert read_number(raw) == number


@pytest.mark.parametrize("raw", ["1_000", "1,5", "0x10", "<b>", True, [1], {"a": 1}, "١٢", "9" * 100])
def test_what_is_no_number_is_refused(raw: object) -> None:
    with pytest.raises(ValueError, match="not a number"):
        read_number(raw)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(JSON)
def test_whatever_a_provider_sends_a_cell_can_be_stored_or_is_refused(raw: object) -> None:
    try:
        number = read_number(raw)
    except ValueError:
        return
    json.dumps(number, allow_nan=False)


def test_a_table_is_in_order_its_days_are_single_and_unreadable_rows_are_counted() -> None:
    readings = Readings()
    for day, value in [("2026-09-03", "3"), ("2026-09-01", "1"), ("2026-09-03", "4"), ("nonsense", "5")]:
        readings.add(day, [value])
    readings.add("2026-09-02", ["<html>"])
    made = table(readings.rows, unreadable=readings.unreadable)
    assert made.rows == (("2026-09-01", 1.0), ("2026-09-03", 4.0))
    assert made.note == "2 rows could not be read and are left out"


def test_the_newest_rows_are_kept_and_the_note_says_so() -> None:
    days = [TODAY - timedelta(days=back) for back in range(MOST_ROWS + 5)]
    made = table({day: (1.0,) for day in days}, Span(start=min(days)))
    assert len(made.rows) == MOST_ROWS
    assert made.rows[-1][0] == "2026-09-30"
    assert made.note == "the newest 2000 of 2005 rows"


def test_a_series_that_has_ended_is_told() -> None:
    rows: dict[date, tuple[Cell, ...]] = {date(2023, 1, 1): (6.7,)}
    assert table(rows, Span(start=date(2020, 1, 1))).note == "the newest value is of 2023-01-01"
    assert table(rows, Span(start=date(2020, 1, 1), end=date(2023, 6, 1))).note is None


@pytest.mark.parametrize("rows", [{}, {date(2026, 9, 1): (None,)}])
def test_no_value_at_all_is_an_error_that_names_the_days(rows: dict[date, tuple[Cell, ...]]) -> None:
    with pytest.raises(InputInvalid, match=r"start, end: ecb_fx has no values of EUR/USD from 2026-09-01 to"):
        table(rows, Span(date(2026, 9, 1), date(2026, 9, 2)))


def test_pairs_without_the_euro_are_computed_where_both_have_a_value() -> None:
    first, second, third = date(2026, 9, 1), date(2026, 9, 2), date(2026, 9, 3)
    rates = {"USD": {first: 1.1, second: None, third: 1.2}, "PLN": {first: 4.4, second: 4.3}}
    assert cross_rates("USD", "PLN", rates) == {first: (4.0,)}
    assert cross_rates("EUR", "PLN", rates) == {first: (4.4,), second: (4.3,)}
    assert cross_rates("PLN", "EUR", rates) == {first: (0.227273,), second: (0.232558,)}
    assert cross_rates("USD", "EUR", {"USD": {first: 0.0}}) == {}
    with pytest.raises(InputInvalid, match="quote: ecb_fx has no TRY; it has EUR, USD"):
        needed("EUR", "TRY", ["USD"], "ecb_fx")
