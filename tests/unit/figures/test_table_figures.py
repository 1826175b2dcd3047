"""Tables of cells in, sentences out: a figure is right, or it is not said."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.figures.figure_sentences import template_words
from actors.platform.figures.table_figures import table_figures
from actors.platform.text.language import Language
from models.content.articles import Cell

LANGUAGES: tuple[Language, ...] = ("en", "pl", "de")
# A name in marks of one kind that it doesn't have itself.
NAMED = re.compile(r"(?:“[^“”]*”|„[^“”„]*[”“]|«[^«»]*»|»[^«»]*«): ")
YEARS = ("2021", "2022", "2023", "2024")


def said(
    name: str,
    description: str | None,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    language: Language = "en",
) -> list[str]:
    return [
        figure.sentence.replace("\u00a0", " ").replace("\u202f", " ")
        for figure in table_figures(name, description, columns, rows, language)
    ]


def yearly(
    cells: Sequence[Cell],
    name: str = "T",
    description: str | None = None,
    head: str = "Value",
    language: Language = "en",
) -> list[str]:
    rows = list(zip(YEARS, cells, strict=False))
    return said(name, description, ["Year", head], rows, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "cells",
    [
        ["954", "1,603", "987", "1,212"],
        ["998", "999", "1.001"],
        ["655.1", "605.5", "591.1", "594.7*"],
        ["795", "739", "693", "677 (v)"],
        ["331,5", "305,1", "272,5", "ok. 252"],
        ["12", "8", "9", "<5"],
        ["12", "8", "9", "8-10"],
        [12.5, 8.5, "about 9", 7.5],
        [12.5, 8.5, True, 7.5],
    ],
)
def test_a_column_with_a_cell_that_is_not_read_in_one_way_is_silent(
    cells: list[Cell], language: Language
) -> None:
    assert yearly(cells, language=language) == []


def test_what_cannot_be_read_silences_its_own_column_or_group_only() -> None:
    rows: list[tuple[Cell, ...]] = [("2023", "1.5", "5*"), ("2024", "1.7", "6")]
    told = said("T", None, ["Year", "A", "B"], rows)
    assert told[0].startswith("“T, A”: 1.7 in 2024")
    assert not any("T, B" in sentence for sentence in told)
    rows = [("2023", "North", "1.5"), ("2023", "South", "5.5")]
    rows += [("2024", "North", "1.7"), ("2024", "South", "n.b.")]
    told = said("T", None, ["Year", "Region", "Value"], rows)
    assert told[0].startswith("“T, North”: 1.7 in 2024")
    assert not any("South" in sentence for sentence in told)


def test_a_unit_of_the_table_is_not_of_the_column_that_is_left() -> None:
    rows = [("2023", "1,204", "120"), ("2024", "1,305", "130")]
    one, *_ = said("Kessler, Mio. EUR", None, ["Year", "Umsatz", "Mitarbeiter"], rows)
    assert one == "“Kessler, Mio. EUR, Mitarbeiter”: 130 in 2024, up 10 (8.3 percent) from 120 in 2023."


@pytest.mark.parametrize(
    ("cells", "language", "first"),
    [
        (["1,204,000", "998,500"], "en", "“T”: 998,500 in 2022, down 205,500 (17.1 percent) from 1,204,000"),
        (["1.204.000 €", "998.500 €"], "de", "„T“: 998.500 EUR im Jahr 2022, 205.500 EUR (17,1 Prozent) we"),
        (["1 204 zł", "998 zł"], "pl", "„T”: 998 PLN w 2022 r., o 206 PLN (17,1 proc.) mniej niż w 2021 r."),
        (["12.4", "(3.1)"], "en", "“T”: −3.1 in 2022, down 15.5 from 12.4 in 2021."),
        (["46.2%", "33.7%"], "en", "“T”: 33.7 percent in 2022, down 12.5 percentage points from 46.2 perce"),
        (["76,6 %", "82,5 %"], "de", "„T“: 82,5 Prozent im Jahr 2022, 5,9 Prozentpunkte mehr als im Jahr 2"),
        (["61,74%", "74,38%"], "pl", "„T”: 74,38 proc. w 2022 r., o 12,64 pkt proc. więcej niż w 2021 r. ("),
    ],
)
def test_cells_may_settle_their_reading_and_their_unit(
    cells: list[Cell], language: Language, first: str
) -> None:
    assert yearly(cells, language=language)[0].startswith(first)


def test_a_sign_is_not_the_unit_where_the_table_is_in_millions() -> None:
    told = yearly(["€120.4", "€129.5"], name="Sales, € million")
    assert told[0] == "“Sales, € million”: 129.5 in 2022, up 9.1 (7.56 percent) from 120.4 in 2021."


@pytest.mark.parametrize(
    "days",
    [
        ["2022", "2023", "2024", "Jan 2025"],
        ["2022", "2023", "2024", "Q1 2025"],
        ["Jan 2024", "Feb 2024", "Mar 2024", "2024"],
        ["2024-01", "2024-02", "2024-03", "2024-03-31"],
        [f"{year}" for year in range(2001, 2024)] + ["2024 (p)"],
        ["2022", "2023", None, "2024"],
    ],
)
def test_a_table_with_a_date_of_another_form_or_of_none_is_silent(days: list[Cell]) -> None:
    rows = [(day, 1.5 + n) for n, day in enumerate(days)]
    assert said("T", None, ["Period", "Value"], rows) == []
    dated = [(day, f"2025-02-{n % 28 + 1:02}", 1.5 + n) for n, day in enumerate(days)]
    assert said("T", None, ["Period", "Updated", "Value"], dated) == []


@pytest.mark.parametrize(
    "total", ["Total", "SUM", "Summe", "Razem", "Ogółem", "Average", "Durchschnitt", "Średnio"]
)
def test_rows_of_totals_are_left_out(total: str) -> None:
    rows = [("2022", 120), ("2023", 118), ("2024", 140)]
    whole = said("T", None, ["Year", "Cod"], rows)
    assert whole[0] == "“T, Cod”: 140 in 2024, up 22 (18.6 percent) from 118 in 2023."
    assert said("T", None, ["Year", "Cod"], [*rows, (total, 378)]) == whole


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("Jobless (%)", None),
        ("Jobless", "in percent"),
        ("Jobless", "w proc."),
        ("Jobless", "in %"),
        ("Jobless rate (%)", None),
        ("Jobless", "Angaben in Prozent"),
    ],
)
def test_percent_in_the_words_of_a_table_holds_for_its_columns(name: str, description: str | None) -> None:
    rows = [("2022", 5.8, 6.1, 1000), ("2023", 5.2, 5.0, 1100)]
    told = said(name, description, ["Year", "Men", "Women", "Sample"], rows)
    assert told == [
        f"“{name}, Men”: 5.2 percent in 2023, down 0.6 percentage points from 5.8 percent in 2022.",
        f"“{name}, Women”: 5.0 percent in 2023, down 1.1 percentage points from 6.1 percent in 2022.",
        f"“{name}, Sample”: 1,100 in 2023, up 100 from 1,000 in 2022.",
    ]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *(("Vacancy rate", "en"), ("Share of women", "en"), ("Mean temperature (°C)", "en")),
        *(("Stopa bezrobocia", "pl"), ("Udział kobiet", "pl"), ("Temperatura", "pl"), ("Wskaźnik", "pl")),
        *(("Arbeitslosenquote", "de"), ("Anteil", "de"), ("Temperatur", "de"), ("Geburtenrate", "de")),
    ],
)
def test_of_shares_and_temperatures_there_is_no_change_in_percent(name: str, language: Language) -> None:
    percent = {"en": "percent", "pl": "proc.", "de": "Prozent"}[language]
    assert percent not in yearly([3.8, 9.9], name=name, language=language)[0]
    assert percent in yearly([3.8, 9.9], name="X", language=language)[0]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("Cars", "thousand; 2024: January to May"),
        ("Cars", "2024: Jan–May"),
        ("Cars YTD", None),
        ("Cars", "year to date"),
        ("Cars", "cumulative since January"),
        ("Auta", "dane narastająco"),
        ("Auta", "od początku roku"),
        ("Auta", "2024: styczeń–maj"),
        ("Autos", "kumuliert"),
        ("Autos", "2024: bis Mai"),
        ("Autos", "2024: Jan.–Mai"),
    ],
)
def test_a_part_of_a_year_is_not_compared_with_a_year(name: str, description: str | None) -> None:
    assert yearly([782.3, 682.1, 774.5, 282.4], name=name, description=description) == []


def test_of_parts_of_years_only_the_newest_value_is_said_and_only_where_it_is_called_so() -> None:
    rows = [("2025-01", 2.1), ("2025-02", 36.1), ("2025-03", 76.3)]
    told = said("Deficit, year to date", None, ["Month", "Deficit"], rows)
    assert told == ["“Deficit, year to date”: 76.3 in March 2025."]
    assert said("Deficit", "year to date", ["Month", "Deficit"], rows) == []
    for span in ("January 2020 to May 2025", "Januar bis Dezember", "January to December"):
        assert len(said("Deficit", span, ["Month", "Deficit"], rows)) > 1


@pytest.mark.parametrize(
    ("name", "description", "head"),
    [
        ("T", "2026 und 2027 Prognose", "Quote"),
        ("T, forecast", None, "Value"),
        ("T", "projections from 2024", "Value"),
        ("T", None, "Estimate"),
        ("T", "prognoza NBP", "Wartość"),
        ("T", "projekcja", "Wartość"),
        ("T", "Schätzung", "Wert"),
        ("T", "plan na 2024", "Wartość"),
    ],
)
def test_forecasts_are_not_said(name: str, description: str | None, head: str) -> None:
    assert yearly([5.3, 5.7, 6.2], name=name, description=description, head=head) == []


@pytest.mark.parametrize("note", ["forecast", "Prognose", "prognoza", "Schätzung", "estimate", "plan"])
def test_a_series_with_a_row_of_forecasts_is_silent(note: str) -> None:
    rows = [("2023", "1.2", "final"), ("2024", "0.9", "provisional"), ("2025", "1.1", note)]
    assert said("T", None, ["Year", "Growth", "Status"], rows) == []
    assert said("T", None, ["Year", "Growth", "Status"], rows[:2])


def test_of_one_series_both_changes_are_said_and_of_several_the_newest_of_each() -> None:
    rows = [(f"{2024 + n // 12}-{n % 12 + 1:02}", 100 + n, 200 + n) for n in range(13)]
    told = {
        language: said("T", "unit: EUR", ["Month", "value"], [row[:2] for row in rows], language)
        for language in LANGUAGES
    }
    assert {language: len(sentences) for language, sentences in told.items()} == dict.fromkeys(LANGUAGES, 5)
    assert {language: sentences[:2] for language, sentences in told.items()} == {
        "en": [
            "“T”: 112 EUR in January 2025, up 12 EUR (12.0 percent) from 100 EUR a year earlier, "
            "in January 2024.",
            "112 EUR in January 2025, up 1 EUR (0.9 percent) from 111 EUR in December 2024.",
        ],
        "pl": [
            "„T”: 112 EUR w styczniu 2025 r., o 12 EUR (12,0 proc.) więcej niż rok wcześniej, "
            "w styczniu 2024 r. (100 EUR).",
            "112 EUR w styczniu 2025 r., o 1 EUR (0,9 proc.) więcej niż w grudniu 2024 r. (111 EUR).",
        ],
        "de": [
            "„T“: 112 EUR im Januar 2025, 12 EUR (12,0 Prozent) mehr als ein Jahr zuvor, "
            "im Januar 2024 (100 EUR).",
            "112 EUR im Januar 2025, 1 EUR (0,9 Prozent) mehr als im Dezember 2024 (111 EUR).",
        ],
    }
    several = said("T", None, ["Month", "A", "B"], rows)
    assert len(several) == 2
    assert all("a year earlier" in sentence for sentence in several)
    assert len(yearly([1, 2, 4])) == 4
    assert yearly([3.5]) == ["“T”: 3.5 in 2021."]


HOSTILE = (
    "Rates: all”. The bank is insolvent. “Rates",
    "A. The bank is insolvent. B",
    'Rates" The bank is insolvent. "Rates',
    "Rates“. »The bank« is insolvent. „Rates",
    "Rates: 3.1 percent in 2022.» The bank is insolvent. «Rates",
)


def only_templates(sentences: Sequence[str], language: Language) -> None:
    """Sentences, the first with a name in marks; outside of these there are words of templates only."""
    for place, sentence in enumerate(sentences):
        head = NAMED.match(sentence)
        assert (head is not None) or place, sentence
        outside = sentence[head.end() :] if head else sentence
        words = {word.casefold() for word in re.findall(r"[^\W\d_]+", outside)}
        assert words <= {word.casefold() for word in template_words(language)}, outside
        assert not set('“”„«»"') & set(outside), outside


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", HOSTILE)
def test_no_words_of_a_table_stand_outside_of_quotation_marks(words: str, language: Language) -> None:
    rows: list[tuple[Cell, ...]] = [("2021", 1.5), ("2022", 1.7)]
    for name, description, head in (
        (words, None, "value"),
        ("T", words, "value"),
        ("T", f"unit: {words}", "value"),
        ("T", None, words),
        ("", None, words),
    ):
        told = said(name, description, ["Year", head], rows, language)
        assert len(told) == 4
        only_templates(told, language)
    grouped: list[tuple[Cell, ...]] = [
        (day, value, group) for day, value in rows for group in ("North", words)
    ]
    told = said("T", None, ["Year", "value", "Region"], grouped, language)
    assert len(told) == 2
    for sentence in told:
        only_templates([sentence], language)


@pytest.mark.parametrize(
    "description",
    [
        "x; unit: of all. The regulator confirmed fraud) and (more",
        "unit: EUR. The regulator confirmed fraud",
        "unit: all, the regulator confirmed fraud",
        "unit: ”: 3.1. “The regulator confirmed fraud",
    ],
)
def test_a_unit_that_is_a_sentence_is_not_said(description: str) -> None:
    for language in LANGUAGES:
        told = yearly([1.5, 1.7], description=description, language=language)
        assert len(told) == 4
        only_templates(told, language)


@given(st.text(st.sampled_from("“”„‟«»‹›\"'’ .:,()\nQZ7"), max_size=24), st.sampled_from(LANGUAGES))
def test_no_name_closes_its_marks(name: str, language: Language) -> None:
    told = yearly([1.5, 1.7], name=name, language=language)
    assert told
    only_templates(told, language)


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["Region", "Mean income", "Households"], [["North", "1600", "12"], ["South", "1700", "10"]]),
        (["Code", "Price"], [["1901", "5"], ["1902", "7"], ["1950", "9"]]),
        (["Date", "USD", "GBP"], [["01/05/2026", "1.1623", "0.8423"], ["04/05/2026", "1.1655", "0.8490"]]),
        (["Year", "Amount"], [["2001-02", "5"], ["2010-11", "15"], ["2011-12", "16.5"]]),
        (["date", "v"], [["2024-01", 1e-300], ["2024-02", 3e-300]]),
    ],
)
def test_a_column_that_may_be_anything_is_no_column_of_dates(
    columns: list[str], rows: list[list[Cell]]
) -> None:
    assert said("T", None, columns, rows) == []


def test_rows_of_different_things_are_series_of_their_own() -> None:
    rows = [["2024-01", "EUR", 5], ["2024-02", "USD", 7], ["2024-03", "EUR", 6]]
    assert said("Trade", None, ["date", "unit", "value"], rows) == [
        "“Trade, EUR”: 6 in March 2024, up 1 (20.0 percent) from 5 in January 2024.",
        "“Trade, USD”: 7 in February 2024.",
    ]
