"""Addresses of pages: one form for what browsers read as the same, and a clear word for what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.knowledge.scraping.page_urls import BLOCKED_PORTS, host_of, page_url
from models.errors import PageFailed


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (
            "HTTPS://pl.wikipedia.org:443/wiki/Łódź?x=ą b#frag",
            "https://pl.wikipedia.org/wiki/%C5%81%C3%B3d%C5%BA?x=%C4%85%20b",
        ),
        ("  http://example.com  ", "http://example.com/"),
        ("http://żółw.pl/../a", "http://xn--w-uga1v8h.pl/a"),
        ("http://example.com./x", "http://example.com/x"),
        ("http://ex\tample.com/a\n/b", "http://example.com/a/b"),
        ("http:\\\\example.com\\a", "http://example.com/a"),
        ("http://EXAMPLE.com:80/%7Ea", "http://example.com/%7Ea"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
    ],
)
def test_what_browsers_read_as_the_same_has_one_form(text: str, url: str) -> None:
    assert page_url(text) == url
    assert page_url(url) == url


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "bad_url"),
        ("example.com/page", "bad_url"),
        ("//example.com/", "bad_url"),
        ("ftp://example.com/", "bad_url"),
        ("javascript:alert(1)", "bad_url"),
        ("file:///etc/passwd", "bad_url"),
        ("data:text/html,x", "bad_url"),
        ("http://user:pass@example.com/", "bad_url"),
        ("http://user@example.com/", "bad_url"),
        ("http://exa mple.com/", "bad_url"),
        ("http://example.com:25/", "bad_url"),
        ("http://example.com:99999/", "bad_url"),
        ("http://" + "a" * 3000 + ".com/", "bad_url"),
        ("http://127.0.0.1/", "refused_by_guard"),
        ("http://0x7f.1/", "refused_by_guard"),
        ("http://2130706433/", "refused_by_guard"),
        ("http://①②⑦.0.0.1/", "refused_by_guard"),
        ("http://[::ffff:10.0.0.1]/", "refused_by_guard"),
        ("http://localhost./", "refused_by_guard"),
        ("http://169.254.169.254/latest", "refused_by_guard"),
    ],
)
def test_what_is_no_public_page_is_refused_with_its_fault(text: str, fault: str) -> None:
    with pytest.raises(PageFailed, match=r"^url: ") as refused:
        page_url(text)
    assert refused.value.facts["fault"] == fault


def test_a_relative_address_is_relative_to_its_base() -> None:
    assert page_url("../b?c#d", base="https://example.com/x/a/") == "https://example.com/x/b?c"
    with pytest.raises(PageFailed):
        page_url("//127.0.0.1/", base="https://example.com/")


def test_an_internal_address_that_is_allowed_is_taken() -> None:
    assert page_url("http://127.0.0.5:8080/a", allow_internal=("127.0.0.5/32",)) == "http://127.0.0.5:8080/a"


def test_ports_of_other_protocols_are_no_web_servers() -> None:
    for port in BLOCKED_PORTS:
        with pytest.raises(PageFailed, match="no web server"):
            page_url(f"http://example.com:{port}/")


@given(st.text(max_size=80), st.sampled_from(["", "http://", "https://example.com/", "http://127.0.0.1/"]))
def test_whatever_is_written_is_refused_or_stays_as_it_is(text: str, start: str) -> None:
    try:
        url = page_url(start + text)
    except PageFailed as refused:
        assert refused.facts["fault"] in ("bad_url", "refused_by_guard")  # noqa: PT017  # or there is none
        return
    assert url.isascii()
    assert page_url(url) == url
    assert host_of(url)
