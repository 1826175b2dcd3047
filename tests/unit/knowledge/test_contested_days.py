"""A page's day where it holds others, or says it so that it can be read in two ways: its own, or none."""

import json

import pytest

from actors.systems.knowledge.parsing.main_text import read_html

TEXTS = {
    "en": "The council met on Tuesday and talked for three hours about the water supply of the town. ",
    "de": "Der Rat tagte am Dienstag und sprach drei Stunden lang über die Versorgung der Stadt mit Wasser. ",
    "pl": "Rada obradowała we wtorek przez trzy godziny i rozmawiała o tym, jak zaopatrzyć miasto w wodę. ",
}
URL = "https://example.org/water"


def day_of(body: str, *, head: str = "", url: str = URL, lang: str = "en") -> str | None:
    html = f"<html lang={lang}><head><title>Water</title>{head}</head><body>{body}</body></html>"
    return read_html(html.encode(), url=url, content_type="text/html; charset=utf-8").date


def article(top: str = "", end: str = "", lang: str = "en") -> str:
    text = f"<p>{TEXTS[lang] * 3}</p><p>{TEXTS[lang] * 3}</p>"
    return f"<nav><a href=/>Home</a></nav><main><article><h1>Water</h1>{top}{text}{end}</article></main>"


def ld(*nodes: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(node)}</script>' for node in nodes)


def meta(**named: str) -> str:
    return "".join(
        f'<meta property="{name.replace("__", ":")}" content="{value}">' for name, value in named.items()
    )


def news(day: object, **more: object) -> dict[str, object]:
    return {"@type": "NewsArticle", "datePublished": day} | more


APRIL = "2026-04-03"


@pytest.mark.parametrize(
    ("top", "lang", "day"),
    [
        # A number that is read in two ways.
        ("<p class=date>03/04/2026</p>", "en", None),
        ("<p class=date>03.04.2026</p>", "en", None),
        ("<p class=date>23/04/2026</p>", "en", "2026-04-23"),
        ("<p class=date>04/23/2026</p>", "en", "2026-04-23"),
        ("<p class=date>04/04/2026</p>", "en", "2026-04-04"),
        ("<p class=date>2026/04/03</p>", "en", APRIL),
        ("<p class=datum>03.04.2026</p>", "de", APRIL),
        ("<p class=data-publikacji>03.04.2026</p>", "pl", APRIL),
        ("<p class=date>03.04.26, 14:30 Uhr</p>", "de", None),
        # In words.
        ("<p class=date>April 3rd, 2026</p>", "en", APRIL),
        ("<p class=date>Friday, 3 April 2026, 14:30 BST</p>", "en", APRIL),
        ("<p class=datum>Freitag, 3. April 2026</p>", "de", APRIL),
        ("<p class=data>3 kwietnia 2026 r.</p>", "pl", APRIL),
        ("<p>Published on 3 April 2026 by Ann Example</p>", "en", APRIL),
        ("<p>Veröffentlicht am 3. April 2026 von Anna Beispiel</p>", "de", APRIL),
        ("<p>Opublikowano: 3 kwietnia 2026</p>", "pl", APRIL),
        ("<p class=byline>By Ann Example | 3 April 2026 | 5 min read</p>", "en", APRIL),
        ("<p class=byline>Berlin, 3. April 2026</p>", "de", APRIL),
        # Changes.
        ("<p class=date>Updated 5 April 2026</p>", "en", None),
        ("<p class=date>Last modified: 5 April 2026</p>", "en", None),
        ("<p class=date>Zuletzt aktualisiert: 05.04.2026</p>", "de", None),
        ("<p class=date>Stand: 5. April 2026</p>", "de", None),
        ("<p class=data>Zaktualizowano 5 kwietnia 2026</p>", "pl", None),
        ("<p class=date>Published 3 April 2026, updated 5 April 2026</p>", "en", APRIL),
        ("<p class=date>Published: 3 April 2026<br>Updated: 5 April 2026</p>", "en", APRIL),
        ("<p class=datum>3. April 2026, zuletzt aktualisiert am 5. April 2026</p>", "de", APRIL),
        ("<p class=data>Opublikowano 3.04.2026 | Aktualizacja 5.04.2026</p>", "pl", APRIL),
        ("<p>Updated <time datetime=2026-04-05>5 April</time></p>", "en", None),
        ("<p>Zaktualizowano: <time datetime=2026-04-05>5.04</time></p>", "pl", None),
        ("<dl><dt>Updated</dt><dd><time datetime=2026-04-05>5 April</time></dd></dl>", "en", None),
        ("<div><span>Aktualisiert</span> <time datetime=2026-04-05>5. April</time></div>", "de", None),
        ("<p><time datetime=2026-04-05>5 April 2026</time> (last updated)</p>", "en", None),
        ("<dl><dt>Published</dt><dd><time datetime=2026-04-03>3 April</time></dd>"
         "<dt>Reviewed</dt><dd><time datetime=2026-04-05>5 April</time></dd></dl>", "en", APRIL),
        # What happens, or ends, on a day.
        ("<p>Opens <time datetime=2026-04-05>5 April</time> at the town hall</p>", "en", None),
        ("<p class=date>Termin: 5. April 2026</p>", "de", None),
        ("<p class=date>Deadline: 5 April 2026</p>", "en", None),
        ("<p class=data>Termin składania ofert: 5 kwietnia 2026</p>", "pl", None),
        ("<p class=date>Valid until 5 April 2026</p>", "en", None),
        ("<p itemscope itemtype='https://schema.org/Event'>"
         "<time itemprop=startDate datetime=2026-04-05>5 April</time></p>", "en", None),
        ("<p class=date>3 April 2026 to 5 April 2026</p>", "en", None),
        ("<p class=date>16.03.2026 - 05.04.2026</p>", "de", None),
        ("<p class=date>3–5 April 2026</p>", "en", None),
        ("<p class=date>3. bis 5. April 2026</p>", "de", None),
        ("<p class=date>Konzert am 3. April 2026</p>", "de", None),
        ("<p class=date>Photo taken 3 April 2026</p>", "en", None),
        ("<p class=date>Z dnia 3 kwietnia 2026</p>", "pl", None),
        ("<ul class=meta><li>Updated</li><li><time datetime=2026-04-05>5 April</time></li></ul>", "en", None),
        ("<div><a href=/ann>Ann Example</a> <time datetime=2026-04-03>3 April</time></div>", "en", APRIL),
        ("<p>Posted on <a href=/water><time class='entry-date published updated' datetime=2026-04-03>"
         "3 April 2026</time></a> by <a href=/u>admin</a></p>", "en", APRIL),
        # None.
        ("<p class=date>yesterday</p>", "en", None),
        ("<p class=date>vor 3 Tagen</p>", "de", None),
        ("<time datetime=1775001600>last week</time>", "en", None),
        ("<time datetime='1970-01-01T00:00:00Z'>1 January 1970</time>", "en", None),
        ("<p class=date>5 April 2099</p>", "en", None),
        ("<p class=date>31 June 2026</p>", "en", None),
        ("<p class=date>2025/26</p>", "en", None),
        # The sign and the word disagree.
        ("<time datetime=2026-05-20>12 March 2026</time>", "en", None),
    ],
)  # fmt: skip
def test_what_stands_with_the_headline(top: str, lang: str, day: str | None) -> None:
    assert day_of(article(top, lang=lang), lang=lang) == day


@pytest.mark.parametrize(
    ("end", "lang"),
    [
        ("<p>The works open on <time datetime=2026-04-05>5 April</time>.</p>", "en"),
        (f"<p>{TEXTS['en']}It ends on <time datetime=2026-04-05>5 April</time>.</p>", "en"),
        ("<section id=komentarze><p>Jan <time datetime=2026-04-05>5.04</time> Racja.</p></section>", "pl"),
        ("<div class=kommentare><p>Jan <time datetime=2026-04-05>5.4.</time> Genau.</p></div>", "de"),
        ("<h2>Comments (1)</h2><div><b>Bob</b> <time datetime=2026-04-05>5 April</time></div>", "en"),
        ("<h2>Reader comments</h2><div><time datetime=2026-04-05>5 April</time><p>So true.</p></div>", "en"),
        ("<h3>Mehr zum Thema</h3><div><time datetime=2019-01-01>1.1.2019</time></div>", "de"),
        ("<h2>Czytaj także</h2><div><time datetime=2019-01-01>1.01.2019</time></div>", "pl"),
        ("<h2>Kommentare</h2><div><b>Bob</b> <time datetime=2026-04-05>5. April</time></div>", "de"),
        ("<div class=verwandte-artikel><a href=/z>Alt</a> <time datetime=2019-01-01>1.1.</time></div>", "de"),
        ("<div class=powiazane><a href=/z>Stare</a> <time datetime=2019-01-01>1.1</time></div>", "pl"),
        ("<ul><li><a href=/z>What the council did about the bridge last year</a>"
         " <time datetime=2019-01-01>1 Jan 2019</time></li></ul>", "en"),
        ("<div><h3><a href=/z>What the council did last year</a></h3>"
         "<time datetime=2019-01-01>1 Jan 2019</time></div>", "en"),
        ("<p>© 2019 Example. <time datetime=2019-01-01>2019</time></p>", "en"),
        ("<div itemscope itemtype='https://schema.org/Comment'>"
         "<time itemprop=datePublished datetime=2026-04-05>5 April</time></div>", "en"),
        ("<p class=date>Archived from the original on 5 April 2026</p>", "en"),
    ],
)  # fmt: skip
def test_what_stands_behind_the_text(end: str, lang: str) -> None:
    assert day_of(article(end=end, lang=lang), lang=lang) is None
    own = "<p class=date>2026-03-30</p>"
    assert day_of(article(own, end=end, lang=lang), lang=lang) == "2026-03-30"


@pytest.mark.parametrize(
    ("head", "day"),
    [
        # Articles, of which some are others.
        (ld(news("2019-01-01", url="https://example.org/old")), None),
        (ld(news("2019-01-01", mainEntityOfPage="https://example.org/old")), None),
        (ld(news(APRIL, url="http://www.example.org/water/?utm_source=x")), APRIL),
        (ld(news(APRIL, headline="Water"), news("2019-01-01", headline="Fire")), APRIL),
        (ld(news(APRIL), news("2019-01-01")), None),
        (ld({"@graph": [news("2019-01-01", url="https://example.org/old"), news(APRIL, url=URL)]}), APRIL),
        # Other time zones near midnight.
        (ld(news("2026-03-31T23:30:00-05:00")), "2026-03-31"),
        (ld(news("2026-03-31T23:30:00-05:00")) + meta(article__published_time="2026-04-01T04:30:00Z"),
         "2026-03-31"),
        (ld(news("2026-04-01T04:30:00Z")), "2026-04-01"),
        # What contradicts.
        (ld(news("2026-05-20")) + meta(article__published_time="2026-04-01T10:00:00Z"), None),
        (meta(article__published_time="2026-05-20", date="2026-04-01"), None),
        (meta(article__published_time="2026-05-20", date="20 May 2026"), "2026-05-20"),
        (ld(news(APRIL, dateModified="2026-05-20")) + meta(article__modified_time="2026-05-20"), APRIL),
        # As people write it.
        (meta(date="03/04/2026"), None),
        (meta(date="03/04/2026") + ld(news("2026-03-04")), "2026-03-04"),
        (meta(pubdate="Fri, 03 Apr 2026 10:00:00 GMT"), APRIL),
        (meta(pubdate="20260403"), APRIL),
        (meta(pubdate="1775001600"), None),
        (ld(news(1775001600)), None),
        (ld(news("2099-04-03")), None),
        (ld({"@type": "WebPage", "datePublished": "2010-01-01", "url": "https://example.org/"}), None),
        (meta(dcterms__modified="2026-05-20", expires="2026-05-21", DC__date__valid="2026-05-22"), None),
    ],
)  # fmt: skip
def test_what_it_tells_machines(head: str, day: str | None) -> None:
    assert day_of(article(), head=head) == day


@pytest.mark.parametrize(
    ("body", "head", "url", "day"),
    [
        (article(), ld(news("2026-05-20")), "https://example.org/2019/01/01/water", None),
        (article(), ld(news("2026-05-20")), "https://example.org/2026/05/20/water", "2026-05-20"),
        (article(), ld(news("2026-05-21T01:30:00Z")), "https://example.org/2026/05/20/water", "2026-05-20"),
        (article("<p class=date>3 April 2026</p>"), ld(news("2026-05-20")), URL, None),
        # The day that is shown is that of a change.
        (article("<time datetime=2026-05-22>22 May</time>"),
         ld(news("2026-05-20", dateModified="2026-05-22T10:00:00Z")), URL, "2026-05-20"),
        (article("<p class=date>03/04/2026</p>"), ld(news("2026-04-03")), URL, APRIL),
        # Behind a banner of an archive.
        (f"<div id=wm-ipp-base><time datetime=2019-05-04>4 May 2019</time></div>{article()}", "",
         "https://web.archive.org/web/20190504123456/https://example.org/water", None),
        (article("<div id=wm-ipp><p class=date>4 May 2019</p></div><p class=date>3 April 2018</p>"), "",
         "https://web.archive.org/web/20190504123456/https://example.org/water", "2018-04-03"),
        (article(), ld(news("2018-04-03", url=URL)),
         "https://web.archive.org/web/20190504123456/https://example.org/water", "2018-04-03"),
    ],
)  # fmt: skip
def test_what_several_places_say(body: str, head: str, url: str, day: str | None) -> None:
    assert day_of(body, head=head, url=url) == day


def test_a_page_of_days_is_read_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "actors.platform.text.numbers.written_days.dateparser.parse",
        lambda told, **_: asked.append(told),
    )
    assert day_of(article("<time>3 April 2026</time> " * 5_000)) is None
    assert 0 < len(asked) <= 400
