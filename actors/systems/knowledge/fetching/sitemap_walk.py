"""The addresses of pages that a sitemap names, and the sitemaps that it names, each fetched as a page is.

The scraping batch calls it. A sitemap speaks for the host that it was asked of: pages of other hosts are
left out and counted, unless they are wanted; the sitemaps themselves may lie anywhere. One that can't be had
is a row of the result like a page that can't; only the one that was given is an error.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from actors.platform.web.page_urls import host_of, page_url
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.fetching.sitemap import NotASitemap, read_sitemap
from models.errors import PageFailed
from models.knowledge.pages import PageFault, ScrapedPage
from models.text import cut, storable

# How deep indexes may lie in each other (the protocol has one level), and what a walk comes to at most.
_DEEPEST = 3
_MOST_SITEMAPS = 10_000
_MOST_PAGES = 2_000_000
_LONGEST = 2000
_FAULTS: dict[int, PageFault] = {
    **{404: "not_found", 410: "not_found", 401: "forbidden", 403: "forbidden", 451: "forbidden"},
    **{429: "later", 503: "later"},
}

Fetch = Callable[[str], Awaitable[FetchedPage]]


@dataclass
class SitemapPages:
    """What a sitemap names: `urls` in their one form, each once, in their order.

    `refused` are addresses that are none, and sitemaps that could not be read, or not to their ends;
    `elsewhere` counts by host the addresses that were left out; `sitemaps` is how many were read.
    """

    urls: dict[str, None] = field(default_factory=dict)
    refused: dict[str, ScrapedPage] = field(default_factory=dict)
    elsewhere: Counter[str] = field(default_factory=Counter)
    sitemaps: int = 0


async def pages_of_sitemap(
    url: str,
    *,
    fetch: Fetch,
    allow_internal: tuple[str, ...] = (),
    other_hosts: bool = False,
    told: Callable[[SitemapPages], None] = lambda _: None,
) -> SitemapPages:
    """All pages that a sitemap names, whatever sitemaps lie between.

    Args:
        url: in its one form.
        fetch: through the guard and in turn, as `HttpEngine.fetch`.
        allow_internal: as in `outgoing.allow_internal`.
        other_hosts: take pages of any host.
        told: called after each sitemap with what there is by then.

    Raises:
        PageFailed: this one can't be had or is no sitemap, or it leads to too many.
    """
    walk = _Walk(fetch, allow_internal, other_hosts)
    walk.add(url, 0)
    while walk.waiting:
        await walk.step()
        told(walk.found)
    return walk.found


class _Walk:
    """The sitemaps that wait, the nearest first, and what was found by now."""

    def __init__(self, fetch: Fetch, allow_internal: tuple[str, ...], other_hosts: bool) -> None:
        self.found = SitemapPages()
        self.waiting: deque[tuple[str, int]] = deque()
        self._fetch = fetch
        self._allow_internal = allow_internal
        self._other_hosts = other_hosts
        self._seen: set[str] = set()
        self._sites: set[str] = set()

    def add(self, url: str, depth: int) -> None:
        if url in self._seen:
            return
        self._seen.add(url)
        self.waiting.append((url, depth))
        if depth == 0:
            self._sites.add(_site(url))

    async def step(self) -> None:
        url, depth = self.waiting.popleft()
        try:
            await self._read(url, depth)
        except PageFailed as failed:
            if depth == 0:
                raise
            self._refuse(url, failed, "sitemap: ")
        for count, most, what in (
            (len(self._seen), _MOST_SITEMAPS, "sitemaps"),
            (len(self.found.urls), _MOST_PAGES, "pages"),
        ):
            if count > most:
                raise PageFailed(f"it leads to over {most:,} {what}: give parts of it", fault="too_large")

    async def _read(self, url: str, depth: int) -> None:
        page = await self._fetch(url)
        if page.status >= 400:
            fault = _FAULTS.get(page.status, "http_error")
            raise PageFailed(f"the server answered {page.status}", fault=fault)
        try:
            sitemap = await asyncio.to_thread(read_sitemap, page.body)
        except NotASitemap as error:
            raise PageFailed(f"it is no sitemap: {error}", fault="unreadable") from error
        if sitemap.broken is not None and not (sitemap.urls or sitemap.sitemaps):
            raise PageFailed(sitemap.broken, fault="unreadable")
        self.found.sitemaps += 1
        if depth == 0:
            self._sites.add(_site(page.url))
        for text in sitemap.urls:
            self._take(text)
        if sitemap.sitemaps and depth == _DEEPEST:
            raise PageFailed(
                f"it lies {_DEEPEST} deep and names others: they are left out", fault="unreadable"
            )
        for text in sitemap.sitemaps:
            if (other := self._normal(text, "sitemap: ")) is not None:
                self.add(other, depth + 1)
        if sitemap.broken is not None:
            self._refuse(url, PageFailed(sitemap.broken, fault="unreadable"), "sitemap: ")

    def _take(self, text: str) -> None:
        url = self._normal(text)
        if url is None:
            return
        if not self._other_hosts and _site(url) not in self._sites:
            self.found.elsewhere[host_of(url)] += 1
            return
        self.found.urls[url] = None

    def _normal(self, text: str, what: str = "") -> str | None:
        """The address of a text in its one form. A relative one is none: the protocol has no such."""
        try:
            return page_url(text, allow_internal=self._allow_internal)
        except PageFailed as failed:
            self._refuse(text, failed, what)
            return None

    def _refuse(self, text: str, failed: PageFailed, what: str = "") -> None:
        shown = storable(cut(text, _LONGEST))
        page = ScrapedPage(url=shown, fault=failed.facts["fault"], reason=f"{what}{failed}")
        self.found.refused.setdefault(shown, page)


def _site(url: str) -> str:
    """A host, with and without `www.`: the one is most often an alias of the other."""
    return host_of(url).removeprefix("www.")
