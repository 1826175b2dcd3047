"""Requests that may get a page that was left out, however its address is written."""

import tracemalloc
from typing import Literal
from unicodedata import normalize
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.knowledge import left_out
from models.knowledge.reach import PageReach

SITE = "https://site.test"
LEFT_OUT = f"{SITE}/news/Secret-report.html"
READ = f"{SITE}/news/open.html"
REACH = PageReach.of([READ], left_out=[LEFT_OUT])


@pytest.mark.parametrize(
    "written",
    [
        *("/news/Secret-report.html?x", "/news/Secret-report.html?x=1&y=2", "/news/Secret-report.html?"),
        *(
            "/news/Secret-report.html;x",
            "/news/Secret-report.html;jsessionid=1?x",
            "/news;v=1/Secret-report.html",
        ),
        *("/news/Secret-report.html%00", "/news/Secret-report.html%00.png", "/news/Secret-report%00.html"),
        *("/news/Secret-report.html.", "/news/Secret-report.html%2e", "/news./Secret-report.html"),
        *("/news/secret-report.html", "/NEWS/SECRET-REPORT.HTML", "/news/%53ecret-report.html"),
        *("/news/Secret-report.html%20", "/news/Secret-report.html/", "/news//Secret-report.html"),
        *(
            "/news/%2e/Secret-report.html",
            "/news/x/%2e%2e/Secret-report.html",
            "/x/../news/Secret-report.html",
        ),
        *("/news%2FSecret-report.html", "/news%5CSecret-report.html", "/news%252FSecret-report.html"),
        *("/news/Secret-report", "/news/Secret-report.htm", "/news/Secret-report.html/print"),
        *("/news/Secret-report.html%23a", "/news/Secret-report.html%3Fa", "/news/Secret-report.html::$DATA"),
        *(
            "/news/Secret%E2%80%8B-report.html",
            "/news/%EF%BC%B3ecret-report.html",
            "/amp/news/Secret-report.html",
        ),
        *(
            "/news/Secret-report.html?utm_source=x",
            "/news/Secret-report.html%09",
            "/news/Secret-report.amp.html",
        ),
        *("/index.php/news/Secret-report.html", "/index.cgi/news/secret-report"),
    ],
)
def test_other_ways_to_write_a_page_that_was_left_out(written: str) -> None:
    for base in (
        SITE,
        "http://site.test",
        "https://site.test:443",
        "http://site.test:80",
        "http://site.test:443",
    ):
        assert REACH.was_left_out(base + written)
        assert not REACH.lets(base + written)
    assert REACH.lets(READ)


def test_programs_and_values_are_read_as_servers_read_them() -> None:
    reach = PageReach.of([READ], left_out=[f"{SITE}/index.php/article-7", f"{SITE}/show?id=7"])
    for other in ("/article-7", "/index.html/article-7", "/show?id=7%00", "/show?id=7%00.png&x=1"):
        assert reach.was_left_out(SITE + other), other
    for other in ("/article-8", "/show?id=8%007", "/index.php"):
        assert not reach.was_left_out(SITE + other), other


@pytest.mark.parametrize(
    "written",
    [
        *(
            "?utm_source=x;id=7",
            "?gclid=;id=7",
            "?fbclid=1;id=7&fbclid=2",
            "?utm_x=1%26id=7",
            "?utm_x=1%2526id=7",
        ),
        *("?id=7%20", "?id=%207", "?id%00=7", "?id=07", "?id=7%09", "??id=7", "?x=1%26id=7", "?x=1;id=7"),
        *("?x=1%3Fid=7", "?%69d=7", "?ID=7", "?id=%u0037", "?id%3D7", "?id=7%C0%80"),
        *("%3fid=7", "%3Futm_x=1;id=7", ";id=7", "/?id=7"),
    ],
)
def test_a_parameter_is_found_within_others_and_in_the_path(written: str) -> None:
    read = f"{SITE}/read"
    reach = PageReach.of([read], left_out=[f"{read}?id=7"], approved=[read])
    assert not reach.lets(read + written)
    for other in ("", "?utm_source=x", "?gclid=Cj0KCQ", "?id=8", "?id=70", "?xid=7"):
        assert reach.lets(read + other), other


def test_signs_that_are_escaped_as_some_servers_read_them() -> None:
    for written in (
        "/news/Secret-report.html%C0%80",
        "/news/%u0053ecret-report.html",
        "/news%C0%AFSecret-report",
    ):
        assert REACH.was_left_out(SITE + written), written


def test_pages_beside_it_are_let() -> None:
    for other in (
        "/",
        "/news/",
        "/news/secret-reports.html",
        "/news/secret-report/2.html",
        "/secret-report.html",
    ):
        assert REACH.lets(SITE + other)
    assert not REACH.lets("https://other.test/")


@pytest.mark.parametrize(
    ("asked", "let"),
    [
        ("/show.php?id=7", False),
        ("/show.php?id=7&x", False),
        ("/show.php?x=1;ID=7", False),
        ("/show?id=%37", False),
        ("/show.php?id=8&id=7", False),
        ("/show.php/x?id=7", False),
        ("/show.php?id=8", True),
        ("/show.php?id=77", True),
        ("/show.php", True),
    ],
)
def test_of_pages_told_apart_by_parameters_only_that_one_is_left_out(asked: str, let: bool) -> None:
    reach = PageReach.of([READ], left_out=[f"{SITE}/show.php?id=7"])
    assert reach.lets(SITE + asked) is let


def test_what_was_approved_is_let_however_like_it_is() -> None:
    approved = [f"{SITE}/news/Secret-report.html?page=2", f"{SITE}/News/secret-report.html"]
    reach = PageReach.of([READ], left_out=[LEFT_OUT], approved=approved)
    assert all(reach.lets(url) for url in (*approved, f"{approved[0]}&utm_source=x"))
    assert not reach.lets(f"{SITE}/news/secret-report.html?page=3")


_PART = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="/?#%;.\\:&+=~"), min_size=1
)


@given(st.lists(_PART, min_size=1, max_size=4), st.data())
@example(["a"], None)
def test_an_address_is_never_let_by_escapes_or_case(parts: list[str], data: st.DataObject | None) -> None:
    path = "/".join(parts)
    written = "".join(
        f"%{ord(one):02X}" if data is None or data.draw(st.booleans()) else one.swapcase() for one in path
    )
    reach = PageReach.of([f"{SITE}/"], left_out=[f"{SITE}/{quote(path)}"])
    assert not reach.lets(f"{SITE}/{written.replace('%2F', '/')}")


@pytest.mark.parametrize(
    ("left", "asked"),
    [
        ("/s?q=annual+report", "/s?q=annual%20report"),
        ("/s?q=annual%20report&x=1", "/s?x=1&q=annual+report"),
        ("/s?q=annual+report", "/s?q=annual%2Breport"),
        ("/s?annual%20report=1", "/s?annual+report=1"),
        ("/s/annual+report", "/s/annual%20report"),
        ("/s/annual%20report", "/s/annual+report"),
        *(("/p?id=7", f"/p?id={value}") for value in ("7a", "07a", "7.0", "7e0", "7%27", "7,8", "7 ", "7-8")),
        ("/p?id=7a", "/p?id=07A"),
        ("/a/b.html", "/a/b.html:$DATA"),
    ],
)
def test_blanks_and_numbers_are_read_as_most_programs_do(left: str, asked: str) -> None:
    assert not PageReach.of([READ], left_out=[f"{SITE}{left}"]).lets(f"{SITE}{asked}")


@pytest.mark.parametrize(
    ("left", "asked"),
    [
        *(("/p?id=7", f"/p?id={value}") for value in ("70", "71a", "x7", "8-7", "")),
        ("/p?day=2026-11-27", "/p?day=2026-11-28"),
        ("/p?day=2026-11-27", "/p?day=2026"),
        ("/s/c++", "/s/c"),
        ("/s?q=annual+report", "/s?q=annual"),
    ],
)
def test_another_number_or_another_text_is_let(left: str, asked: str) -> None:
    assert PageReach.of([READ], left_out=[f"{SITE}{left}"]).lets(f"{SITE}{asked}")


def test_a_long_address_costs_no_more_than_its_length() -> None:
    reach = PageReach.of([READ], left_out=[LEFT_OUT])
    tracemalloc.start()
    try:
        assert reach.lets(f"{SITE}/" + ".a/" * 2_000)
        assert not reach.lets(f"{SITE}/" + ".a/" * 16_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * 2**20


@pytest.mark.parametrize("where", ["/", "/news/open.html?q="])
def test_the_signs_of_a_longer_address_than_servers_take_are_put_in_no_order(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Marks on one letter are sorted in quadratic time: who asks for many holds up the others."""
    ordered: list[int] = []

    def counted(form: Literal["NFKC"], text: str) -> str:
        ordered.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr(left_out, "normalize", counted)
    marks = "%CC%81%CC%A3"
    assert REACH.lets(f"{SITE}{where}{marks * 600}")
    assert not REACH.lets(f"{SITE}{where}{marks * 5_000}")
    assert 0 < max(ordered) <= 8 * 1024
    # Where nothing was left out, nothing is compared.
    assert PageReach.of([READ]).lets(f"{SITE}{where}{marks * 5_000}")


def test_an_address_by_ipv6_is_compared_too() -> None:
    site = "https://[2606:4700::1111]"
    reach = PageReach.of([f"{site}/open"], left_out=[f"{site}/secret"])
    assert not reach.lets(f"{site}/SECRET?x")
