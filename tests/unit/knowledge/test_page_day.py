"""The day of a page: its own, or none."""

import json

import pytest

from actors.systems.knowledge.parsing.main_text import read_html

TEXT = "<p>The committee met on Tuesday and talked for three hours about the water supply. " * 4 + "</p>"
RELATED = "<div class=related><time datetime=2019-01-01>1 Jan 2019</time> <a href=/z>Old</a></div>"
TICKER = "<div class=ticker><a href=/z>Old</a> <time datetime='2019-01-01'>1 Jan 2019</time></div>"
COMMENT = "<div class='comments'><time datetime='2026-08-01'>1 Aug</time> I agree</div>"
OWN = "<time datetime='2026-05-20'>20 May 2026</time>"


def day_of(body: str, head: str = "", url: str = "https://example.org/a") -> str | None:
    html = f"<html lang=en><head><title>x</title>{head}</head><body>{body}</body></html>"
    return read_html(html.encode(), url=url, content_type="text/html; charset=utf-8").date


def article(before: str = "", after: str = "") -> str:
    return f"<nav><a href=/>Home</a></nav><main><article><h1>W</h1>{before}{TEXT}{after}</article></main>"


def ld(*nodes: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(node)}</script>' for node in nodes)


NEWS = {"@type": "NewsArticle", "datePublished": "2026-05-20T23:30:00-05:00", "dateModified": "2026-06-01"}
OTHER = {"@type": "NewsArticle", "url": "https://example.org/b", "datePublished": "2019-01-01"}


@pytest.mark.parametrize(
    ("body", "head", "day"),
    [
        (article(after="<div class=context><time datetime='2026-02-22T17:00:10.593Z'>Feb 23</time></div>"),
         "", "2026-02-22"),
        (article(after=COMMENT), "", None),
        (article(OWN, COMMENT), "", "2026-05-20"),
        (TICKER + article(f"<header>{OWN}</header>"), "", "2026-05-20"),
        (TICKER + article(), "", None),
        (article(OWN, RELATED), "", "2026-05-20"),
        (article(after=RELATED), "", None),
        (article() + "<footer>© 2019 Example. <time datetime=2019-01-01>2019</time></footer>", "", None),
        (article(after="<p class=copyright>Copyright 2019-01-01 Example</p>"), "", None),
        (article(f"{OWN} <time class=updated datetime=2026-07-01>1 July</time>"), "", "2026-05-20"),
        (article("<p class=entry-date>20 May 2026</p>"), "", "2026-05-20"),
        (article("<time datetime='2026-05-20T23:30:00-05:00'>20 May</time>"), "", "2026-05-20"),
        (article(f"{OWN} <time datetime=2026-05-22>22 May</time>"), "", None),
        (article("<time datetime=2099-05-22>22 May</time>"), "", None),
        (article("<p class=date>Tuesday</p>"), "", None),
        ("<article><h1>A</h1><time datetime=2019-01-01></time></article>"
         "<article><h1>B</h1><time datetime=2020-01-01></time></article>", "", None),
        (article(), ld(NEWS), "2026-05-20"),
        (article(), ld(NEWS, OTHER | {"url": "https://example.org/b"}), None),
        (article(), ld(NEWS | {"url": "https://example.org/a"}, OTHER), "2026-05-20"),
        (article(), ld({"@type": "ItemList", "itemListElement": [OTHER]}), None),
        (article(), ld({"@type": "WebPage", "dateModified": "2026-06-01"}), None),
        (article(), "<meta property=article:published_time content=2026-05-20T10:00:00Z>", "2026-05-20"),
        (article(), "<meta property=article:modified_time content=2026-05-20T10:00:00Z>", None),
        (article(), "<meta name=copyright content=2019-01-01>", None),
    ],
)  # fmt: skip
def test_a_page_has_its_own_day_or_none(body: str, head: str, day: str | None) -> None:
    assert day_of(body, head) == day


def test_an_address_may_hold_the_day() -> None:
    assert day_of(article(), url="https://example.org/2026/05/20/water.html") == "2026-05-20"
    assert day_of(article(), url="https://example.org/2026/05/water.html") is None
    assert day_of(article(), url="https://example.org/2026/13/45/water.html") is None
