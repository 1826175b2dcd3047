"""Notes that set a page's text right are read with it, wherever the page has them."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.systems.knowledge.parsing.main_text import read_html

WRONG = "The works were sold for four million euros in May."
OTHER = "The river is clean again in all of its parts."
SAYS_SO = "An earlier version of this article gave a wrong price for the works that were sold in May."
PRICE = "The works were sold for 400,000 euros, not for four million."
TEXT = (
    "<p>The council met on {} and talked for three hours about the water supply of the northern town. Nobody"
    " knew at the time how many of the pumps would have to be replaced before the summer.</p>"
)


def offered(before: str, after: str, *, is_beside: bool) -> list[str]:
    text = (
        f"{TEXT.format('Tuesday')}<p>{WRONG}</p>{TEXT.format('Friday')}<p>{OTHER}</p>{TEXT.format('Monday')}"
    )
    within = ("", "") if is_beside else (before, after)
    around = (before, after) if is_beside else ("", "")
    article = f"<article><h1>Water</h1>{within[0]}{text}{within[1]}</article>"
    body = (
        f"<nav><a href=/>Home</a></nav><main>{around[0]}{article}{around[1]}</main><footer>Imprint</footer>"
    )
    html = f"<html lang=en><head><title>x</title></head><body>{body}</body></html>"
    page = read_html(html.encode(), url="https://example.org/a", content_type="text/html; charset=utf-8")
    return [one.text for one in quotable(page.text, "en")]


@pytest.mark.parametrize("is_beside", [False, True])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"<aside class=correction><p>{SAYS_SO}</p></aside>"),
        ("", f"<aside class='article-correction'><h4>Correction</h4><p>{PRICE}</p></aside>"),
        ("", f"<aside><h4>Correction</h4><p>{PRICE}</p></aside>"),
        ("", f"<hr><p><em>{SAYS_SO}</em></p>"),
        ("", f"<footer><p>{SAYS_SO}</p></footer>"),
        (f"<div class='editor-note'>{SAYS_SO}</div>", ""),
        ("", f"<section id=corrections><h2>Corrections</h2><p>{PRICE}</p></section>"),
        ("", f"<details><summary>Correction</summary><p>{PRICE}</p></details>"),
        ("", f"<p><small>{SAYS_SO}</small></p>"),
        ("", f"<div class=meta><span>{SAYS_SO}</span></div>"),
        ("", f"<div class=sprostowanie>{SAYS_SO}</div>"),
        ("", f"<aside class=korrektur>{SAYS_SO}</aside>"),
        (
            "",
            "<p>Correction: the price of the works that were sold was <del>4,000,000</del> 400,000.</p>",
        ),
    ],
)
def test_a_correction_anywhere_on_the_page_counts(before: str, after: str, is_beside: bool) -> None:
    told = offered(before, after, is_beside=is_beside)
    assert not any(WRONG in one for one in told)
    assert any(OTHER in one for one in told)


@pytest.mark.parametrize("is_beside", [False, True])
@pytest.mark.parametrize(
    "banner",
    [
        "<div class=banner>This article has been retracted.</div>",
        "<aside class=retraction><strong>RETRACTED</strong></aside>",
        "<div class=box><p>We have withdrawn this article.</p></div>",
    ],
)
def test_of_a_page_that_is_taken_back_nothing_is_offered(banner: str, is_beside: bool) -> None:
    assert offered(banner, "", is_beside=is_beside) == []


@pytest.mark.parametrize(
    "beside",
    [
        "<aside class=related><a href=/z>Correction: the works were sold for 400,000 euros</a></aside>",
        "<footer><p>Report an error in this article about the works that were sold in May.</p></footer>",
        "<aside><p>The Daily Post has retracted its article on the works that were sold in May.</p></aside>",
        "<footer><p>This page was last updated on 3 May 2026.</p></footer>",
    ],
)
def test_what_is_about_others_takes_nothing_back(beside: str) -> None:
    told = offered("", beside, is_beside=True)
    assert any(WRONG in one for one in told)
    assert any(OTHER in one for one in told)
