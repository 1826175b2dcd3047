"""Whose words a page holds: quotations with names behind them, comments of readers, an article's own."""

import pytest

from actors.platform.extractive.quotable import quotable
from actors.platform.text.language import Language, language_of
from actors.systems.knowledge.parsing.main_text import read_html
from models.knowledge.pages import PageText

OWN: dict[Language, tuple[str, ...]] = {
    "en": (
        "The harbour council met on Monday in the old customs house.",
        "The new quay will cost 40 million euros over six years.",
        "Builders will begin on the northern mole in the spring of next year.",
        "Ferry traffic to the islands rose by nine percent in the last season.",
    ),
    "de": (
        "Der Hafenrat tagte am Montag im alten Zollhaus der Stadt.",
        "Der neue Kai kostet in sechs Jahren rund 40 Millionen Euro.",
        "Die Bauarbeiten an der Nordmole beginnen im nächsten Frühjahr.",
        "Der Fährverkehr zu den Inseln stieg in der letzten Saison um neun Prozent.",
    ),
    "pl": (
        "Rada portu zebrała się w poniedziałek w starym urzędzie celnym.",
        "Nowe nabrzeże będzie kosztować 40 milionów euro w ciągu sześciu lat.",
        "Budowa północnego falochronu rozpocznie się wiosną przyszłego roku.",
        "Ruch promowy na wyspy wzrósł w ostatnim sezonie o dziewięć procent.",
    ),
}
THEIRS: dict[Language, str] = {
    "en": "The dredging has killed the whole herring stock of the bay.",
    "de": "Die Baggerarbeiten haben den gesamten Heringsbestand der Bucht vernichtet.",
    "pl": "Pogłębianie toru zniszczyło całe stado śledzi w tej zatoce.",
}
AUTHOR: dict[Language, str] = {"en": "quote-author", "de": "zitat-autor", "pl": "autor-cytatu"}
QUOTE: dict[Language, str] = {"en": "pull-quote-box", "de": "zitat", "pl": "cytat"}
BY: dict[Language, str] = {"en": "By Mia Holm", "de": "Von Mia Holm", "pl": "Autor: Mia Holm"}
COMMENTS: dict[Language, tuple[str, ...]] = {
    "en": ("comments", "comment-list", "readerComments", "user-comments", "respond"),
    "de": ("kommentare", "leserkommentare", "kommentar-bereich", "leserKommentare", "kommentarliste"),
    "pl": ("komentarze", "lista-komentarzy", "opinie", "komentarzeCzytelnikow", "sekcja_komentarzy"),
}
OPINION: dict[Language, str] = {"en": "Comment", "de": "Kommentar", "pl": "Komentarz"}
LANGUAGES: list[Language] = ["en", "de", "pl"]
QUOTATIONS = [
    "<figure><blockquote><p>{0}</p></blockquote><figcaption>Mia Holm</figcaption></figure>",
    "<figure><img src=a.png alt=''><blockquote>{0}</blockquote><figcaption>Mia Holm</figcaption></figure>",
    "<figure class=testimonial><p>{0}</p><figcaption>Mia Holm, fishing</figcaption></figure>",
    "<figure><p>{0}</p><figcaption>Mia Holm</figcaption></figure>",
    "<blockquote>{0} <cite>Mia Holm</cite></blockquote>",
    "<blockquote><p>{0}</p></blockquote><p class={author}>Mia Holm</p>",
    "<blockquote><p>{0}</p></blockquote><cite>Mia Holm</cite>",
    "<div><p>{0}</p><cite>Mia Holm</cite></div>",
    "<div class=box><p>{0}</p><p>{0}</p><p class={author}>Mia Holm</p></div>",
    "<li><p>{0}</p><div class={author}>Mia Holm</div></li>",
    "<div class=testimonial><p>{0}</p></div>",
    "<div class='{quote}'><p>{0}</p><p><small>Mia Holm</small></p></div>",
    "<p class='{quote}'>{0}</p>",
    "<p>{0}</p><p class={author}>Mia Holm</p>",
    "<div class=box><p>{0}</p><p class={author}>Mia Holm</p><p class=role>Fishing</p></div>",
    "<ul class=testimonials><li><p>{0}</p><b>Mia Holm</b></li><li><p>{0}</p><b>Bob Ford</b></li></ul>",
    "<div itemscope itemtype='https://schema.org/Review'><p>{0}</p><p itemprop=author>Mia Holm</p></div>",
    "<article itemscope itemtype='https://schema.org/Comment'><p>{0}</p></article>",
    "<p>{0}</p><p>— Mia Holm, fishing</p>",
    "<p>{0}<br>– <b>Mia Holm</b></p>",
]


def _read(html: str) -> PageText:
    return read_html(html.encode(), url="https://example.org/a", content_type="text/html; charset=utf-8")


def _page(language: Language, inside: str, *, behind: str = "", title: str = "<h1>A title</h1>") -> PageText:
    own = "".join(f"<p>{one}</p>" for one in OWN[language][:3])
    last = f"<p>{OWN[language][3]}</p>"
    return _read(
        f"<html lang={language}><body><nav><a href=/>Home</a></nav><main><article>{title}{own}{inside}{last}"
        f"</article>{behind}</main><footer>Imprint</footer></body></html>"
    )


def _offered(page: PageText) -> tuple[str, ...]:
    return tuple(one.text for one in quotable(page.text, language_of(page.text)))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", QUOTATIONS)
def test_what_a_name_stands_behind_is_not_the_page_s_own(form: str, language: Language) -> None:
    said = form.format(THEIRS[language], author=AUTHOR[language], quote=QUOTE[language])
    assert _offered(_page(language, said)) == OWN[language]


@pytest.mark.parametrize("behind", ["<p class=author>Mia Holm</p>", "<cite>Mia Holm</cite>"])
def test_the_name_behind_a_block_quotation_is_kept_with_it(behind: str) -> None:
    page = _page("en", f"<blockquote><p>{THEIRS['en']}</p></blockquote>{behind}")
    assert f"> {THEIRS['en']}\n> — Mia Holm" in page.text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "form",
    [
        "{title}<p class=author>Mia Holm</p>{text}",
        "{title}<p>{first}</p><p class=author>Mia Holm</p>{rest}",
        "{title}<p>{first}</p><p class={author}>{by}</p>{rest}",
        "{title}{text}<p class=author>{by}</p><p>{first}</p>",
        "{title}{text}<p class=author>Mia Holm</p>",
        "<div class=entry>{title}{text}<p class=author>Mia Holm</p></div>",
        "{title}<div class=entry>{text}<p class=author>Mia Holm</p></div>",
        "<div class='quotes-page quote'>{title}{text}</div>",
        "{title}<div class=quote>{text}</div>",
        "{title}{text}<figure><p>{first}</p><figcaption>The quay from the sea.</figcaption></figure>",
        "{title}<p>{first}</p><figure><input><div>{rest}</div><figcaption>A form</figcaption></figure>",
        "{title}{text}<figure><img src=a.png alt=Quay><figcaption>Mia Holm</figcaption></figure>",
    ],
)
def test_who_wrote_an_article_takes_nothing_away_from_it(form: str, language: Language) -> None:
    paragraphs = [f"<p>{one}</p>" for one in OWN[language]]
    inside = form.format(
        title="<h1>A title</h1>",
        text="".join(paragraphs),
        first=OWN[language][0],
        rest="".join(paragraphs[1:]),
        author=AUTHOR[language],
        by=BY[language],
    )
    offered = _offered(_read(f"<html><body><main><article>{inside}</article></main></body></html>"))
    assert offered[: len(OWN[language])] == OWN[language]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "form",
    [
        "<section {0}='{1}'><div><b>fish77</b><p>{2}</p></div></section>",
        "<div {0}='{1}'><p>{2}</p><p>{2}</p></div>",
        "<ol {0}='{1}'><li><p>{2}</p></li></ol>",
        "<article {0}='{1}'>{2}</article>",
    ],
)
@pytest.mark.parametrize("name", ["class", "id"])
def test_comments_of_readers_are_left_out_and_counted(name: str, form: str, language: Language) -> None:
    for called in COMMENTS[language]:
        comments = form.format(name, called, THEIRS[language])
        for page in (_page(language, "", behind=comments), _page(language, comments)):
            assert _offered(page) == OWN[language]
            assert THEIRS[language] not in page.text
            assert page.coverage is not None
            assert THEIRS[language] in page.coverage.left_out
    short = _read(f"<body><h1>A title</h1><p>{OWN[language][0]}</p>{comments}</body>")
    assert short.text == f"# A title\n\n{OWN[language][0]}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_under_a_heading_are_not_the_page_s_own(language: Language) -> None:
    heading = {"en": "3 Comments", "de": "Kommentare (3)", "pl": "Komentarze (3)"}[language]
    comments = f"<h3>{heading}</h3><div><p><b>fish77</b></p><p>{THEIRS[language]}</p></div>"
    assert _offered(_page(language, f"<p>{OWN[language][3]}</p>", behind=comments))[:4] == OWN[language]
    assert THEIRS[language] not in _offered(_page(language, "", behind=comments))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "form",
    [
        "<body class='{0}'><main><article class='{0}'><h1>A title</h1>{1}</article></main></body>",
        "<body><main id='{0}'><p>{2}</p><h1>A title</h1>{1}</main></body>",
        "<body><main><article><h1>{2}: a title</h1>{1}</article></main></body>",
        "<body><main><article><h2>{2}</h2><h1>A title</h1>{1}</article></main></body>",
        "<body><div class='{0}'><h2>A title</h2>{1}</div></body>",
        "<body><article class='post category-{0} comments-open'><h1>A title</h1>{1}</article></body>",
    ],
)
def test_an_opinion_that_is_called_a_comment_is_an_article(form: str, language: Language) -> None:
    text = "".join(f"<p>{one}</p>" for one in OWN[language])
    for called in (OPINION[language].lower(), *COMMENTS[language]):
        assert (
            _offered(_read(f"<html>{form.format(called, text, OPINION[language])}</html>")) == OWN[language]
        )


def test_a_section_that_discusses_is_the_text_s_own() -> None:
    said = f"<section id=discussion class=discussion><h2>Discussion</h2><p>{OWN['en'][3]}</p></section>"
    assert OWN["en"][3] in _offered(_page("en", "", behind=said))


@pytest.mark.parametrize(("language", "called"), [("de", "kommentar"), ("pl", "komentarz"), ("pl", "opinie")])
def test_an_opinion_without_a_title_of_its_own_is_the_text(language: Language, called: str) -> None:
    text = "".join(f"<p>{one}</p>" for one in OWN[language])
    intro = "<div><p>Section, 3 November 2026, the paper's number 34</p></div>"
    page = _read(f"<html><body>{intro}<div class={called}><h2>A</h2>{text}</div></body></html>")
    assert _offered(page) == OWN[language]
