"""The main text of pages: articles, discussions, shops, tables and code, and what a page says of itself."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.text_language import language_of_text
from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.page_links import MOST_LINKS
from models.errors import DocumentUnreadable
from models.knowledge.pages import PageText
from tests.examples import examples

URL = "https://example.org/a/page.html"
SENTENCE = "The price of bread rose by four percent in the last year, as the office of statistics said. "
POLISH = "Ceny chleba wzrosły w ciągu roku o cztery procent, jak podał w środę urząd statystyczny. "
MENU = "<nav><ul>" + "".join(f"<li><a href='/{n}'>Menu {n}</a></li>" for n in range(20)) + "</ul></nav>"


def read(
    html: str | bytes, url: str = URL, content_type: str | None = "text/html; charset=utf-8"
) -> PageText:
    return read_html(html if isinstance(html, bytes) else html.encode(), url=url, content_type=content_type)


def page(inside: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>Site: page</title>{head}</head><body>{inside}</body></html>"


def article(inside: str, head: str = "") -> str:
    return page(
        f"{MENU}<main><article><h1>Bread</h1><p>{SENTENCE * 3}</p>{inside}<p>{SENTENCE * 2}</p></article>"
        "</main>"
        "<footer>Copyright 2024 Example</footer>",
        head,
    )


def test_an_article_is_read_without_what_stands_around_it() -> None:
    head = (
        '<meta property="og:title" content="Bread is dearer"><meta name="author" content="Ann Baker">'
        '<meta property="article:published_time" content="2024-05-03T10:00:00Z">'
    )
    found = read(article("<p>An inner paragraph of the article with some <b>bold</b> words in it.</p>", head))
    assert "An inner paragraph of the article with some **bold** words" in found.text
    assert "Menu 3" not in found.text
    assert "Copyright" not in found.text
    assert (found.title, found.author, found.date) == ("Bread is dearer", "Ann Baker", "2024-05-03")
    assert found.language == "en"


def test_tables_and_code_stay_what_they_are() -> None:
    code = 'def f(x):\n    if x &lt; 2:\n        return "*a*"'
    table = "<table><tr><th>year</th><th>price</th></tr><tr><td>2024</td><td>4 zł</td></tr></table>"
    text = read(article(f"<pre><code>{code}</code></pre><p>As <code>f(1)</code> shows.</p>{table}")).text
    assert '```\ndef f(x):\n    if x < 2:\n        return "*a*"\n```' in text
    assert "As `f(1)` shows." in text
    assert "| year | price |\n|---|---|\n| 2024 | 4 zł |" in text


def test_raised_digits_are_not_lost() -> None:
    text = read(
        article("<p>There are 10<sup>6</sup> of them, in H<sub>2</sub>O, the 5<sup>th</sup> time.</p>")
    ).text
    assert "There are 10⁶ of them, in H₂O, the 5th time." in text


def test_a_page_of_a_few_lines_a_list_or_a_table_is_not_empty() -> None:
    assert read("<p>Hello there</p>").text == "Hello there"
    assert read("Only words").text == "Only words"
    contact = read(page(f"{MENU}<main><h1>Kontakt</h1><p>ul. Długa 5, Warszawa</p></main>")).text
    assert contact == "# Kontakt\n\nul. Długa 5, Warszawa"
    table = "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Milk</td><td>3|4</td></tr></table>"
    assert read(page(table)).text == "| Item | Price |\n|---|---|\n| Milk | 3\\|4 |"
    assert read(page("<ul><li>one</li><li>two</li></ul>")).text == "- one\n- two"
    assert read(page("<p>Run:</p><pre>a\n  b</pre>")).text == "Run:\n\n```\na\n  b\n```"
    long = "".join(f"<tr><td>Product {n}</td><td>{n} zł</td><td>a remark</td></tr>" for n in range(60))
    assert "| Product 59 | 59 zł | a remark |" in read(page(f"<table>{long}</table>")).text


def test_a_page_of_nothing_holds_no_text() -> None:
    for body in (
        "",
        "  \n",
        "<html></html>",
        "<!-- nothing -->",
        "<html><body><script>x()</script></body></html>",
    ):
        assert read(body).text == ""


@pytest.mark.parametrize("codec", ["iso-8859-2", "windows-1250"])
@pytest.mark.parametrize("said", ["header", "meta", "nowhere"])
def test_polish_pages_of_old_are_read_rightly(codec: str, said: str) -> None:
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={codec}">' if said == "meta" else ""
    html = article(f"<p>{POLISH * 5}</p>", head).replace(SENTENCE, POLISH)
    header = f"text/html; charset={codec}" if said == "header" else "text/html"
    found = read(html.encode(codec), content_type=header)
    assert POLISH.strip() in found.text
    assert found.language == "pl"


def thread(*posts: str) -> str:
    return "".join(
        f'<article class="message" data-author="user{n}">'
        f'<time datetime="2024-05-0{n + 1}T10:00:00">May</time>'
        f'<div class="comment message-body"><div class="bbWrapper"><p>{post}</p></div></div></article>'
        for n, post in enumerate(posts)
    )


def test_the_posts_of_a_discussion_are_its_text() -> None:
    posts = (
        "How do I bake bread?",
        "With flour, water and salt, I would say.",
        "And do not forget the yeast!",
    )
    html = page(f"{MENU}<div>{thread(*posts)}</div><aside>Similar threads: cake</aside>")
    found = read(html, "https://forum.example.org/threads/bread.12/")
    for number, post in enumerate(posts):
        assert f"**user{number}**, 2024-05-0{number + 1}\n\n{post}" in found.text
    assert "Similar threads" not in found.text
    assert found.text.index(posts[0]) < found.text.index(posts[1]) < found.text.index(posts[2])


def test_a_quotation_within_a_post_is_said_once() -> None:
    inner = '<blockquote><div class="bbWrapper">What is quoted here is long enough.</div></blockquote>'
    html = page(
        thread("The first post of this thread is long enough to be seen as one.", f"{inner}<p>I agree.</p>")
    )
    text = read(html, "https://forum.example.org/threads/bread.12/").text
    assert text.count("What is quoted here") == 1
    assert "I agree." in text


def test_answers_are_kept_and_the_comments_of_an_article_are_not() -> None:
    def said(word: str) -> str:
        return "".join(f'<div class="comment"><p>{word} {n}: {SENTENCE}</p></div>' for n in range(4))

    comments = f'<div id="comments" class="comments-list">{said("Reader")}</div>'
    assert "Reader 2" not in read(article("") + comments, "https://example.org/2024/bread").text
    question = json.dumps({"@type": "QAPage", "mainEntity": {"@type": "Question", "name": "Bread?"}})
    html = page(
        f'<script type="application/ld+json">{question}</script>'
        f'<div class="js-post-body"><p>How is bread made? {SENTENCE}</p></div>'
        f'<div class="answer"><div class="js-post-body"><p>Answer: {SENTENCE}</p></div></div>'
    )
    text = read(html).text
    assert "How is bread made?" in text
    assert "Answer: The price" in text


def product(**changes: object) -> str:
    node: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Toaster X200",
        "description": "<p>Toasts two slices at once, and lets go of them when they are brown.</p>",
        "sku": "TX-200",
        "brand": {"@type": "Brand", "name": "Toastmaker"},
        "offers": {
            "@type": "Offer",
            "price": "129.00",
            "priceCurrency": "PLN",
            "availability": "https://schema.org/InStock",
        },
    }
    return f'<script type="application/ld+json">{json.dumps({**node, **changes})}</script>'


def test_what_a_shop_says_only_to_machines_is_added() -> None:
    found = read(page(f"{MENU}<main><h1>Toaster X200</h1><p>{SENTENCE * 4}</p></main>", product())).text
    for part in ("- Brand: Toastmaker", "- SKU: TX-200", "- Price: 129.00 PLN", "- Availability: InStock"):
        assert part in found
    assert "Toasts two slices at once" in found
    assert "<p>" not in found
    shown = page(f"<main><h1>Toaster X200</h1><p>{SENTENCE * 4} It costs 129.00 PLN.</p></main>", product())
    assert "- Price" not in read(shown).text


@pytest.mark.parametrize(
    ("offers", "price"),
    [
        (
            {"@type": "AggregateOffer", "lowPrice": 10, "highPrice": "12.50", "priceCurrency": "EUR"},
            "10–12.50 EUR",
        ),
        ([{"price": 5, "priceCurrency": "USD"}, {"price": "5", "priceCurrency": "USD"}], "5 USD"),
        ({"priceSpecification": {"price": 7.5, "priceCurrency": "GBP"}}, "7.5 GBP"),
        ({"price": "0", "priceCurrency": "GBP"}, None),
        ("sold out", None),
        ([None, 3, {"price": {"x": []}}], None),
    ],
)
def test_prices_are_read_as_shops_write_them(offers: object, price: str | None) -> None:
    text = read(page(f"<main><h1>Toaster X200</h1><p>{SENTENCE * 4}</p></main>", product(offers=offers))).text
    assert (f"- Price: {price}" in text) if price else ("Price:" not in text)


def test_a_list_of_products_and_a_review_are_no_shop_pages() -> None:
    several = product() + product(name="Kettle K1")
    assert "TX-200" not in read(page(f"<main><p>{SENTENCE * 4}</p></main>", several)).text
    review = product() + '<script type="application/ld+json">{"@type": "NewsArticle"}</script>'
    assert "TX-200" not in read(article("", review)).text


def test_links_are_absolute_once_and_of_the_web() -> None:
    links = (
        '<a href="b.html#part">1</a><a href="b.html">2</a><a href="/c?x=1&amp;y=ż">3</a><a href="#top">4</a>'
        '<a href="mailto:a@example.org">5</a><a href="javascript:x()">6</a><a href="//other.example/d">7</a>'
        '<a href="http://user:secret@example.org/">8</a><a href="http://[bad/">9</a>'
        '<a href="//user@example.org/">0</a>'
        '<a href=" https://ę.pl/ ">10</a>'
        "<map><area href='../e'></map><a>11</a><a href='ftp://example.org/f'>12</a>"
    )
    assert read(page(links)).links == (
        "https://example.org/a/b.html",
        "https://example.org/c?x=1&y=%C5%BC",
        "https://other.example/d",
        "https://xn--nea.pl/",
        "https://example.org/e",
    )
    based = page('<a href="b.html">1</a>', '<base target="_top"><base href="/deep/er/"><base href="/no/">')
    assert read(based).links == ("https://example.org/deep/er/b.html",)
    assert len(read(page("".join(f"<a href=/{n}>x</a>" for n in range(3000)))).links) == MOST_LINKS


@pytest.mark.parametrize(
    ("text", "language"),
    [
        *(
            (POLISH, "pl"),
            (SENTENCE, "en"),
            ("Die Preise für Brot stiegen im letzten Jahr um vier Prozent.", "de"),
        ),
        *(("中国人民银行宣布降低存款准备金率,以支持实体经济的发展。", "zh"), ("", None), ("OK", None)),
        *(("1234 5678 | 90", None), ("```\ndef f(x): return x + 1\nfor y in z: print(y)\n```", None)),
    ],
)
def test_the_language_is_the_texts_or_none(text: str, language: str | None) -> None:
    assert language_of_text(text) == language


def test_the_language_is_not_what_the_template_declares() -> None:
    html = article(f"<p>{POLISH * 5}</p>").replace(SENTENCE, POLISH).replace("<html>", '<html lang="en">')
    assert read(html).language == "pl"


def test_text_has_no_characters_that_cannot_be_kept() -> None:
    found = read(
        article(
            "<p>soft\u00adhyphen, zero\u200bwidth, nul\x00, e\u0301, \ud83d and more</p>".encode(
                "utf-8", "surrogatepass"
            ).decode("utf-8", "replace")
        )
    )
    assert "softhyphen, zerowidth, nul, é" in found.text
    found.model_dump_json()


@examples(60)
@given(
    st.lists(
        st.sampled_from(
            [
                *(
                    "<div>",
                    "</div>",
                    "<p>",
                    "<table>",
                    "<tr>",
                    "<td>x",
                    "</table>",
                    "<ul><li>",
                    "<pre>",
                    "<a href='x'>",
                ),
                *(
                    "text ",
                    "<br>",
                    "<h1>",
                    "<sup>2",
                    "</sup>",
                    "<article>",
                    "<div class='bbWrapper'>",
                    "<base href=':'>",
                ),
                *(
                    "<script type='application/ld+json'>{",
                    "</script>",
                    "&amp;&#0;&#x1F600;",
                    "<!--",
                    "-->",
                    "\x00",
                ),
                *(
                    '<script type="application/ld+json">[{"@type":["Product",3],"name":{"a":1}}]</script>',
                    "<",
                ),
            ]
        ),
        max_size=40,
    )
)
def test_any_soup_of_tags_is_read_or_refused(parts: list[str]) -> None:
    try:
        found = read("".join(parts), "https://forum.example.org/threads/1/")
    except DocumentUnreadable:
        return
    assert "\x00" not in found.text
