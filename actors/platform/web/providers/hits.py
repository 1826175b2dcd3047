"""What an outside search found, made safe to keep: plain short texts, and nothing but web addresses.

Used by the providers that reach outside; see `SearchHit`.
"""

import re
from collections.abc import Awaitable, Callable
from urllib.parse import quote_plus, urlsplit

import ada_url

from actors.platform.web.plain_text import plain_text
from actors.platform.web.providers.freshness import Freshness
from models.content.outside import DateRange, SearchAnswer, SearchHit
from models.errors import ProviderFailed, ProviderLimited

_TITLE, _SNIPPET, _DATE = 300, 1000, 40
_LONGEST_URL = 2000
# A URL of at most 2,000 characters passes the URL guard; the query has to leave room for the rest.
_LONGEST_QUERY = 1200
_NOT_IN_URLS = re.compile(
    r"[\x00-\x20\x7f-\x9f\\<>\"\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)

# Reads a page, from 1, into the hits; whether there may be another.
ReadPage = Callable[[int], Awaitable[bool]]

# Google's `num` at most, and what most engines behind a SearXNG give.
PAGE = 10


class Hits:
    """The hits of one search, at most `limit`, none known to be older than `date_range`.

    A page that comes twice is kept once, as it came first.
    """

    def __init__(self, provider: str, limit: int, date_range: DateRange = "any") -> None:
        self._provider = provider
        self.limit = limit
        self._freshness = Freshness(date_range)
        self._found: dict[str, SearchHit] = {}
        self._seen: set[str] = set()
        self._without_url = 0

    @property
    def seen(self) -> int:
        """How many pages there were, those included that are too old."""
        return len(self._seen)

    @property
    def full(self) -> bool:
        """Whether there is room for no more."""
        return len(self._found) >= self.limit

    def add(self, *, title: object, url: object, snippet: object, published_at: object) -> None:
        """Keep a hit as the provider gave it, whatever types it used; not one without a web address."""
        address = web_address(url)
        if address is None:
            self._without_url += 1
            return
        page = _page(address)
        if page in self._seen or self.full:
            return
        self._seen.add(page)
        published = plain_text(published_at, _DATE) or None
        if self._freshness.admits(published):
            self._found[page] = SearchHit(
                title=plain_text(title, _TITLE) or address[:_TITLE],
                url=address,
                snippet=plain_text(snippet, _SNIPPET),
                published_at=published,
                source=self._provider,
            )

    def answer(self, *notes: str | None) -> SearchAnswer:
        """What was found, best first, with the notes that there are."""
        left_out = (
            f"hits left out that have no web address: {self._without_url}" if self._without_url else None
        )
        told = dict.fromkeys(note for note in (*notes, left_out, self._freshness.note) if note)
        return SearchAnswer(
            provider=self._provider, hits=tuple(self._found.values()), note="; ".join(told) or None
        )


def web_address(raw: object) -> str | None:
    """An address to link to: http or https, with a host, without a user; None where it is none."""
    if not isinstance(raw, str):
        return None
    text = raw.strip()
    if not text or len(text) > _LONGEST_URL or _NOT_IN_URLS.search(text):
        return None
    try:
        text.encode()
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return None
    return text


def _page(address: str) -> str:
    """The one form of an address that leads to the same page as it does, as browsers read it."""
    try:
        parsed = ada_url.URL(address)
    except ValueError:
        return address
    parsed.hash = ""
    return parsed.href


def fitting(query: str) -> tuple[str, str | None]:
    """As much of a query as fits into a URL, whole words where it can; and a note where it was cut."""
    words = " ".join(query.split())
    if len(quote_plus(words)) <= _LONGEST_QUERY:
        return words, None
    size, kept = 0, 0
    for kept, letter in enumerate(words):  # noqa: B007  # how many were kept is what is wanted
        size += len(quote_plus(letter))
        if size > _LONGEST_QUERY:
            break
    head, space, _ = words[:kept].rpartition(" ")
    return (head if space else words[:kept]), "the query was too long and its end was left out"


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
