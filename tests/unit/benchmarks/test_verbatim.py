"""The benchmark of quotations finds what is invented, and figures that are wrong."""

import re
from datetime import date

import pytest

from actors.platform.figures.table_figures import table_figures
from actors.platform.text.language import Language
from benchmarks.__main__ import NAMES, chosen, why_not_kept
from benchmarks.quotations.articles import read_article
from benchmarks.quotations.recomputed import is_right, series_of
from models.content.editorial import ArticleResponse
from tests.unit.editorial.test_quoted_article import BANK, topic, written

TOPIC = topic(BANK)
REPLY = {"headline": 1, "sentences": [1, 2, 3]}
languages = pytest.mark.parametrize("language", ["en", "pl", "de"])
# Percent, percentage points, and what says that the base is of a year before.
UNITS = {
    "en": ("percent", "percentage points", " a year earlier"),
    "pl": ("proc.", "pkt proc.", " rok wcześniej"),
    "de": ("Prozent", "Prozentpunkte", " ein Jahr zuvor"),
}
ROWS = tuple(
    (f"{year}-{month:02}-01", year - 2020 + month / 10) for year in (2025, 2026) for month in range(1, 13)
)
SERIES = series_of(ROWS, 1)


@pytest.fixture(scope="module")
def article() -> ArticleResponse:
    """An article of quotations."""
    return written(BANK, REPLY)


def test_an_article_of_quotations_has_nothing_invented(article: ArticleResponse) -> None:
    read = read_article(article, TOPIC)
    assert read.invented == ()
    assert len(read.quotations) >= 2
    assert read.duplicates == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("percent", "percents"),
        ("4.25", "4.75"),
        ("\n\n## Footnotes", "\n\nAll is well.\n\n## Footnotes"),
        ("”[^1]", "”[^1] and so on"),
        ("[^2]: ", "[^9]: "),
        ("“The Board", "The chairman said: “The Board"),
    ],
)
def test_what_is_not_the_source_s_is_found(article: ArticleResponse, before: str, after: str) -> None:
    assert before in article.articleBody
    changed = article.model_copy(update={"articleBody": article.articleBody.replace(before, after)})
    assert read_article(changed, TOPIC).invented


def test_an_invented_headline_is_found(article: ArticleResponse) -> None:
    changed = article.model_copy(update={"headline": "Board raises rate"})
    assert read_article(changed, TOPIC).invented == ("Board raises rate",)


def test_what_is_said_twice_is_counted(article: ArticleResponse) -> None:
    first, _, _ = article.articleBody.partition("[^1]")
    said = f"{first}[^1]\n\n{first}[^2]\n\n## Footnotes\n\n"
    note = re.search(r"\[\^1\]: .*", article.articleBody)
    assert note
    doubled = article.model_copy(
        update={"articleBody": f"{said}{note[0]}\n\n{note[0].replace('[^1]', '[^2]')}"}
    )
    assert read_article(doubled, TOPIC).duplicates == 1


def told(language: Language, description: str = "unit: percent") -> list[str]:
    """What is said of the rows, without the series' name."""
    figures = table_figures("Rate", description, ("date", "rate"), ROWS, language)
    return [one.sentence.rpartition(": ")[2] for one in figures]


@languages
def test_a_figure_is_right_as_it_is_and_wrong_with_any_other_digit(language: Language) -> None:
    sentences = told(language)
    assert len(sentences) >= 4
    assert SERIES.days[-1] == date(2026, 12, 1)
    for sentence in sentences:
        assert is_right(sentence, SERIES, language, percent=True), sentence
        for place in (found.start() for found in re.finditer(r"\d", sentence)):
            other = str((int(sentence[place]) + 1) % 10)
            changed = sentence[:place] + other + sentence[place + 1 :]
            assert not is_right(changed, SERIES, language, percent=True), changed


@languages
def test_a_figure_is_wrong_in_another_unit(language: Language) -> None:
    percent, points, _ = UNITS[language]
    for sentence in told(language):
        assert not is_right(sentence, SERIES, language, percent=False), sentence
        # The longer one first: `proc.` is a part of `pkt proc.`.
        for unit in re.finditer(rf" ({re.escape(points)}|{re.escape(percent)})(?!\w)", sentence):
            for other in {"", f" {percent}", f" {points}", " EUR"} - {unit[0]}:
                changed = sentence[: unit.start()] + other + sentence[unit.end() :]
                assert not is_right(changed, SERIES, language, percent=True), changed


@languages
def test_a_series_without_percent_has_it_for_its_relative_change_alone(language: Language) -> None:
    percent, points, _ = UNITS[language]
    sentences = told(language, "unit: EUR")
    assert any(percent in each for each in sentences)
    for sentence in sentences:
        assert is_right(sentence, SERIES, language, percent=False), sentence
        assert not is_right(sentence.replace("EUR", percent), SERIES, language, percent=False)
        if percent in sentence:
            for other in ("EUR", points):
                assert not is_right(sentence.replace(percent, other), SERIES, language, percent=False)


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        (
            "7.2 percent in December 2026, up 1.0 percentage points from 6.2 percent{}, in December 2025.",
            "en",
        ),
        ("7,2 proc. w grudniu 2026 r., o 1,0 pkt proc. więcej niż{}, w grudniu 2025 r. (6,2 proc.).", "pl"),
        ("7,2 Prozent im Dezember 2026, 1,0 Prozentpunkte mehr als{}, im Dezember 2025 (6,2 Prozent).", "de"),
    ],
)
def test_a_year_earlier_is_a_year_earlier(sentence: str, language: Language) -> None:
    year = UNITS[language][2]
    right = sentence.format(year)
    assert is_right(right, SERIES, language, percent=True)
    # What is compared without these words is the value before.
    assert not is_right(sentence.format(""), SERIES, language, percent=True)
    # All of it is true of the month before, but for these words.
    for before, after in (("Dec", "Nov"), ("grudniu", "listopadzie"), ("Dez", "Nov")):
        head, found, tail = right.rpartition(before)
        if found:
            changed = f"{head}{after}{tail}"
            for number, other in (("1.0", "1.1"), ("1,0", "1,1"), ("6.2", "6.1"), ("6,2", "6,1")):
                changed = changed.replace(number, other)
            assert not is_right(changed, SERIES, language, percent=True), changed


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ("up 0.1 percentage points from 7.1 percent in November 2026.", True),
        ("up 0.1 percentage points from 7.1 percent a year earlier, in November 2026.", False),
        ("up 0.2 percentage points from 7.0 percent in October 2026.", False),
        ("down 0.1 percentage points from 7.1 percent in November 2026.", False),
        ("up 7.1 percent from 0.1 percentage points in November 2026.", False),
        ("the same as a year earlier, in December 2025.", False),
    ],
)
def test_what_is_compared_is_the_value_before_or_that_of_a_year_ago(words: str, right: bool) -> None:
    assert is_right(f"7.2 percent in December 2026, {words}", SERIES, "en", percent=True) is right


@pytest.mark.parametrize(
    ("then", "right"), [("30 May 2025", True), ("20 May 2025", False), ("1 June 2025", False)]
)
def test_a_day_of_a_year_ago_is_the_last_one_up_to_it(then: str, right: bool) -> None:
    days = ["2025-05-20", "2025-05-30", "2025-06-02", "2026-05-29", "2026-06-01"]
    series = series_of([(day, 10.0 if day < "2026" else 11.0) for day in days], 1)
    said = f"11.0 EUR on 1 June 2026, up 1.0 EUR (10.00 percent) from 10.0 EUR a year earlier, on {then}."
    assert is_right(said, series, "en", percent=False) is right


def test_verbatim_is_left_out_of_all_benchmarks_but_for_further_texts() -> None:
    assert chosen([], texts=False) == [name for name in NAMES if name != "verbatim"]
    assert chosen([], texts=True) == list(NAMES)
    assert chosen(["verbatim", "engine"], texts=False) == ["engine", "verbatim"]


@pytest.mark.parametrize(
    ("name", "quick", "texts", "kept"),
    [
        ("verbatim", False, True, True),
        ("verbatim", False, False, False),
        ("verbatim", True, True, False),
        ("engine", False, False, True),
        ("engine", True, False, False),
    ],
)
def test_a_section_is_written_anew_by_a_whole_run_alone(
    name: str, quick: bool, texts: bool, kept: bool
) -> None:
    assert (why_not_kept(name, quick=quick, texts=texts) is None) is kept
