"""Figures are what their cells say: computed again here, by other means."""

import statistics
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.figures.figures import Figure, figures
from actors.platform.figures.series import Frequency, Point, TimeSeries

TENTHS = st.integers(-500, 500).map(lambda n: Decimal(n) / 10)


def series(
    values: Sequence[Decimal | str | int],
    *,
    unit: str | None = "percent",
    frequency: Frequency | None = "monthly",
    days: Sequence[date] | None = None,
) -> TimeSeries:
    months = [date(2020 + n // 12, n % 12 + 1, 1) for n in range(len(values))]
    points = tuple(
        Point(day=day, value=Decimal(value), row=n + 7)
        for n, (day, value) in enumerate(zip(days or months, values, strict=True))
    )
    return TimeSeries(name="S", unit=unit, frequency=frequency, points=points, column=2)


def by_kind(one: TimeSeries) -> dict[str, Figure]:
    found = figures(one)
    assert len({figure.kind for figure in found}) == len(found)
    return {figure.kind: figure for figure in found}


def near(text: str, exact: Fraction, decimals: int) -> bool:
    """Whether it is that number rounded: no other with as many decimals is nearer."""
    places = len(text.partition(".")[2])
    return places == decimals and abs(Fraction(text) - exact) <= Fraction(1, 2 * 10**decimals)


@given(st.lists(TENTHS, min_size=1, max_size=40))
def test_figures_are_what_their_cells_say(values: list[Decimal]) -> None:
    found = by_kind(series(values))
    decimals = 1 if any(value % 1 for value in values) else 0
    assert Decimal(found["latest"].value) == values[-1]
    assert [(c.row, c.column) for c in found["latest"].cells] == [(len(values) + 6, 2)]
    if len(values) > 1:
        change = found["change_period"]
        assert Decimal(change.value) == values[-1] - values[-2]
        assert change.unit == "percentage points"
        assert change.relative is None
        assert [cell.row - 7 for cell in change.cells] == [len(values) - 1, len(values) - 2]
        mean = Fraction(statistics.mean(map(Fraction, values)))
        assert near(found["average"].value, mean, decimals + 1)
    if len(values) > 12:
        assert Decimal(found["change_year"].value) == values[-1] - values[-13]
    else:
        assert "change_year" not in found
    if len(set(values)) > 1:
        for kind, extreme in (("highest", max(values)), ("lowest", min(values))):
            assert Decimal(found[kind].value) == extreme
            last = max(n for n, value in enumerate(values) if value == extreme)
            assert [cell.row - 7 for cell in found[kind].cells] == [last]
            assert found[kind].repeated == (values.count(extreme) > 1)
    else:
        assert not {"highest", "lowest"} & found.keys()
    assert not any(text.startswith("-") and not Decimal(text) for text in (f.value for f in found.values()))


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=20))
def test_changes_of_what_is_not_in_percent_are_in_percent_as_well(values: list[int]) -> None:
    change = by_kind(series(values, unit="EUR"))["change_period"]
    exact = Fraction(100 * (values[-1] - values[-2]), values[-2])
    assert change.unit == "EUR"
    if change.relative is None:
        assert abs(exact) <= Fraction(1, 20)
    else:
        assert near(change.relative, exact, 1)


@pytest.mark.parametrize(("before", "now"), [("0", "1"), ("-2", "1"), ("2", "-1"), ("-2", "-3")])
def test_there_is_no_change_in_percent_of_what_is_not_positive(before: str, now: str) -> None:
    assert by_kind(series([before, now], unit="EUR"))["change_period"].relative is None


def test_floats_that_are_not_exact_do_not_show() -> None:
    assert by_kind(series(["3.0", "3.1"]))["change_period"].value == "0.1"
    assert by_kind(series(["201.1199951171875", "201.3"]))["latest"].value == "201.3000"
    assert by_kind(series(["0.00012345678", "0.2"]))["lowest"].value == "0.000123"


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        (["0.1", "0.2", "0.2"], "0.17"),
        ([1, 2], "1.5"),
        (["1.25", "1.26"], "1.26"),
        (["3.12", "3.13"], "3.13"),
        (["-3.12", "-3.13"], "-3.13"),
        (["-0.01", "0.01"], "0.00"),
    ],
)
def test_averages_are_rounded_half_up_to_one_decimal_more_and_at_most_two(
    values: list[str | int], mean: str
) -> None:
    assert by_kind(series(values))["average"].value == mean


def test_there_is_no_average_of_days_without_an_order_nor_where_a_period_is_missing() -> None:
    months = [date(2024, 1, 1), date(2024, 2, 1), date(2024, 4, 1)]
    assert "average" not in by_kind(series([1, 2, 4], days=months))
    assert "average" not in by_kind(series([1, 2, 4], frequency=None))
    quarters = [date(2024, 3, 31), date(2024, 6, 30), date(2024, 9, 30)]
    assert "average" in by_kind(series([1, 2, 4], frequency="quarterly", days=quarters))
    assert "average" in by_kind(series([1, 2, 4], frequency="daily"))


def test_of_parts_of_years_there_is_only_the_latest_value_and_of_shares_no_change_in_percent() -> None:
    one = series([1, 2, 4], unit=None)
    assert [figure.kind for figure in figures(one.model_copy(update={"partial": True}))] == ["latest"]
    assert by_kind(one)["change_period"].relative == "100.0"
    assert by_kind(one.model_copy(update={"relative": False}))["change_period"].relative is None


def test_averages_have_no_fewer_decimals_than_the_data() -> None:
    assert by_kind(series(["4.291", "4.293"]))["average"].value == "4.292"


@pytest.mark.parametrize(
    ("back", "there"), [(365, True), (366, True), (372, True), (373, False), (364, False)]
)
def test_of_days_a_year_ago_is_the_last_one_within_a_week_before(back: int, there: bool) -> None:
    last = date(2026, 6, 19)
    days = [last - timedelta(days=back), last - timedelta(days=1), last]
    assert ("change_year" in by_kind(series([1, 2, 4], frequency="daily", days=days))) == there


def test_of_months_and_quarters_a_year_ago_is_the_same_one() -> None:
    ends = [date(2025, 2, 28), date(2026, 1, 31), date(2026, 2, 28)]
    assert by_kind(series([1, 2, 4], days=ends))["change_year"].since == ends[0]
    leap = [date(2023, 2, 28), date(2024, 1, 31), date(2024, 2, 29)]
    assert by_kind(series([1, 2, 4], days=leap))["change_year"].since == leap[0]
    assert by_kind(series([1, 2, 4], days=[date(2027, 2, 28), date(2028, 1, 31), date(2028, 2, 29)]))
    back = [date(2024, 2, 29), date(2025, 1, 31), date(2025, 2, 28)]
    assert by_kind(series([1, 2, 4], days=back))["change_year"].since == back[0]
    other = [date(2025, 1, 1), date(2026, 1, 1), date(2026, 2, 1)]
    assert "change_year" not in by_kind(series([1, 2, 4], days=other))


def test_of_years_the_year_before_is_told_once() -> None:
    years = [date(2024, 1, 1), date(2025, 1, 1)]
    found = by_kind(series([1, 2], frequency="yearly", days=years))
    assert "change_period" in found
    assert "change_year" not in found


def test_a_series_without_points_has_no_figures() -> None:
    assert figures(series([])) == ()


@given(st.lists(st.decimals(-(10**17), 10**17, places=12), min_size=1, max_size=5))
def test_the_largest_values_with_many_decimals_are_no_trouble(values: list[Decimal]) -> None:
    assert figures(series(values, unit=None))
