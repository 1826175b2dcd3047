"""Scores: by meaning and by words, in three languages; with dates where they are asked for, and ratings."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.discovery.query_terms import query_terms, share_of_terms
from actors.systems.research.discovery.scoring import RATING, QueryVectors, Scorer
from actors.systems.research.discovery.vectors import backgrounds
from models.content.outside import DateRange

TODAY = date(2026, 7, 1)
NOTHING_UNLIKE: dict[Any, Any] = {}


def share(query: str, title: str, snippet: str = "") -> float:
    """How much of a query's words a text has."""
    return share_of_terms(query_terms(query), title, snippet)


def score(scorer: Scorer, title: str = "", snippet: str = "", **more: Any) -> float:
    """A page's score, of whom nothing else is known."""
    plain = {"language": None, "vector": None, "published": None, "rating": "neutral"}
    return scorer.score(title=title, snippet=snippet, **(plain | more)).value


def by_words(query: str, date_range: DateRange = "any") -> Scorer:
    """What scores by words only."""
    return Scorer([query], None, date_range=date_range, today=TODAY)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("inflacja", "Dane o inflacji"),
        ("stopy procentowe", "Obniżka stopy procentowej"),
        ("mieszkania Warszawa", "Mieszkanie w Warszawie"),
        ("rynek", "na rynku"),
        ("ceny", "cena"),
        ("spadek", "po spadku"),
        ("Wärmepumpe", "Wärmepumpen im Bestand"),
        ("Zinsen", "Zinsentscheid"),
        ("Inflation", "Die Kerninflation steigt"),
        ("Häuser", "Ein Haus, viele Hausern"),
        ("mortgages", "a mortgage"),
        ("borrowing", "borrower borrowings"),
    ],
)
def test_words_are_found_in_their_other_forms(query: str, text: str) -> None:
    assert share(query, text) >= 0.6


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("bank", "banan"),
        ("Krieg", "Krise"),
        ("2025", "2026"),
        ("25", "250"),
        ("stopy", "stodoła"),
        ("the and of", "the and of"),
        ("Rat", "Ratifizierung"),
    ],
)
def test_other_words_and_other_numbers_are_not(query: str, text: str) -> None:
    assert share(query, text) == 0.0


def test_numbers_and_names_tell_more_than_other_words() -> None:
    query = "growth forecast Poland 2026"
    assert share(query, "2026") > share(query, "Poland") > share(query, "forecast") > 0
    assert share("rates EU", "EU") > 0


def test_a_title_says_more_than_a_snippet() -> None:
    assert share("tides", "tides") > share("tides", "", "tides") > 0


def test_a_likeness_in_meaning_counts_only_beyond_that_of_unlike_texts() -> None:
    near, far = [1.0, 0.2, 0.0], [0.8, 0.6, 0.0]
    plain = Scorer(["q"], QueryVectors([[1.0, 0.0, 0.0]], {}), date_range="any", today=TODAY)
    beyond = Scorer(["q"], QueryVectors([[1.0, 0.0, 0.0]], {"en": [far, far]}), date_range="any", today=TODAY)
    assert score(plain, vector=near) > score(plain, vector=far) > 0
    assert score(beyond, vector=near) > 0
    assert score(beyond, vector=far) == 0.0
    # A page in another language is held against texts of that one, where there are any.
    polish = QueryVectors([[1.0, 0.0, 0.0]], {"en": [[0.0, 0.0, 1.0]], "pl": [far]})
    scorer = Scorer(["q"], polish, date_range="any", today=TODAY)
    assert score(scorer, vector=far, language="en") > score(scorer, vector=far, language="pl") == 0.0


def test_of_several_queries_the_best_counts() -> None:
    both = Scorer(["tides", "comets"], None, date_range="any", today=TODAY)
    assert score(both, "comets") == score(by_words("comets"), "comets")


def test_a_date_counts_only_where_a_range_was_asked_for() -> None:
    recent, old = date(2026, 6, 30), date(2026, 6, 3)
    anytime = by_words("tides")
    assert score(anytime, "tides", published=recent) == score(anytime, "tides", published=old)
    month = by_words("tides", "month")
    ranked = [score(month, "tides", published=day) for day in (recent, old)]
    assert ranked[0] > score(month, "tides", published=None) > ranked[1]
    assert score(month, "tides", published=date(2030, 1, 1)) <= 1.0


def test_an_unknown_date_is_marked() -> None:
    said = by_words("tides", "week").score(
        title="tides", snippet="", language=None, vector=None, published=None, rating="trust"
    )
    assert said.why == "words 100%, date unknown, trusted domain"


def test_a_rating_raises_a_score_a_little_and_never_over_one() -> None:
    scorer = by_words("tides comets")
    plain, preferred, trusted = (
        score(scorer, "tides", rating=rating) for rating in ("neutral", "prefer", "trust")
    )
    assert preferred == pytest.approx(plain + RATING["prefer"])
    assert trusted == pytest.approx(plain + RATING["trust"])
    assert score(by_words("tides"), "tides", rating="trust") == 1.0


def test_unlike_texts_are_given_in_each_of_our_languages() -> None:
    assert {len(texts) for texts in backgrounds().values()} == {7}
    assert set(backgrounds()) == {"en", "pl", "de"}


_NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32)


@given(
    st.lists(_NUMBERS, max_size=4), st.lists(_NUMBERS, max_size=4), st.text(max_size=60), st.text(max_size=60)
)
def test_any_vectors_and_texts_score_from_0_to_1(
    query: list[float], page: list[float], title: str, snippet: str
) -> None:
    scorer = Scorer([title], QueryVectors([query], {"en": [page]}), date_range="week", today=TODAY)
    value = score(scorer, title, snippet, vector=page, rating="trust")
    assert 0.0 <= value <= 1.0
    assert value == score(scorer, title, snippet, vector=page, rating="trust")
