"""Domains: one form however they are written, what was registered of a name, and what lies under what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domains import domain_form, preferred_form, registrable_domain, standing_over


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Example.ORG", "example.org"),
        (" example.org. ", "example.org"),
        ("żółw.pl", "xn--w-uga1v8h.pl"),
        ("XN--W-UGA1V8H.pl", "xn--w-uga1v8h.pl"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("wiki", "wiki"),
        ("192.0.2.1", "192.0.2.1"),
    ],
)
def test_a_domain_has_one_form_however_it_is_written(text: str, form: str) -> None:
    assert domain_form(text) == form
    assert domain_form(form) == form


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "https://example.org",
        "example.org/x",
        "*.example.org",
        "example.org:80",
        "a b.org",
        "a..b",
        "8.1",
    ],
)
def test_what_is_no_domain_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="is no domain: write"):
        domain_form(text)


@pytest.mark.parametrize("suffix", ["co.uk", "CO.UK.", "pl", "gov.pl", "公司.cn", "kawasaki.jp"])
def test_a_public_suffix_is_nobodys_domain(suffix: str) -> None:
    with pytest.raises(ValueError, match="is a public suffix, under which anybody has domains: name those"):
        preferred_form(suffix, private=False)


def test_a_suffix_that_a_company_lets_may_be_kept_out_but_not_trusted() -> None:
    assert preferred_form("github.io", private=False) == "github.io"
    assert preferred_form("me.github.io", private=True) == "me.github.io"
    with pytest.raises(ValueError, match="public suffix"):
        preferred_form("github.io", private=True)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("BBC.co.uk.", "bbc.co.uk"),
        ("stat.gov.pl", "stat.gov.pl"),
        ("a.b.stat.gov.pl", "stat.gov.pl"),
        ("me.github.io", "me.github.io"),
        ("x.me.github.io", "me.github.io"),
        ("x.xn--lesund-hua.no", "x.xn--lesund-hua.no"),
        ("y.x.xn--lesund-hua.no", "x.xn--lesund-hua.no"),
        ("co.uk", "co.uk"),
        ("wiki.internal", "wiki.internal"),
        ("a.wiki.internal", "wiki.internal"),
        ("intranet", "intranet"),
        ("8.8.8.8", "8.8.8.8"),
        ("[2001:4860:4860::8888]", "[2001:4860:4860::8888]"),
    ],
)
def test_what_was_registered_of_a_name_is_found(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_the_nearest_domain_stands_over_a_host() -> None:
    domains = {"example.org", "data.example.org", "192.0.2.1", "1"}
    assert standing_over("x.DATA.example.org.", domains) == "data.example.org"
    assert standing_over("www.example.org", domains) == "example.org"
    assert standing_over("notexample.org", domains) is None
    assert standing_over("example.org.evil.net", domains) is None
    assert standing_over("192.0.2.1", domains) == "192.0.2.1"
    assert standing_over("8.8.8.1", domains) is None


@given(st.text(max_size=30))
def test_any_text_is_a_domain_in_its_form_or_refused(text: str) -> None:
    try:
        form = domain_form(text)
    except ValueError:
        return
    assert form == domain_form(form)
    assert form.isascii()
    assert registrable_domain(form) == form or form.endswith(f".{registrable_domain(form)}")
