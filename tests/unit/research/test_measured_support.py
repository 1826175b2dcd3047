"""The second look without a model that judges: words and the nearest quote, from a fixed measure on."""

import asyncio
from collections.abc import Sequence

import pytest

from actors.platform.text.language import Language
from actors.systems.research.synthesis.measured_support import (
    LEAST,
    LEAST_WORDS,
    MeasuredSupport,
    SupportMeasure,
    nearest,
)
from models.research.synthesis import SupportQuestion

QUOTE = "The bank cut its deposit rate in spring because prices fell."
HALF = "The bank cut its deposit rate, and households cheered loudly."


class NearAs:
    """An embedder whose quotes are as near to the sentence as it is told."""

    def __init__(self, cosine: float) -> None:
        self._cosine = cosine
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        other = [self._cosine, (1 - self._cosine**2) ** 0.5]
        return [[1.0, 0.0], *(other for _ in texts[1:])]


def verdict(sentence: str, cosine: float | None, language: Language = "en", quote: str = QUOTE) -> str:
    checker = MeasuredSupport(None if cosine is None else NearAs(cosine), language=language)
    question = SupportQuestion(sentence=sentence, quotes=(quote,))
    return asyncio.run(checker.check(question)).value.verdict


def test_meaning_decides_where_words_leave_it_open() -> None:
    assert verdict(HALF, 0.95) == "supports"
    assert verdict(HALF, 0.3) == "does_not_support"


def test_code_goes_before_meaning() -> None:
    assert verdict("The bank cut its deposit rate by 9 percent.", 1.0) == "does_not_support"
    assert verdict(QUOTE, 0.0) == "supports"


def test_other_languages_are_measured_by_their_words_alone() -> None:
    embedder = NearAs(1.0)
    checker = MeasuredSupport(embedder, language="pl")
    quote = "Bank obniżył stopę depozytową, bo ceny spadły."
    for sentence, found in (
        ("Bank obniżył stopę depozytową.", "supports"),
        ("Bank chwalił gospodarkę.", "does_not_support"),
    ):
        question = SupportQuestion(sentence=sentence, quotes=(quote,))
        assert asyncio.run(checker.check(question)).value.verdict == found
    assert embedder.asked == []


def test_without_an_embedder_words_decide() -> None:
    assert verdict("In spring the bank cut its deposit rate.", None) == "supports"
    assert verdict(HALF, None) == "does_not_support"


@pytest.mark.parametrize("cosine", [None, -1.0, 0.0, 0.5, 1.0])
def test_more_of_the_words_never_counts_against_a_sentence(cosine: float | None) -> None:
    measures = [SupportMeasure(covered=share / 10, cosine=cosine).measure() for share in range(11)]
    assert measures == sorted(measures)
    assert all(0 <= one <= 1 for one in measures)
    assert 0 < LEAST < 1
    assert 0 < LEAST_WORDS < 1


def test_the_nearest_quote_counts() -> None:
    assert nearest([1.0, 0.0], [[0.0, 1.0], [2.0, 0.0]]) == 1.0
    assert nearest([1.0, 0.0], []) == 0.0
    assert nearest([0.0, 0.0], [[1.0, 0.0]]) == 0.0
