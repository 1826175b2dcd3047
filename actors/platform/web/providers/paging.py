"""Reading a search's pages: how the providers fetch more hits than one request of theirs gives."""

from collections.abc import Awaitable, Callable

from actors.platform.web.providers.hits import Hits
from models.errors import ProviderFailed, ProviderLimited

# Reads a page, from 1, into the hits; whether there may be another.
ReadPage = Callable[[int], Awaitable[bool]]

# Google's `num` at most, and what most engines behind a SearXNG give.
PAGE = 10


async def read_pages(hits: Hits, read: ReadPage) -> str | None:
    """Page after page until the hits are full or there are no more: at most one for each ten hits wanted.

    Returns:
        A note where a later page failed: what was found before is kept, and not asked for again.

    Raises:
        ProviderFailed, ProviderLimited: the first page failed.
    """
    most = -(-hits.limit // PAGE)
    for number in range(1, most + 1):
        try:
            more = await read(number)
        except (ProviderFailed, ProviderLimited) as error:
            if number == 1:
                raise
            return f"page {number} of the results is missing: {error}"
        if hits.full or not more:
            break
    return None
