"""The rows of a scraping batch from sitemaps on the web: `--sitemap`, and what is said of them.

They are fetched from the driver, in turn at their hosts and through the URL guard like any page; nothing of
them is kept, so a batch that is submitted again reads them anew.
"""

from collections.abc import Sequence

from actors.platform.web.page_urls import page_url
from actors.systems.knowledge.fetching.http_engine import HttpEngine
from actors.systems.knowledge.fetching.sitemap import MOST_BYTES
from actors.systems.knowledge.fetching.sitemap_walk import Fetch, SitemapPages, pages_of_sitemap
from actors.systems.knowledge.fetching.turns import Turns
from models.config import Config
from models.errors import BatchStopped, InputInvalid, PageFailed
from models.text import cut
from pipelines import driver
from pipelines.progress import say, saying
from pipelines.url_files import UrlRow

_SHOWN = 200


async def sitemap_rows(
    sitemaps: Sequence[str], config: Config, turns: Turns, *, other_hosts: bool = False
) -> list[UrlRow]:
    """The addresses that sitemaps name, and what is wrong with those that are none.

    Raises:
        InputInvalid: one that was given is no address, can't be had, or is no sitemap.
        BatchStopped: by a signal, before all were read.
    """
    inside = config.outgoing.allow_internal
    given = [_address(text, inside) for text in sitemaps]
    engine = HttpEngine(
        settings=config.knowledge.scraping, outgoing=config.outgoing, turns=turns, max_bytes=MOST_BYTES
    )
    rows: list[UrlRow] = []

    async def walk() -> None:
        try:
            for url in given:
                found = await _walked(url, engine.fetch, inside, other_hosts=other_hosts)
                rows.extend(_rows(found))
                for line in _said(url, found):
                    say(line)
        except PageFailed as failed:
            raise InputInvalid(
                f"--sitemap {cut(url, _SHOWN)}: {failed}: give the address of a sitemap that can be had "
                "(XML or lines, also gzip), or a file of addresses to --urls"
            ) from failed

    try:
        if await driver.until_stopped(walk()):
            raise BatchStopped("stopped while sitemaps were read: nothing was fetched; submit again")
    finally:
        await engine.close()
    return list({row.url: row for row in rows}.values())


def _address(text: str, inside: tuple[str, ...]) -> str:
    try:
        return page_url(text, allow_internal=inside)
    except PageFailed as failed:
        raise InputInvalid(
            f"--sitemap {cut(text, _SHOWN)}: {failed}; write its address (https://host/sitemap.xml), and "
            "give a file that lies here to --urls"
        ) from failed


async def _walked(url: str, fetch: Fetch, inside: tuple[str, ...], *, other_hosts: bool) -> SitemapPages:
    by_now: SitemapPages | None = None

    def told(found: SitemapPages) -> None:
        nonlocal by_now
        by_now = found

    async def progress() -> str | None:
        if by_now is None:
            return None
        return f"{by_now.sitemaps} sitemaps read, {len(by_now.urls)} pages by now"

    async with saying(progress):
        return await pages_of_sitemap(
            url, fetch=fetch, allow_internal=inside, other_hosts=other_hosts, told=told
        )


def _rows(found: SitemapPages) -> list[UrlRow]:
    refused = [UrlRow(url=url, refused=page) for url, page in found.refused.items()]
    return [*(UrlRow(url=url) for url in found.urls), *refused]


def _said(url: str, found: SitemapPages) -> list[str]:
    lines = [f"{url}: {len(found.urls)} pages in {found.sitemaps} sitemaps, {len(found.refused)} refused"]
    if found.elsewhere:
        hosts = ", ".join(host for host, _ in found.elsewhere.most_common(3))
        lines.append(
            f"{found.elsewhere.total()} pages of other hosts ({hosts}) are left out: give sitemaps of "
            "those hosts, or --other-hosts"
        )
    return lines
