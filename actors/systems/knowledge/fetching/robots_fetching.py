"""The robots.txt of an origin, fetched through the URL guard. RFC 9309 §2.3.

Called by whoever keeps the hosts' turns, once a day for each origin. Redirects lead to the robots.txt of the
same host alone, with or without `www.`: nobody has let a host be asked because another one names it, and what
is no robots.txt is a page, which somebody may have left out.
"""

import asyncio
import logging

import httpx2

from actors.platform.web.page_urls import host_of, page_url
from actors.platform.web.politeness.robots import MOST_BYTES, Robots
from actors.platform.web.unpacking import NotUnpacked, unpacked
from models.errors import AddressRefused, PageFailed
from models.knowledge.reach import place_of

_log = logging.getLogger(__name__)
_REDIRECTS = (301, 302, 303, 307, 308)
_PATH = "/robots.txt"
# RFC 9309 §2.3.1.2: so many are followed. A little more is read than counts, so that the cut is at a line's
# end.
_MOST_REDIRECTS, _MOST_READ = 5, MOST_BYTES + 4096


async def fetch_robots(
    client: httpx2.AsyncClient,
    origin: str,
    *,
    user_agent: str,
    seconds: float,
    allow_internal: tuple[str, ...],
) -> Robots:
    """What an origin (`https://host:port`) says. It never raises for what the origin does.

    Args:
        client: a guarded one.
        seconds: for all of it.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _follow(client, f"{origin}{_PATH}", user_agent, allow_internal)
    except (TimeoutError, httpx2.HTTPError, AddressRefused, PageFailed, NotUnpacked) as error:
        _log.info("%s/robots.txt can't be had: %s", origin, error)
        return Robots.unreachable()


async def _follow(
    client: httpx2.AsyncClient, url: str, user_agent: str, allow_internal: tuple[str, ...]
) -> Robots:
    host, redirects = _host(url), 0
    headers = {"User-Agent": user_agent, "Accept": "text/plain,*/*;q=0.5", "Accept-Encoding": "gzip, deflate"}
    while redirects <= _MOST_REDIRECTS:
        async with client.stream("GET", url, headers=headers) as answer:
            if answer.status_code not in _REDIRECTS or "location" not in answer.headers:
                body = bytearray()
                async for part in unpacked(answer, _MOST_READ):
                    body += part
                    if len(body) > _MOST_READ:
                        break
                return Robots.from_answer(answer.status_code, bytes(body))
            url = page_url(answer.headers["location"], base=url, allow_internal=allow_internal)
        redirects += 1
        if url.partition("://")[2].partition("/")[2] != _PATH[1:]:
            return Robots.everything_allowed()  # as servers do with what they do not have
        if _host(url) != host:
            return Robots.elsewhere(host_of(url))
    return Robots.everything_allowed()  # too many redirects: as if there were none


def _host(url: str) -> str:
    """A host and its port, by both of its doors."""
    return place_of(url).removeprefix("www.")
