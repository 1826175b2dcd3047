"""What cells say: days and periods in three languages, and numbers; nothing that may be read otherwise."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.figures.cells import dated, number_in
from models.content.articles import Cell


@pytest.mark.parametrize(
    ("cell", "day", "form"),
    [
        ("2026-05-17", date(2026, 5, 17), "day"),
        ("2026-05-17T10:00:00Z", date(2026, 5, 17), "day"),
        ("17.05.2026", date(2026, 5, 17), "day"),
        ("1.6.2024", date(2024, 6, 1), "day"),
        ("2026-05", date(2026, 5, 1), "month"),
        ("05/2026", date(2026, 5, 1), "month"),
        ("Jan 2025", date(2025, 1, 1), "month"),
        ("September 2025", date(2025, 9, 1), "month"),
        ("styczeń 2025", date(2025, 1, 1), "month"),
        ("stycznia 2025", date(2025, 1, 1), "month"),
        ("Januar 2025", date(2025, 1, 1), "month"),
        ("März 2025", date(2025, 3, 1), "month"),
        ("2024-Q2", date(2024, 4, 1), "quarter"),
        ("2024 Q2", date(2024, 4, 1), "quarter"),
        ("Q2 2024", date(2024, 4, 1), "quarter"),
        ("II kw. 2024", date(2024, 4, 1), "quarter"),
        ("IV kwartał 2024", date(2024, 10, 1), "quarter"),
        ("2. Quartal 2024", date(2024, 4, 1), "quarter"),
        (2024, date(2024, 1, 1), "year"),
    ],
)
def test_a_date_is_read(cell: Cell, day: date, form: str) -> None:
    assert dated(cell) == (day, form)


@pytest.mark.parametrize(
    "cell",
    [
        "03/04/2026",
        "2023/24",
        "31.02.2026",
        "13/2026",
        "Foo 2025",
        "2026-13",
        "9999",
        "",
        None,
        True,
        17,
        2.5,
    ],
)
def test_what_may_be_read_otherwise_is_no_date(cell: Cell) -> None:
    assert dated(cell) is None


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (3.1, "3.1"),
        ("3.1", "3.1"),
        ("3,1", "3.1"),
        ("3,1 %", "3.1"),
        ("3.1%", "3.1"),
        ("15 012", "15012"),
        ("15\u00a0012,5", "15012.5"),
        ("−0,3", "-0.3"),
        ("1.2345", "1.2345"),
        (7, "7"),
    ],
)
def test_a_number_is_read(cell: Cell, value: str) -> None:
    assert number_in(cell) == Decimal(value)


@pytest.mark.parametrize(
    "cell", ["1.234", "1,234", "15 01", "£3.1m", "3 to 4", "", None, True, float("nan"), 1e30]
)
def test_what_may_be_read_otherwise_is_no_number(cell: Cell) -> None:
    assert number_in(cell) is None


@given(st.one_of(st.text(max_size=60), st.integers(), st.floats()))
def test_no_cell_is_too_strange(cell: Cell) -> None:
    dated(cell)
    number_in(cell)
