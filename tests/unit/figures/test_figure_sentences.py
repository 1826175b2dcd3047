"""Figures in words: the sentences of three languages, and that each says its figure and nothing else."""

import re
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.figures.figure_sentences import figure_sentence, template_words
from actors.platform.figures.figures import Figure, figures
from actors.platform.figures.series import Frequency, Point, TimeSeries
from actors.platform.text.language import Language
from actors.platform.text.numbers.number_readings import numbers_in
from actors.platform.text.numbers.units import unit_words
from actors.platform.text.numbers.unsupported_numbers import unsupported_numbers
from actors.platform.text.quotation_marks import quoted

LANGUAGES: tuple[Language, ...] = ("en", "pl", "de")
UNITS = (
    *(None, "percent", "percentage points", "index", "persons", "tonnes", "EUR", "PLN per EUR"),
    *("thousand persons", "million EUR", "billion", "million tonnes"),
)
SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
FREQUENCIES: tuple[Frequency | None, ...] = ("daily", "weekly", "monthly", "quarterly", "yearly", None)
STARTS = {"monthly": 1, "quarterly": 3, "yearly": 12}


def series(values: list[str], unit: str | None, frequency: Frequency | None, year: int = 2024) -> TimeSeries:
    step = STARTS.get(frequency or "", 0)
    days = [
        date(year + n * step // 12, n * step % 12 + 1, 1) if step else date(year, 6, 17) + timedelta(days=n)
        for n in range(len(values))
    ]
    points = tuple(
        Point(day=day, value=Decimal(v), row=n) for n, (day, v) in enumerate(zip(days, values, strict=True))
    )
    return TimeSeries(name="S", unit=unit, frequency=frequency, points=points, column=1)


def told(kind: str, one: TimeSeries, name: str = "N") -> list[str]:
    (figure,) = (figure for figure in figures(one) if figure.kind == kind)
    return [figure_sentence(figure, language, name=name).replace("\u00a0", " ") for language in LANGUAGES]


RATES = ["2.8", "2.9", "3.3", "3.0", "3.0", "3.1", "3.2", "3.0", "3.3", "3.1", "3.1", "3.0", "3.1"]


@pytest.mark.parametrize(
    ("kind", "sentences"),
    [
        (
            "latest",
            [
                "“N”: 3.1 percent in January 2025.",
                "„N”: 3,1 proc. w styczniu 2025 r.",
                "„N“: 3,1 Prozent im Januar 2025.",
            ],
        ),
        (
            "change_period",
            [
                "“N”: 3.1 percent in January 2025, up 0.1 percentage points from 3.0 percent "
                "in December 2024.",
                "„N”: 3,1 proc. w styczniu 2025 r., o 0,1 pkt proc. więcej niż w grudniu 2024 r. "
                "(3,0 proc.).",
                "„N“: 3,1 Prozent im Januar 2025, 0,1 Prozentpunkte mehr als im Dezember 2024 (3,0 Prozent).",
            ],
        ),
        (
            "change_year",
            [
                "“N”: 3.1 percent in January 2025, up 0.3 percentage points from 2.8 percent a year earlier, "
                "in January 2024.",
                "„N”: 3,1 proc. w styczniu 2025 r., o 0,3 pkt proc. więcej niż rok wcześniej, "
                "w styczniu 2024 r. (2,8 proc.).",
                "„N“: 3,1 Prozent im Januar 2025, 0,3 Prozentpunkte mehr als ein Jahr zuvor, "
                "im Januar 2024 (2,8 Prozent).",
            ],
        ),
        (
            "highest",
            [
                "“N”: the highest value from January 2024 to January 2025 was 3.3 percent, "
                "most recently in September 2024.",
                "„N”: najwyższa wartość w okresie od stycznia 2024 r. do stycznia 2025 r. to 3,3 proc. "
                "(ostatnio we wrześniu 2024 r.).",
                "„N“: zuletzt im September 2024 mit 3,3 Prozent der höchste Wert "
                "von Januar 2024 bis Januar 2025.",
            ],
        ),
        (
            "lowest",
            [
                "“N”: the lowest value from January 2024 to January 2025 was 2.8 percent, in January 2024.",
                "„N”: najniższa wartość w okresie od stycznia 2024 r. do stycznia 2025 r. to 2,8 proc. "
                "(w styczniu 2024 r.).",
                "„N“: im Januar 2024 mit 2,8 Prozent der niedrigste Wert von Januar 2024 bis Januar 2025.",
            ],
        ),
        (
            "average",
            [
                "“N”: 3.07 percent on average from January 2024 to January 2025.",
                "„N”: średnio 3,07 proc. w okresie od stycznia 2024 r. do stycznia 2025 r.",
                "„N“: im Durchschnitt 3,07 Prozent von Januar 2024 bis Januar 2025.",
            ],
        ),
    ],
)
def test_each_kind_has_its_sentence(kind: str, sentences: list[str]) -> None:
    assert told(kind, series(RATES, "percent", "monthly")) == sentences


@pytest.mark.parametrize(
    ("values", "unit", "frequency", "sentences"),
    [
        (
            ["3.0", "3.0"],
            "percent",
            "quarterly",
            [
                "“N”: 3 percent in the second quarter of 2024, the same as in the first quarter of 2024.",
                "„N”: 3 proc. w drugim kwartale 2024 r., tyle samo co w pierwszym kwartale 2024 r.",
                "„N“: 3 Prozent im zweiten Quartal 2024, ebenso viel wie im ersten Quartal 2024.",
            ],
        ),
        (
            ["1234.5", "1200"],
            "EUR",
            "daily",
            [
                "“N”: 1,200.0 EUR on 18 June 2024, down 34.5 EUR (2.79 percent) from 1,234.5 EUR "
                "on 17 June 2024.",
                "„N”: 1 200,0 EUR 18 czerwca 2024 r., o 34,5 EUR (2,79 proc.) mniej niż 17 czerwca 2024 r. "
                "(1 234,5 EUR).",
                "„N“: 1.200,0 EUR am 18. Juni 2024, 34,5 EUR (2,79 Prozent) weniger als am 17. Juni 2024 "
                "(1.234,5 EUR).",
            ],
        ),
        (
            ["4", "5"],
            "thousand persons",
            "yearly",
            [
                "“N”: 5 thousand people in 2025, up 1 thousand people (25.0 percent) from 4 thousand people "
                "in 2024.",
                "„N”: 5 tys. osób w 2025 r., o 1 tys. osób (25,0 proc.) więcej niż w 2024 r. (4 tys. osób).",
                "„N“: 5 Tsd. Personen im Jahr 2025, 1 Tsd. Personen (25,0 Prozent) mehr als im Jahr 2024 "
                "(4 Tsd. Personen).",
            ],
        ),
        (
            ["1", "2"],
            "persons",
            "yearly",
            [
                "“N”: 2 people in 2025, up 1 person (100.0 percent) from 1 person in 2024.",
                "„N”: 2 osoby w 2025 r., o 1 osobę (100,0 proc.) więcej niż w 2024 r. (1 osoba).",
                "„N“: 2 Personen im Jahr 2025, 1 Person (100,0 Prozent) mehr als im Jahr 2024 (1 Person).",
            ],
        ),
        (
            ["-0.3", "0.7"],
            "percent",
            "yearly",
            [
                "“N”: 0.7 percent in 2025, up 1.0 percentage points from −0.3 percent in 2024.",
                "„N”: 0,7 proc. w 2025 r., o 1,0 pkt proc. więcej niż w 2024 r. (−0,3 proc.).",
                "„N“: 0,7 Prozent im Jahr 2025, 1,0 Prozentpunkte mehr als im Jahr 2024 (−0,3 Prozent).",
            ],
        ),
        (
            ["4.291", "4.312"],
            "PLN per EUR",
            None,
            [
                "“N”: 4.312 PLN per EUR on 18 June 2024, up 0.021 PLN (0.49 percent) from 4.291 PLN "
                "on 17 June 2024.",
                "„N”: 4,312 PLN za EUR 18 czerwca 2024 r., o 0,021 PLN (0,49 proc.) więcej niż "
                "17 czerwca 2024 r. (4,291 PLN).",
                "„N“: 4,312 PLN je EUR am 18. Juni 2024, 0,021 PLN (0,49 Prozent) mehr als am 17. Juni 2024 "
                "(4,291 PLN).",
            ],
        ),
        (
            ["120", "121"],
            "Billions of Chained Dollars",
            "yearly",
            [
                "“N”: 121 (“Billions of Chained Dollars”) in 2025, up 1 (0.8 percent) from 120 in 2024.",
                "„N”: 121 („Billions of Chained Dollars”) w 2025 r., o 1 (0,8 proc.) więcej niż w 2024 r. "
                "(120).",
                "„N“: 121 („Billions of Chained Dollars“) im Jahr 2025, 1 (0,8 Prozent) mehr als im "
                "Jahr 2024 (120).",
            ],
        ),
    ],
)
def test_changes_have_their_units_and_dates(
    values: list[str], unit: str | None, frequency: Frequency | None, sentences: list[str]
) -> None:
    assert told("change_period", series(values, unit, frequency)) == sentences


def test_a_bare_number_does_not_run_into_the_day() -> None:
    assert told("latest", series(["4600000"], None, "daily"))[1] == "„N”: 4 600 000 w dniu 17 czerwca 2024 r."


def test_points_are_in_the_dative_behind_the_german_mit() -> None:
    assert told("highest", series(["120.5", "120.8"], "index", "monthly"))[2] == (
        "„N“: im Februar 2024 mit 120,8 Punkten der höchste Wert von Januar 2024 bis Februar 2024."
    )


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("{value} %s", ["“{value} %s”", "„{value} %s”", "„{value} %s“"]),
        ("Yields: 10Y", ["“Yields: 10Y”", "„Yields: 10Y”", "„Yields: 10Y“"]),
        ('Yields, "long"', ['“Yields, "long"”', '„Yields, "long"”', '„Yields, "long"“']),
        (
            "Yields, 10” and more",
            ["«Yields, 10” and more»", "«Yields, 10” and more»", "»Yields, 10” and more«"],
        ),
        ("Yields, »long«", ["“Yields, »long«”", "„Yields, »long«”", "„Yields, »long«“"]),
        ("„Yields” of «long»", ["“Yields of long”", "„Yields of long”", "„Yields of long“"]),
        ('Yields, 10" and more', ["“Yields, 10 and more”", "„Yields, 10 and more”", "„Yields, 10 and more“"]),
    ],
)
def test_a_name_stands_in_marks_that_it_has_not_itself(name: str, heads: list[str]) -> None:
    one = series(["3.1"], "percent", "monthly")
    assert [sentence.partition(": 3")[0] for sentence in told("latest", one, name)] == heads


DATES = ("day:", "month:", "quarter:")
VALUES = st.lists(st.integers(-99_999, 9_999_999), min_size=1, max_size=14)


@given(
    VALUES,
    st.sampled_from([0, 1, 2]),
    st.sampled_from(UNITS),
    st.sampled_from(FREQUENCIES),
    st.sampled_from(LANGUAGES),
)
def test_a_sentence_is_template_words_and_the_numbers_of_its_figure(
    values: list[int], decimals: int, unit: str | None, frequency: Frequency | None, language: Language
) -> None:
    texts = [f"{Decimal(value).scaleb(-decimals):f}" for value in values]
    for figure in figures(series(texts, unit, frequency)):
        sentence = figure_sentence(figure, language, name="Name")
        head = f"{quoted('Name', language)}: "
        assert sentence.startswith(head)
        words = set(re.findall(r"[^\W\d_]+", sentence.removeprefix(head)))
        assert words <= template_words(language) | {"EUR", "PLN"}
        assert "-0 " not in sentence
        assert sentence.endswith(".")
        assert not sentence.endswith("..")
        found = [set(number.readings) for number in numbers_in(sentence, language)]
        said = _said(figure)
        assert said <= set().union(*found)
        assert all(said & readings or any(r.startswith(DATES) for r in readings) for readings in found)
        others = [figure_sentence(figure, other, name="") for other in LANGUAGES]
        for other in others:
            assert unsupported_numbers(sentence, language, [other], []) == ()


def _said(figure: Figure) -> set[str]:
    """The figure's numbers as they are read: those in units of a thousand or more as whole units."""
    unit = figure.level_unit if figure.level is not None else figure.unit
    said = [(figure.value, unit)]
    if figure.level is not None and figure.base is not None:
        said = [(figure.level, unit)]
        if Decimal(figure.value):
            said += [(figure.base, unit), (figure.value.lstrip("-"), figure.unit)]
            said += [(figure.relative.lstrip("-"), "percent")] if figure.relative else []
    kinds = {"percent": "percent", "percentage points": "points"}
    found = {
        f"{kinds.get(of or '', 'number')}:{_plain(Decimal(value) * SCALES.get((of or '').split(' ')[0], 1))}"
        for value, of in said
    }
    years = [day.year for day in (figure.day, figure.since, figure.until) if day]
    return found | ({f"number:{year}" for year in years} if figure.frequency == "yearly" else set())


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def test_words_of_units_are_template_words() -> None:
    for language in LANGUAGES:
        bare = {word.strip(".") for word in unit_words(language)}
        assert bare <= template_words(language)
