"""One page under many addresses has one key, and another page never has it."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.web.page_urls import page_url
from models.knowledge.page_keys import is_plain, page_key, spellings

PAGE = "https://example.org/news/one?id=3"


def key(text: str) -> str:
    """The key of an address as somebody writes it."""
    return page_key(page_url(text))


@pytest.mark.parametrize(
    "other",
    [
        "http://example.org/news/one?id=3",
        "https://www.example.org/news/one?id=3",
        "https://m.example.org/news/one?id=3",
        "https://mobile.example.org/news/one/?id=3",
        "https://amp.example.org/news/one?id=3",
        "https://EXAMPLE.org:443/news/one?id=3#part",
        "https://example.org/news/one/index.html?id=3",
        "https://example.org/news/one?id=3&utm_source=x&utm_medium=y",
        "https://example.org/news/one?fbclid=abc&id=3&gclid=1&UTM_Campaign=z",
        "https://example.org/news/one/amp?id=3",
        "https://example.org/news/one/amp/?id=3",
        "https://example.org/amp/news/one?id=3&amp=1",
        "https://example.org/news/%6Fne?id=%33",
        "https://example.org/news/x/../one?id=3",
        "https://www.google.com/amp/s/example.org/news/one?id=3",
        "https://example-org.cdn.ampproject.org/c/s/example.org/news/one?id=3",
    ],
)
def test_the_same_page_has_the_same_key(other: str) -> None:
    assert key(other) == key(PAGE)


def test_percent_encoding_is_read_as_what_it_stands_for() -> None:
    assert key("https://pl.wikipedia.org/wiki/Łódź") == key(
        "https://pl.m.wikipedia.org/wiki/%c5%81%c3%b3d%c5%ba"
    )
    assert (
        key("https://example.org/a%2fb") == key("https://example.org/a%2Fb") != key("https://example.org/a/b")
    )


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/news/One?id=3",
        "https://example.org/news/one?id=4",
        "https://example.org/news/one",
        "https://example.org:8443/news/one?id=3",
        "https://example.net/news/one?id=3",
        "https://blog.example.org/news/one?id=3",
        "https://example.org/news/one?id=3&page=2",
        "https://example.org/news/one?id=3&ref=home",
        "https://example.org/news/one?ID=3",
        "https://example.org/news/two?id=3",
    ],
)
def test_another_page_has_another_key(other: str) -> None:
    assert key(other) != key(PAGE)


def test_www_stays_where_it_is_the_domain_itself() -> None:
    assert key("https://www.gov.pl/") != key("https://gov.pl/")
    assert key("https://m.co.uk/x") != key("https://co.uk/x")


def test_parameters_have_no_order() -> None:
    assert key("https://example.org/?a=1&b=2") == key("https://example.org/?b=2&a=1")
    assert key("https://example.org/?a=1&a=2") != key("https://example.org/?a=1")


_SEGMENT = st.text("abcXYZ019-_.~ąß%", min_size=1, max_size=8).filter(lambda text: set(text) != {"."})
_PATHS = st.lists(_SEGMENT, max_size=4).map(lambda parts: "/".join(["", *parts]))
_QUERIES = st.lists(st.sampled_from(["a=1", "b=%C4%85", "page=2", "q", "c="]), unique=True, max_size=3)


@given(_PATHS, _QUERIES)
def test_all_spellings_of_a_page_have_its_key(path: str, query: list[str]) -> None:
    url = page_url(f"https://example.org{path}?{'&'.join(query)}" if query else f"https://example.org{path}")
    assert spellings(url)[0] == url
    assert len(spellings(url)) <= 9
    assert {page_key(each) for each in spellings(url)} == {page_key(url)}
    assert page_key(url) in {page_key(page_url(each)) for each in spellings(url)}
    joint = "&" if query else "?"
    assert key(f"{url}{joint}utm_source=x&fbclid=y") == page_key(url)


@given(st.lists(st.sampled_from(["/a", "/a/b", "/b", "/a?x=1", "/a?x=2", "/2024/a", "/2025/a"]), unique=True))
def test_pages_that_differ_stay_apart(paths: list[str]) -> None:
    keys = [key(f"https://example.org{path}") for path in paths]
    assert all(one != other for one, other in combinations(keys, 2))


def test_a_copy_for_phones_or_for_counting_is_not_plain() -> None:
    assert is_plain(PAGE)
    assert is_plain("https://example.org/")
    assert is_plain("https://www.example.org/news/")
    for other in ("https://m.example.org/a", "https://example.org/a/amp", "https://example.org/a?utm_id=1"):
        assert not is_plain(other)
