"""Sitemaps: the addresses in one, however it is written, and those of the sitemaps that it names."""

import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.web.politeness.host_turns import HostTurn
from actors.systems.knowledge.fetching import sitemap as sitemap_module
from actors.systems.knowledge.fetching import sitemap_walk
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.fetching.sitemap import (
    MOST_BYTES,
    MOST_URLS,
    NotASitemap,
    Sitemap,
    _mended,
    read_sitemap,
)
from actors.systems.knowledge.fetching.sitemap_walk import SitemapPages, pages_of_sitemap
from models.config import Config
from models.errors import InputInvalid, PageFailed
from pipelines.sitemap_rows import sitemap_rows
from tests.fakes.outside.page_site import Answer, PageSite, serving

XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"
XML = {"content-type": "application/xml"}
ROOT = "https://example.com/sitemap.xml"


def urlset(*urls: str) -> bytes:
    inside = "".join(f"<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{XMLNS}">{inside}</urlset>'.encode()


def index(*urls: str) -> bytes:
    inside = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex xmlns="{XMLNS}">{inside}</sitemapindex>'.encode()


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        (urlset("http://e.com/a", " http://e.com/b\n"), ("http://e.com/a", "http://e.com/b")),
        (gzip.compress(urlset("http://e.com/a"), mtime=0), ("http://e.com/a",)),
        (b"\xef\xbb\xbf\n " + urlset("http://e.com/a"), ("http://e.com/a",)),
        (
            urlset("http://e.com/?a&amp;b").decode().replace("UTF-8", "UTF-16").encode("utf-16"),
            ("http://e.com/?a&b",),
        ),
        (urlset("http://e.com/?a=1&amp;b=&#50;&#x33;"), ("http://e.com/?a=1&b=23",)),
        # As many write it, where XML has `&amp;`.
        (urlset("http://e.com/?a=1&b=2&copy=3"), ("http://e.com/?a=1&b=2&copy=3",)),
        (
            urlset("<![CDATA[http://e.com/?a&b&amp;c]]>", "http://e.com/?d&e"),
            ("http://e.com/?a&b&amp;c", "http://e.com/?d&e"),
        ),
        (
            b'<s:urlset xmlns:s="x"><s:url><s:loc>http://e.com/</s:loc></s:url></s:urlset>',
            ("http://e.com/",),
        ),
        (b"<urlset><url><loc>http://e.com/</loc></url></urlset>", ("http://e.com/",)),
        (b"http://e.com/a\r\n\r\n https://e.com/b \n", ("http://e.com/a", "https://e.com/b")),
        (urlset("http://e.com/a", "", "ftp://e.com/"), ("http://e.com/a", "ftp://e.com/")),
    ],
)
def test_addresses_are_read_however_a_sitemap_is_written(body: bytes, urls: tuple[str, ...]) -> None:
    assert read_sitemap(body) == Sitemap(urls=urls)


def test_an_index_names_other_sitemaps_and_no_pages() -> None:
    assert read_sitemap(index("http://e.com/1.xml", "http://e.com/2.xml.gz")) == Sitemap(
        sitemaps=("http://e.com/1.xml", "http://e.com/2.xml.gz")
    )


def test_nothing_but_the_pages_own_address_is_taken() -> None:
    body = (
        b'<urlset xmlns:image="i" xmlns:xhtml="x"><loc>http://no/1</loc><url><loc>http://e.com/</loc>'
        b"<image:loc>http://no/2</image:loc><image:image><image:loc>http://no/3</image:loc></image:image>"
        b"<news:loc>http://no/4</news:loc><video><loc>http://no/5</loc></video>"
        b'<xhtml:link rel="alternate" href="http://no/6"/></url><!-- <url><loc>http://no/7</loc></url> -->'
        b"<sitemap><loc>http://no/8</loc></sitemap></urlset>"
    )
    assert read_sitemap(body) == Sitemap(urls=("http://e.com/",))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "neither XML nor a list"),
        (b"%PDF-1.7", "neither XML nor a list"),
        (b"<rss><channel/></rss>", "but rss"),
        (b"<html><body>404</body></html>", "but html"),
        (b"<!doctype html><html></html>", "no sitemap does|breaks off"),
        (b"\x1f\x8bno", "can't be unpacked"),
        (gzip.compress(urlset(), mtime=0)[:-9], "can't be unpacked"),
        (gzip.compress(b"<urlset>", mtime=0)[:10] + b"\xff" * 40, "can't be unpacked"),
        (b"<!-- nothing", "breaks off"),
        (b'<?xml version="1.0" encoding="nobodys"?><urlset/>', "unknown encoding"),
    ],
)
def test_what_is_no_sitemap_is_told_by_what_it_is(body: bytes, told: str) -> None:
    with pytest.raises(NotASitemap, match=told):
        read_sitemap(body)


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "http://e.com/">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % d SYSTEM "http://127.0.0.1:9/d.dtd"> %d;',
        '<!ENTITY b "xxxxxxxxxx"><!ENTITY a "&b;&b;&b;&b;&b;">',
    ],
)
def test_a_document_type_is_refused_whatever_it_declares(declared: str) -> None:
    body = f"<!DOCTYPE urlset [{declared}]><urlset><url><loc>&a;</loc></url></urlset>".encode()
    with pytest.raises(NotASitemap, match="declares a document type"):
        read_sitemap(body)
    with pytest.raises(NotASitemap, match="declares a document type"):
        read_sitemap(b'<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/d.dtd"><urlset/>')


def test_what_stands_before_a_break_is_taken_and_the_break_is_told() -> None:
    found = read_sitemap(urlset("http://e.com/a", "http://e.com/b")[:-25])
    assert found.urls == ("http://e.com/a", "http://e.com/b")
    assert found.broken is not None
    assert found.broken.startswith("it breaks off: ")
    assert read_sitemap(b"<urlset><url><loc>http://e.com/</loc></url>").broken is not None


def test_more_than_the_protocol_allows_is_left_out_and_told() -> None:
    urls = [f"http://e.com/{number}" for number in range(MOST_URLS + 1)]
    assert read_sitemap(urlset(*urls[:-1])).broken is None
    for body in (urlset(*urls), "\n".join(urls).encode()):
        found = read_sitemap(body)
        assert len(found.urls) == MOST_URLS
        assert "over 50,000" in str(found.broken)


def packed(begin: bytes, piece: bytes, size: int) -> bytes:
    """A beginning, and a piece behind it until so many bytes are there, as a gzip file."""
    packer = zlib.compressobj(9, wbits=31)
    block = piece * (65_536 // len(piece))
    parts = [packer.compress(begin), *(packer.compress(block) for _ in range(size // len(block)))]
    return b"".join(parts) + packer.flush()


_EACH = 3 * 1024**2
# What each begins with, what follows, and how much of it; and what is said of it.
BOMBS = {
    "too long": (b"", b" ", 6 * MOST_BYTES, "over 52,428,800 bytes"),
    "bare ampersands": (b"<urlset>", b"&", _EACH, "breaks off"),
    "in an address": (b"<urlset><url><loc>http://e.com/?", b"&", _EACH, "breaks off"),
    "deep": (b"<urlset>", b"<a>", _EACH, "elements in each other"),
    "cdata": (b"<urlset>", b"<![CDATA[]]>", _EACH, "breaks off"),
    "one comment": (b"<urlset><!--", b" ", _EACH, "a piece of it is over"),
    "one tag": (b"<urlset a='", b" ", _EACH, "a piece of it is over"),
    "one cdata": (b"<urlset><url><loc><![CDATA[", b"x", _EACH, "breaks off"),
    "elements": (b"<urlset>", b"<a/>", _EACH, "or over 300,000"),
    "names": (b"<urlset>" + b"".join(b"<n%x/>" % n for n in range(100_000)), b" ", 65_536, "10,000 names"),
    "lines": (b"http://e.com/\n", b"x\n", _EACH, "over 50,000"),
    "one line": (b"http://e.com/", b"x", _EACH, "1 address"),
    "pieces": (b"http://e.com/", b" ", 65_536, "over 50,000 pieces"),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.heavy
def test_whatever_is_packed_is_read_in_little_memory(bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_module, "_MOST_ELEMENTS", 300_000)
    begin, piece, size, told = BOMBS[bomb]
    body = packed(begin, piece, size) + (gzip.compress(b"") * 60_000 if bomb == "pieces" else b"")
    tracemalloc.start()
    try:
        found = read_sitemap(body)
        said = found.broken or f"{len(found.urls)} address"
    except NotASitemap as refused:
        said = str(refused)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert told in said
    assert peak < 16 * 1024**2


@given(st.text(alphabet="&amp;lt#x1<![CDATA]> ", max_size=60), st.integers(1, 40))
def test_where_a_text_is_cut_changes_nothing_of_what_is_mended(text: str, size: int) -> None:
    whole = b"".join(_mended([text.encode()]))
    assert b"".join(_mended(text.encode()[at : at + size] for at in range(0, len(text), size))) == whole


@given(st.binary(max_size=200) | st.text(alphabet="<>/&;!-[]CDATAurlsetloc ", max_size=200).map(str.encode))
def test_whatever_it_is_it_comes_to_something(body: bytes) -> None:
    for whole in (body, b"<urlset><url><loc>" + body):
        try:
            found = read_sitemap(whole)
        except NotASitemap as refused:
            assert str(refused)  # noqa: PT017  # or there is none
            continue
        assert not found.sitemaps or not found.urls
        assert all(found.urls)


class Hosts:
    """Answers by address, as engines do."""

    def __init__(self, answers: dict[str, bytes | int | PageFailed]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def fetch(self, url: str) -> FetchedPage:
        self.asked.append(url)
        answer = self.answers.get(url, 404)
        if isinstance(answer, PageFailed):
            raise answer
        status, body = (answer, b"") if isinstance(answer, int) else (200, answer)
        return FetchedPage(url, "http", status, {}, body, datetime.now(UTC))


async def walk(answers: dict[str, bytes | int | PageFailed], **more: bool) -> SitemapPages:
    return await pages_of_sitemap(ROOT, fetch=Hosts(answers).fetch, **more)  # type: ignore[arg-type]


async def test_indexes_are_followed_each_sitemap_once_and_as_deep_as_is_bounded() -> None:
    at = "https://example.com/{}.xml".format
    hosts = Hosts(
        {
            ROOT: index(at(1), ROOT, at("a"), at("a")),
            at("a"): urlset("https://example.com/a", "https://EXAMPLE.com:443/a#x"),
            at(1): index(at(2)),
            at(2): index(at(3), at("b")),
            at("b"): urlset("https://example.com/b"),
            at(3): index(at(4)),
            at(4): urlset("https://example.com/4"),
        }
    )
    found = await pages_of_sitemap(ROOT, fetch=hosts.fetch)
    assert list(found.urls) == ["https://example.com/a", "https://example.com/b"]
    assert hosts.asked == [ROOT, at(1), at("a"), at(2), at(3), at("b")]
    [refused] = found.refused.values()
    assert (refused.url, refused.fault) == (at(3), "unreadable")
    assert "3 deep" in str(refused.reason)


async def test_pages_of_other_hosts_are_left_out_and_counted_unless_they_are_wanted() -> None:
    pages = ["https://www.example.com/a", "http://example.com:8080/b"]
    others = ["https://example.org/c", "https://blog.example.com/d", "https://example.com.evil.net/e"]
    answers: dict[str, bytes | int | PageFailed] = {
        ROOT: index("https://cdn.example.net/s.xml"),
        "https://cdn.example.net/s.xml": urlset(*pages, *others, others[0], "https://cdn.example.net/f"),
    }
    found = await walk(answers)
    assert list(found.urls) == pages
    assert dict(found.elsewhere) == {
        "example.org": 2,
        "blog.example.com": 1,
        "example.com.evil.net": 1,
        "cdn.example.net": 1,
    }
    assert list((await walk(answers, other_hosts=True)).urls) == [
        *pages,
        *others,
        "https://cdn.example.net/f",
    ]


async def test_where_a_sitemap_is_redirected_to_is_its_host_too() -> None:
    async def fetch(url: str) -> FetchedPage:
        body = urlset("https://example.com/a", "https://example.org/b", "https://example.net/c")
        return FetchedPage("https://example.org/s.xml", "http", 200, {}, body, datetime.now(UTC))

    found = await pages_of_sitemap(ROOT, fetch=fetch)
    assert list(found.urls) == ["https://example.com/a", "https://example.org/b"]


async def test_what_is_wrong_with_one_is_its_row_and_not_the_others() -> None:
    at = "https://example.com/{}".format
    found = await walk(
        {
            ROOT: index(at("none"), at("busy"), at("robots"), at("html"), "http://10.0.0.1/s", at("half")),
            at("busy"): 503,
            at("robots"): PageFailed("robots.txt disallows it", fault="refused_by_robots"),
            at("html"): b"<html/>",
            at("half"): urlset(at("a"), "/b", "http://127.0.0.1/", "javascript:alert(1)")[:-9],
        }
    )
    assert list(found.urls) == [at("a")]
    assert {url: page.fault for url, page in found.refused.items()} == {
        at("none"): "not_found",
        at("busy"): "later",
        at("robots"): "refused_by_robots",
        at("html"): "unreadable",
        at("half"): "unreadable",
        "http://10.0.0.1/s": "refused_by_guard",
        "/b": "bad_url",
        "http://127.0.0.1/": "refused_by_guard",
        "javascript:alert(1)": "bad_url",
    }
    assert all(
        str(found.refused[at(name)].reason).startswith("sitemap: ") for name in ("none", "html", "half")
    )


@pytest.mark.parametrize("body", [404, b"<html/>", b"<urlset", PageFailed("no turn", fault="later")])
async def test_the_one_that_was_given_must_be_had(body: bytes | int | PageFailed) -> None:
    with pytest.raises(PageFailed):
        await walk({ROOT: body})


async def test_a_walk_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap_walk, "_MOST_SITEMAPS", 5)
    monkeypatch.setattr(sitemap_walk, "_MOST_PAGES", 5)
    monkeypatch.setattr(sitemap_module, "MOST_URLS", 100)
    addresses = [f"https://example.com/{number}" for number in range(6)]
    with pytest.raises(PageFailed, match="over 5 sitemaps"):
        await walk({ROOT: index(*addresses)})
    with pytest.raises(PageFailed, match="over 5 pages"):
        await walk({ROOT: urlset(*addresses)})


class Turns:
    """Grants all but what is closed."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def turn(self, url: str, *, patience: float) -> HostTurn:
        self.asked.append(url)
        if "/closed" in url:
            return HostTurn(granted=False, reason="robots.txt says no", fault="refused_by_robots")
        return HostTurn(granted=True)

    async def allowed(self, url: str) -> HostTurn:
        return HostTurn(granted=True)

    async def sent(self, url: str) -> None: ...

    async def told_to_wait(self, url: str, seconds: float | None) -> None:
        """Nothing waits here."""

    async def went_well(self, url: str) -> None:
        """Nothing waited here."""


@pytest.fixture
async def site() -> AsyncIterator[PageSite]:
    """A host with an index behind a redirect, and sitemaps of each kind."""
    with serving({}) as site:
        packed = gzip.compress(urlset(f"{site.origin}/2", f"{site.origin}/1"))
        site.pages = {
            "/sitemap.xml": Answer(status=301, headers={"location": "/maps/index.xml"}),
            "/maps/index.xml": Answer(
                index(*(f"{site.origin}/{name}" for name in ("a.xml", "b.xml.gz", "c.txt", "closed.xml"))),
                headers=XML,
            ),
            "/a.xml": Answer(urlset(f"{site.origin}/1", "http://127.0.0.9/inside"), headers=XML),
            "/b.xml.gz": Answer(packed, headers={"content-type": "application/x-gzip"}),
            # Packed twice: for the way, and as a file.
            "/c.txt": Answer(
                gzip.compress(f"{site.origin}/3\n".encode()),
                headers={"content-type": "text/plain", "content-encoding": "gzip"},
            ),
            "/large.xml": Answer(urlset(*(f"{site.origin}/{'x' * 900}{n}" for n in range(200))), headers=XML),
        }
        yield site


@pytest.fixture
def here(config: Config) -> Config:
    """127.0.0.1 alone is allowed; pages may be small."""
    scraping = config.knowledge.scraping.model_copy(update={"max_bytes": 1000})
    return config.model_copy(
        update={
            "outgoing": config.outgoing.model_copy(update={"allow_internal": ("127.0.0.1/32",)}),
            "knowledge": config.knowledge.model_copy(update={"scraping": scraping}),
        }
    )


async def test_sitemaps_come_over_http_in_their_turns_and_become_rows(
    site: PageSite, here: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = Turns()
    rows = await sitemap_rows([f"{site.origin}/sitemap.xml"], here, turns)
    assert [row.url for row in rows if row.refused is None] == [f"{site.origin}/{n}" for n in (1, 2, 3)]
    assert {row.url: row.refused.fault for row in rows if row.refused is not None} == {
        f"{site.origin}/closed.xml": "refused_by_robots",
        "http://127.0.0.9/inside": "refused_by_guard",
    }
    names = ("sitemap.xml", "maps/index.xml", "a.xml", "b.xml.gz", "c.txt")
    assert [hit.path for hit in site.hits] == [f"/{name}" for name in names]
    assert turns.asked == [f"{site.origin}/{name}" for name in (*names, "closed.xml")]
    assert "3 pages in 4 sitemaps, 2 refused" in capsys.readouterr().out


async def test_a_sitemap_may_be_larger_than_a_page(site: PageSite, here: Config) -> None:
    rows = await sitemap_rows([f"{site.origin}/large.xml", f"{site.origin}/large.xml"], here, Turns())
    assert len(rows) == 200


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("sitemap.xml", "is no address.*--urls"),
        ("ftp://example.com/sitemap.xml", "must begin with http"),
        ("http://10.0.0.1/sitemap.xml", "outgoing.allow_internal"),
        ("{}/none.xml", "answered 404.*--urls"),
        ("{}/closed.xml", "robots.txt says no"),
    ],
)
async def test_an_option_that_leads_to_no_sitemap_is_told_with_the_remedy(
    given: str, told: str, site: PageSite, here: Config
) -> None:
    with pytest.raises(InputInvalid, match=rf"--sitemap .*{told}"):
        await sitemap_rows([given.format(site.origin)], here, Turns())
