"""Amounts and days are the same however they are written, and what is not whole is neither."""

import pytest

from actors.platform.text.numbers.amounts import amounts
from actors.platform.text.numbers.dates import days


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("$4,300.00", "4300 USD"),
        ("4.300,00 €", "4300 EUR"),
        ("4 300,00 zł", "4300 PLN"),
        ("PLN 4300", "4300 PLN"),
        ("1,234 EUR", "1234 EUR"),
        ("$4.3k", "4300 USD"),
        ("1,2 Mio. €", "1200000 EUR"),
        ("2 tys. zł", "2000 PLN"),
        ("CHF 1'200.50", "1200.5 CHF"),
        ("-$50.00", "-50 USD"),
        ("99 dollars", "99 USD"),
        ("4,300.00", "4300"),
        ("version 2.10", None),
        ("at 10.30 Uhr", None),
        ("up 3.50%", None),
        ("in 2026", None),
        ("192.168.10.25", None),
        ("about 5 m", None),
        ("$1.2 bn", "1200000000 USD"),
        ("2 mld zł", "2000000000 PLN"),
        ("5 hundred euros", None),
    ],
)
def test_amounts(text: str, normal: str | None) -> None:
    assert [found[2] for found in amounts(text)] == ([normal] if normal else [])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2026-06-30", "30.06.2026", True),
        ("June 30th, 2026", "30 czerwca 2026", True),
        ("30. Juni 2026", "06/30/2026", True),
        ("03/04/2026", "03/04/2026", True),
        ("03/04/2026", "2026-04-03", False),
        ("03/04/2026", "2026-03-04", False),
        ("13/04/2026", "2026-04-13", True),
        ("Jun 3, 2026", "2026-06-03T10:00:00Z", True),
        ("2026/06/30", "30-06-2026", True),
        ("31.02.2026", "2026-02-28", False),
    ],
)
def test_days(one: str, other: str, same: bool) -> None:
    found = [{normal for *_, normal in days(text)} for text in (one, other)]
    assert bool(found[0] & found[1]) == same


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("due 17 june 2026 at noon", ["17 june 2026"]),
        ("2026-06-03T10:00:00Z", ["2026-06-03"]),
        ("17 and 18 June 2026", ["18 June 2026"]),
        ("INV-2026-06-30", []),
        ("2026-06-30-4711", []),
        ("files/2026-06-30", []),
        ("17 June", []),
        ("31.02.2026", []),
        ("1 June 1066", []),
    ],
)
def test_a_day_is_whole_and_stands_alone(text: str, said: list[str]) -> None:
    assert [text[start:end] for start, end, _ in days(text)] == said
