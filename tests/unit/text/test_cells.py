"""What cells say: days and periods in three languages, and numbers; nothing that may be read otherwise."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.numbers.cells import dated, is_blank, is_total, numbers_of
from models.content.articles import Cell


@pytest.mark.parametrize(
    ("cell", "day", "form"),
    [
        ("2026-05-17", date(2026, 5, 17), "day"),
        ("2026-05-17T10:00:00Z", date(2026, 5, 17), "day"),
        ("17.05.2026", date(2026, 5, 17), "day"),
        ("1.6.2024", date(2024, 6, 1), "day"),
        ("17 June 2026", date(2026, 6, 17), "day"),
        ("Jun. 17, 2026", date(2026, 6, 17), "day"),
        ("30 czerwca 2026", date(2026, 6, 30), "day"),
        ("17. Juni 2026", date(2026, 6, 17), "day"),
        ("2026/06/30", date(2026, 6, 30), "day"),
        ("30-06-2026", date(2026, 6, 30), "day"),
        ("13/04/2026", date(2026, 4, 13), "day"),
        ("2026-05", date(2026, 5, 1), "month"),
        ("05/2026", date(2026, 5, 1), "month"),
        ("Jan 2025", date(2025, 1, 1), "month"),
        ("September 2025", date(2025, 9, 1), "month"),
        ("styczeń 2025", date(2025, 1, 1), "month"),
        ("stycznia 2025", date(2025, 1, 1), "month"),
        ("Januar 2025", date(2025, 1, 1), "month"),
        ("Mrz 2025", date(2025, 3, 1), "month"),
        ("Sept. 2025", date(2025, 9, 1), "month"),
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
        "01/0000",
        "17 and 18 June 2026",
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
        ("0.954", "0.954"),
        ("1,204,000", "1204000"),
        ("1.204.000,5", "1204000.5"),
        ("1’204’000", "1204000"),
        ("(3.1)", "-3.1"),
        ("$1,204,000", "1204000"),
        ("-£3.1", "-3.1"),
        ("€ 12,50", "12.50"),
        ("1 204 zł", "1204"),
        (7, "7"),
    ],
)
def test_a_number_is_read(cell: Cell, value: str) -> None:
    found = numbers_of([cell])
    assert found
    assert found.values == (Decimal(value),)


@pytest.mark.parametrize(
    "cell",
    [
        *("1.234", "1,234", "15 01", "£3.1m", "3 to 4", "594.7*", "677 (v)", "<5", "ok. 252", "8-10"),
        *("--3", "$3%", "1,23,4", "1.234 €", "", None, True, float("nan"), float("inf"), 10**40, 1e30),
    ],
)
def test_what_may_be_read_otherwise_is_no_number(cell: Cell) -> None:
    assert numbers_of([cell]) is None


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["954", "1,603", "1,204,000"], ["954", "1603", "1204000"]),
        (["954", "1.603", "12,5"], ["954", "1603", "12.5"]),
        (["1,603", "12,5"], ["1.603", "12.5"]),
        (["1 603", "1,659"], ["1603", "1.659"]),
        (["0,954", "1,603"], ["0.954", "1.603"]),
        (["2.5", None, "–", "3.5"], ["2.5", None, None, "3.5"]),
        ([2.5, "3.5"], ["2.5", "3.5"]),
        (["12.4", "(3.1)"], ["12.4", "-3.1"]),
    ],
)
def test_a_column_settles_how_its_cells_are_read(cells: list[Cell], values: list[str | None]) -> None:
    found = numbers_of(cells)
    assert found
    assert found.values == tuple(None if value is None else Decimal(value) for value in values)


@pytest.mark.parametrize(
    "cells",
    [
        ["954", "1,603", "987", "1,212"],
        ["998", "999", "1.001"],
        ["1.5", "1,5"],
        ["5", "6*"],
        ["5 %", "6"],
        ["$5", "€6"],
        ["-5", "(3.1)"],
        [None, ""],
        [],
    ],
)
def test_a_column_that_leaves_a_cell_open_has_no_numbers(cells: list[Cell]) -> None:
    assert numbers_of(cells) is None


def test_the_sign_of_a_column_is_kept() -> None:
    assert [found.mark for cells in (["5 %", "6%"], ["€5"], ["5"]) if (found := numbers_of(cells))] == [
        "%",
        "€",
        "",
    ]


def test_blanks_and_totals_are_told_from_other_cells() -> None:
    blanks: tuple[Cell, ...] = (None, "", " ", "-", "–", "n/a", ".", "..", ":", float("nan"))
    assert all(is_blank(cell) for cell in blanks)
    assert not any(is_blank(cell) for cell in (0, "0", False, "x"))
    assert all(map(is_total, ("Total", "SUMME", "Razem:", "Ogółem", "Średnio", "Mean")))
    assert not any(map(is_total, ("Total 2024", "2024", None, 2024)))


@given(st.one_of(st.text(max_size=60), st.integers(), st.floats()))
def test_no_cell_is_too_strange(cell: Cell) -> None:
    dated(cell)
    numbers_of([cell])
