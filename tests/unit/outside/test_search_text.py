"""Text of outsiders made plain, addresses that may be linked to, and queries that fit into a URL."""

import unicodedata
from urllib.parse import quote_plus, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.web.plain_text import plain_text
from actors.platform.web.providers.hits import Hits, fitting, web_address
from models.text import seen


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("<b>Rates</b> held", "Rates held"),
        ("a &amp; b &lt;b&gt;bold&lt;/b&gt; c", "a & b bold c"),
        ("x &amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt; y", "x y"),
        ("<script>alert(1)</script>Text<style>p{}</style>", "Text"),
        ("<script>never closed", ""),
        ("<img src=x onerror=alert(1)>hi<!-- secret -->", "hi"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("two\n\tlines\x00\x1b[31m red", "two lines [31m red"),
        ("pay\u202elave\u2066 \U000e0041\U000e0042soft\u00adhyphen\ufeff", "paylave softhyphen"),
        ("half \ud83d pair", "half pair"),
        ("zażółć ½ 👩\u200d🔬", "zażółć ½ 👩\u200d🔬"),
        (None, ""),
        (3, ""),
        (["x"], ""),
    ],
)
def test_text_is_made_plain(raw: object, plain: str) -> None:
    assert plain_text(raw, 200) == plain


def test_long_text_ends_at_a_word() -> None:
    assert plain_text("one two three four", 10) == "one two…"
    assert plain_text("x" * 50, 10) == "x" * 9 + "…"
    assert len(plain_text("<b>" * 1_000_000 + "end", 100)) <= 100


@given(st.text(), st.integers(1, 50))
def test_any_text_is_short_and_visible(raw: str, most: int) -> None:
    told = plain_text(raw, most)
    assert len(told) <= most
    assert told == told.strip()
    assert not [letter for letter in told if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")]
    told.encode()


@given(st.text())
def test_what_is_seen_keeps_its_lines(raw: str) -> None:
    told = seen(f"one\n\ttwo{raw}")
    assert told.startswith("one\n\ttwo")
    assert "\x00" not in told
    assert seen(told) == told


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a?b=c#d",
        "http://example.org:8080",
        "HTTPS://EXAMPLE.ORG/",
        "https://żółw.example/ą",
    ],
)
def test_web_addresses_are_kept(url: str) -> None:
    assert web_address(f" {url} ") == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://example.org/",
        "//example.org/a",
        "https:///a",
        "https://user:word@example.org/",
        "https://example.org/a b",
        "https://example.org/\u202egnp",
        "https://example.org/\x00",
        'https://example.org/"onclick="',
        "https://example.org/<b>",
        "https://example.org:99999/",
        "https://[::1",
        "https://example.org/" + "x" * 2000,
        "https://example.org/\ud83d",
        "",
        None,
        3,
    ],
)
def test_other_addresses_are_left_out(url: object) -> None:
    assert web_address(url) is None


@given(st.text() | st.from_regex(r"https?://.*"))
def test_any_address_that_is_kept_is_one(url: str) -> None:
    kept = web_address(url)
    if kept is not None:
        assert urlsplit(kept).scheme in ("http", "https")
        assert urlsplit(kept).hostname


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=3000))
def test_a_query_fits_into_a_url(query: str) -> None:
    words, note = fitting(query)
    assert len(quote_plus(words)) <= 1200
    assert "".join(query.split()).startswith("".join(words.split()))
    assert (note is None) == (words == " ".join(query.split()))


def test_a_long_query_ends_at_a_word() -> None:
    words, note = fitting("inflacja żółw " * 200)
    assert note == "the query was too long and its end was left out"
    assert words.split()[-1] in ("inflacja", "żółw")
    assert 1100 < len(quote_plus(words)) <= 1200


def test_hits_are_bounded_in_number_and_size() -> None:
    hits = Hits("acme", 2)
    for number in range(5):
        hits.add(
            title="t " * 500, url=f"https://example.org/{number}", snippet="s " * 5000, published_at="d" * 99
        )
    answer = hits.answer()
    assert len(answer.hits) == 2
    assert all(len(hit.title) <= 300 and len(hit.snippet) <= 1000 for hit in answer.hits)
    assert all(len(hit.published_at or "") <= 40 for hit in answer.hits)
