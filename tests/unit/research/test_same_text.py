"""The same text under two addresses is one; parts of a series, two months, two towns, two days are two."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.research.discovery.same_text import TextForm, same_text, text_form

TITLE = "Central bank lowers its reference rate"
SNIPPET = (
    "The council decided on Wednesday to lower the reference rate by a quarter of a point, as most analysts "
    "had expected, and left the door open for more."
)
DAY = date(2026, 6, 3)


def form(
    title: str = TITLE,
    snippet: str = SNIPPET,
    url: str = "https://first.example/a1",
    published: date | None = DAY,
) -> TextForm:
    """How a page is compared."""
    return text_form(url, title, snippet, published)


def same(one: TextForm, other: TextForm) -> bool:
    """Whether two are one, either way around."""
    assert same_text(one, other) == same_text(other, one)
    return same_text(one, other)


ELSEWHERE = "https://second.example/2026/77"


@pytest.mark.parametrize(
    ("title", "snippet"),
    [
        (TITLE, SNIPPET),
        (f"{TITLE} | Second", SNIPPET),
        (f"{TITLE} - Second.example", SNIPPET),
        ("Central bank lowers its refer…", SNIPPET),
        (TITLE, SNIPPET[: SNIPPET.index("had expected")] + "…"),
        (TITLE, "… " + SNIPPET[SNIPPET.index("reference") :]),
        (TITLE, SNIPPET.replace(", as", " – as").upper().capitalize()),
        (TITLE, SNIPPET.replace("most analysts", "analysts")),
    ],
)
def test_the_same_text_elsewhere_is_one(title: str, snippet: str) -> None:
    assert same(form(), form(title, snippet, ELSEWHERE))
    assert same(form(published=None), form(title, snippet, ELSEWHERE))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Heat pumps in old houses, part 1", "Heat pumps in old houses, part 2"),
        ("Heat pumps in old houses, part one", "Heat pumps in old houses, part two"),
        ("Heat pumps in old houses (I)", "Heat pumps in old houses (II)"),
        ("Heat pumps in old houses", "Heat pumps in old houses, part 2"),
        ("Pompy ciepła, część pierwsza", "Pompy ciepła, część druga"),
        ("Wärmepumpen, Teil eins", "Wärmepumpen, Teil zwei"),
        ("Inflation in June", "Inflation in July"),
        ("Inflacja w styczniu", "Inflacja w lutym"),
        ("Inflation 2025", "Inflation 2026"),
        ("Bank will raise rates", "Bank will not raise rates"),
        ("Country report – Poland", "Country report – Germany"),
        ("Weather in Warsaw", "Weather in Kraków"),
        ("Central bank lowers its reference rate…", "Central bank lowers its interest rate"),
        ("Central bank lowers its refer…", "Central bank lowers its reference rate, part 2"),
    ],
)
def test_titles_that_differ_are_of_two_texts(one: str, other: str) -> None:
    assert not same(form(one), form(other, url=ELSEWHERE))


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("a quarter of", "half"),
        ("on Wednesday", "on Thursday"),
        ("decided", "decided not"),
        ("The council", "The council of Norway"),
        ("for more", "for no more"),
        ("quarter of a point", "25 hundredths of a point"),
        ("to lower", "to lower 3 times"),
        ("the door open for more", "the window shut until summer"),
        ("analysts", "observers of every bank and fund in all of the euro zone and beyond"),
    ],
)
def test_snippets_that_differ_in_what_they_tell_are_of_two_texts(said: str, instead: str) -> None:
    other = SNIPPET.replace(said, instead)
    assert other != SNIPPET
    assert not same(form(), form(snippet=other, url=ELSEWHERE))


def test_two_days_are_two_texts_and_an_unknown_day_is_none() -> None:
    assert not same(form(), form(url=ELSEWHERE, published=date(2026, 6, 4)))
    assert same(form(), form(url=ELSEWHERE, published=None))


def test_pages_of_one_site_with_other_numbers_in_their_addresses_are_two() -> None:
    def page(number: int) -> TextForm:
        return form(url=f"https://www.first.example/thread?page={number}")

    assert not same(page(1), page(2))
    assert same(form(url="https://first.example/a"), form(url="https://www.first.example/news/a"))


@pytest.mark.parametrize("snippet", ["", "Read more.", "All the news of the day"])
def test_short_snippets_tell_too_little(snippet: str) -> None:
    assert not same(form(snippet=snippet), form(snippet=snippet, url=ELSEWHERE))


def test_titles_alone_make_nothing_one() -> None:
    other = (
        "Readers write to us about the weather, the trains and the price of a cup of coffee in the capital."
    )
    assert not same(form("Home"), form("Home", other, ELSEWHERE))
    assert not same(form("", SNIPPET), form("", SNIPPET, ELSEWHERE))


_WORDS = st.lists(
    st.sampled_from(["ala", "ma", "kota", "3", "nie", "Bonn", "the", "of", "rate", "mai"]), max_size=30
).map(" ".join)


@given(_WORDS, _WORDS, _WORDS, _WORDS)
def test_likeness_has_no_direction(title: str, snippet: str, other_title: str, other_snippet: str) -> None:
    same(form(title, snippet), form(other_title, other_snippet, ELSEWHERE))


@given(_WORDS)
def test_texts_of_other_numbers_are_two(snippet: str) -> None:
    one = form("Report 1 of the bank", f"{SNIPPET} {snippet}")
    assert not same(one, form("Report 2 of the bank", f"{SNIPPET} {snippet}", ELSEWHERE))
