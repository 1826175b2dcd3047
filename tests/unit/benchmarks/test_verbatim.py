"""The benchmark of quotations finds what is invented, and figures that are wrong."""

import re
from datetime import date

import pytest

from actors.figures.table_figures import table_figures
from actors.text.language import Language
from benchmarks.quotations.articles import read_article
from benchmarks.quotations.recomputed import is_right, series_of
from models.content.editorial import ArticleResponse
from tests.unit.editorial.test_quoted_article import BANK, topic, written

TOPIC = topic(BANK)
REPLY = {"headline": 1, "sentences": [1, 2, 3]}
ROWS = tuple(
    (f"{year}-{month:02}-01", year - 2020 + month / 10) for year in (2025, 2026) for month in range(1, 13)
)


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


@pytest.mark.parametrize("language", ["en", "pl", "de"])
def test_a_figure_is_right_as_it_is_and_wrong_with_any_other_digit(language: Language) -> None:
    series = series_of(ROWS, 1)
    told = [one.sentence for one in table_figures("Rate", "unit: percent", ("date", "rate"), ROWS, language)]
    assert len(told) == 4
    assert series.days[-1] == date(2026, 12, 1)
    for sentence in (each.rpartition(": ")[2] for each in told):
        assert is_right(sentence, series, language)
        for place in (found.start() for found in re.finditer(r"\d", sentence)):
            other = str((int(sentence[place]) + 1) % 10)
            assert not is_right(sentence[:place] + other + sentence[place + 1 :], series, language), sentence
