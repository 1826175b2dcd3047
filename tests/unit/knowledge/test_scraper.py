"""Which engine a page takes: the first that has its text, and no browser for what a browser can't mend."""

from datetime import UTC, datetime

import pytest

from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.parsing.page_reading import PageReading, UnreadablePage
from actors.systems.knowledge.parsing.page_signs import PageSigns, page_signs
from actors.systems.knowledge.scraping.scraper import Scraper
from models.errors import BrowserUnavailable, PageFailed, SignoffError
from models.knowledge.pages import Engine, EngineChoice, PageFault, PageText, ScrapedPage
from models.knowledge.reach import PageReach

LONG = "The mill turns when the river is high, and rests when it is not. " * 12
URL = "https://example.com/a"
SHELL = (
    "<html><head><title>Shop</title><script src=a.js></script></head><body><div id=root></div></body></html>"
)


class Site:
    """What an engine meets: an answer, or a failure."""

    def __init__(self, engine: Engine, *answers: tuple[int, str, str] | SignoffError, at: str = URL) -> None:
        self.engine, self.answers, self.at = engine, list(answers), at
        self.asked: list[str] = []

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        self.asked.append(url)
        answer = self.answers.pop(0)
        if isinstance(answer, SignoffError):
            raise answer
        status, html, text = answer
        headers = {"content-type": "text/html", "text": text}
        return FetchedPage(self.at, self.engine, status, headers, html.encode(), datetime.now(UTC))


class Reader:
    """Reads the text that the answer is said to hold."""

    async def read(self, page: FetchedPage) -> PageReading:
        text = page.headers["text"]
        if text == "unreadable":
            raise UnreadablePage("it can't be read", fault="unreadable")
        signs: PageSigns = page_signs(page.body)
        page_text = PageText(text=text, title=None, author=None, date=None, language=None, links=())
        return PageReading(page=page_text, redacted={}, signs=signs)


async def scraped(http: Site, browser: Site | None = None, firecrawl: Site | None = None) -> ScrapedPage:
    return await Scraper(http=http, reader=Reader(), browser=browser, firecrawl=firecrawl).scrape(URL)


def html(body: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body>{body}</body></html>"


async def test_a_page_with_its_text_in_the_html_takes_no_browser() -> None:
    browser = Site("browser")
    page = await scraped(Site("http", (200, html(f"<script></script><p>{LONG}"), LONG)), browser)
    assert (page.engine, page.fault, page.page and page.page.text, browser.asked) == ("http", None, LONG, [])


async def test_a_shell_is_shown_by_the_browser() -> None:
    page = await scraped(Site("http", (200, SHELL, "")), Site("browser", (200, html(LONG), LONG)))
    assert (page.engine, page.page and page.page.text, page.needs_browser) == ("browser", LONG, False)


async def test_what_the_browser_says_no_more_of_stays_as_it_was() -> None:
    notice = "The library is closed on Friday."
    answer = (200, html(f"<script></script><p>{notice}"), notice)
    page = await scraped(Site("http", answer), Site("browser", answer))
    assert (page.engine, page.page and page.page.text) == ("http", notice)


@pytest.mark.parametrize(
    ("status", "body", "text", "fault", "browsed"),
    [
        (404, html("Not here"), "", "not_found", False),
        (410, html(LONG), LONG, "not_found", False),
        (401, html("Log in"), "", "login", False),
        (451, html("No"), "", "forbidden", False),
        (500, html("Oops"), "", "http_error", False),
        (503, html("Maintenance"), "", "later", False),
        (200, html("", "<title>Page not found</title>"), "Page not found.", "not_found", False),
        (200, html("<form><input type=password>", "<title>Log in</title>"), "Log in", "login", False),
        (403, html("Forbidden"), "", "forbidden", True),
        (
            403,
            html("<script src=/cdn-cgi/challenge-platform/x></script>Just a moment..."),
            "",
            "challenge",
            True,
        ),
        (200, html("Just a moment... Checking your browser"), "Just a moment...", "challenge", True),
        (429, html("Slow down"), "", "later", True),
        (200, html("<script>x()</script>"), "", "no_text", True),
    ],
)
async def test_each_fault_is_named_and_a_browser_asked_only_where_it_may_help(
    status: int, body: str, text: str, fault: PageFault, browsed: bool
) -> None:
    browser = Site("browser", (status, body, text))
    page = await scraped(Site("http", (status, body, text)), browser)
    assert (page.fault, bool(browser.asked), page.page) == (fault, browsed, None)
    alone = await scraped(Site("http", (status, body, text)))
    assert (alone.fault, alone.needs_browser) == (fault, False)


async def test_where_the_browser_fails_what_the_page_said_is_told() -> None:
    gone = PageFailed("no Chromium", fault="unreachable")
    page = await scraped(Site("http", (403, html("Forbidden"), "")), Site("browser", gone))
    assert (page.fault, page.status) == ("forbidden", 403)


async def test_without_a_browser_what_http_had_stays() -> None:
    none = BrowserUnavailable("no Chromium on this node")
    notice = (200, html("<script></script><p>Closed."), "The library is closed on Friday.")
    page = await scraped(Site("http", notice), Site("browser", none))
    assert (page.engine, page.fault, page.page and page.page.text) == ("http", None, notice[2])
    page = await scraped(Site("http", (200, SHELL, "")), Site("browser", none))
    assert (page.fault, page.needs_browser) == ("no_text", False)
    assert page.reason is not None
    assert page.reason.endswith("no Chromium on this node")
    page = await scraped(Site("http", (200, SHELL, "")), Site("browser", none), Site("firecrawl", notice))
    assert page.engine == "firecrawl"
    with pytest.raises(BrowserUnavailable):
        await Scraper(http=Site("http"), reader=Reader(), browser=Site("browser", none)).scrape(
            URL, "browser"
        )


async def test_firecrawl_is_the_last_that_is_asked() -> None:
    wall = (200, html("Just a moment..."), "")
    firecrawl = Site("firecrawl", (200, html(LONG), LONG))
    page = await scraped(Site("http", wall), Site("browser", wall), firecrawl)
    assert (page.engine, page.fault, firecrawl.asked) == ("firecrawl", None, [URL])


async def test_a_page_that_only_leads_on_is_followed() -> None:
    leads = html("", '<meta http-equiv="refresh" content="0; url=/b">')
    http = Site("http", (200, leads, ""), (200, html(LONG), LONG))
    assert (await scraped(http)).page is not None
    assert http.asked == [URL, "https://example.com/b"]


async def test_a_page_that_leads_inside_is_refused() -> None:
    leads = html("", '<meta http-equiv="refresh" content="0; url=http://127.0.0.1/">')
    page = await scraped(Site("http", (200, leads, "")))
    assert page.fault == "refused_by_guard"


async def test_what_cannot_be_read_is_a_fault_and_a_status_goes_first() -> None:
    assert (await scraped(Site("http", (200, "x", "unreadable")))).fault == "unreadable"
    assert (await scraped(Site("http", (404, "x", "unreadable")))).fault == "not_found"
    assert (await scraped(Site("http", PageFailed("no", fault="timeout")))).fault == "timeout"
    assert (await Scraper(http=Site("http"), reader=Reader()).scrape("ftp://x")).fault == "bad_url"


async def test_the_little_that_scripts_have_made_is_kept() -> None:
    """The page still says what it says to those without scripts."""
    shell = "<div id=root>{}</div><noscript>Please enable JavaScript.</noscript><script>x()</script>"
    said = "Prom kursuje od kwietnia do października. Rejs trwa siedem minut, a bilet kosztuje sześć złotych."
    browser = Site("browser", (200, html(shell.format(said)), said))
    page = await scraped(Site("http", (200, html(shell.format("")), "")), browser)
    assert (page.engine, page.fault) == ("browser", None)
    assert page.page is not None
    assert page.page.text == said


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("Loading", True),
        ("Loading…", True),
        ("Loading the article...", True),
        ("Proszę czekać.", True),
        ("加载中...", True),
        ("Loading and saving", False),
        ("Loading logging configuration", False),
        ("Chargement des fichiers en Python", False),
    ],
)
def test_a_heading_about_loading_waits_for_nothing(said: str, waits: bool) -> None:
    assert page_signs(f"<body><p>{said}</p></body>").placeholders == waits


ABOUT_404 = "A 404 is an answer. The server was reached, and has nothing stored under the address. " * 6
COOKIES = (
    "Ein Cookie ist eine kleine Datei. Zwei Cookies setzen wir: für die Zustimmung und für die Werbung. "
    "Sie können Cookies ablehnen oder akzeptieren, und der Datenschutz gilt. " * 3
)


@pytest.mark.parametrize(
    ("page", "said", "fault"),
    [
        ("<h1>404 Not Found: what the error means and how to fix it</h1>", ABOUT_404, None),
        ("<h1>Sorry, page not found</h1>", ABOUT_404, "not_found"),
        ("<title>Page not found | The Shop</title>", ABOUT_404, "not_found"),
        ("<h1>Cookie-Richtlinie (EU)</h1>", COOKIES, None),
        ("<h1>Cookies akzeptieren</h1><button>Akzeptieren und weiter</button>", COOKIES, "consent"),
        ("<h1>Cookies akzeptieren oder nicht?</h1>", COOKIES, None),
        ("<h1>Log in to your account</h1>", "<p>Enter your card's number and your code.</p>", "login"),
        ("<h1>How to log in at the terminals of our library</h1>", "<p>Ask at the desk.</p>", None),
    ],
)
async def test_a_text_about_a_wall_is_no_wall(page: str, said: str, fault: str | None) -> None:
    found = await scraped(Site("http", (200, html(f"{page}<p>{said}</p>"), said)))
    assert found.fault == fault


@pytest.mark.parametrize(
    "sign",
    ['<div class="x-paywall">{}</div>', '<p>{}</p><script>{{"isAccessibleForFree": "False"}}</script>'],
)
async def test_a_teaser_before_a_paywall_is_no_article(sign: str) -> None:
    said = "In der Halle riecht es nach Farbe und heissem Stahl. " * 12
    offer = "Weiterlesen mit K+. Dieser Artikel ist exklusiv. Hier anmelden."
    body = html(f"<p>{said}</p>{sign.format(offer)}")
    found = await scraped(Site("http", (200, body, f"{said} {offer}")))
    assert found.fault == "login"
    long = said * 4
    kept = await scraped(Site("http", (200, html(f"<p>{long}</p>{sign.format(offer)}"), long)))
    assert kept.fault is None


@pytest.mark.parametrize(
    ("place", "asked"), [('<div id="art-body">', True), ('<div id="div-gpt-ad-1">', False)]
)
async def test_a_browser_is_asked_for_a_place_that_stands_empty(place: str, asked: bool) -> None:
    lead = "Naukowcy spierają się, po co śpimy."
    page = html(f"<p>{lead}</p>{place}</div><p>{LONG[:600]}</p><script>x()</script>")
    browser = Site("browser", (200, html(LONG), LONG))
    found = await scraped(Site("http", (200, page, lead)), browser)
    assert found.engine == ("browser" if asked else "http")


ELSEWHERE = "https://elsewhere.test/"


async def within(*engines: Site, engine: EngineChoice = "auto", url: str = URL) -> ScrapedPage:
    sites = {site.engine: site for site in engines}
    scraper = Scraper(
        http=sites["http"], reader=Reader(), browser=sites.get("browser"), firecrawl=sites.get("firecrawl")
    )
    return await scraper.scrape(url, engine, PageReach.of([URL]))


async def test_a_refresh_beyond_what_was_approved_is_not_followed() -> None:
    http = Site("http", (200, html("", f'<meta http-equiv="refresh" content="0; url={ELSEWHERE}">'), ""))
    page = await within(http)
    assert (page.fault, http.asked) == ("other_host", [URL])


async def test_a_page_that_nobody_approved_is_not_asked_for() -> None:
    http = Site("http")
    page = await within(http, url=ELSEWHERE)
    assert (page.fault, http.asked) == ("other_host", [])


async def test_firecrawl_is_not_asked_where_it_matters_how_far_a_page_leads() -> None:
    shell = (200, html("<div id=root></div><script src=/a.js></script>"), "")
    firecrawl = Site("firecrawl")
    page = await within(Site("http", shell), Site("browser", shell), firecrawl)
    assert (page.fault, firecrawl.asked) == ("no_text", [])
