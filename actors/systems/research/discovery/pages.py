"""Pages of what was found: each once, whatever its addresses, with the best of what is said of it.

Called by discovery with hits of providers, with what the project knows, and with the person's own addresses.
In whatever order they come, the pages are the same. An address is one that pages are fetched by, or it is
left out.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from actors.platform.web.page_urls import host_of, page_url
from actors.platform.web.providers.freshness import published_day
from models.config import DomainsConfig
from models.content.outside import SearchHit
from models.domains import standing_over
from models.errors import PageFailed
from models.knowledge.page_keys import is_plain, page_key
from models.research.candidates import KNOWLEDGE, USER, KnownPage, LeftOutReason, Rating, RefusedUrl
from models.text import cut, shortened

_SHOWN = 200
_MOST_WORDS_OF_URL = 200
_TITLE, _SNIPPET = 300, 1000


class Ratings:
    """The ratings of `research.domains`."""

    def __init__(self, domains: DomainsConfig) -> None:
        said: tuple[tuple[Rating, tuple[str, ...]], ...] = (
            ("trust", domains.trust),
            ("prefer", domains.prefer),
            ("never", domains.never),
        )
        self._ratings = {domain: rating for rating, some in said for domain in some}

    def of_host(self, host: str) -> Rating:
        """The rating of a host, in whatever case, with or without the dot of the root."""
        nearest = standing_over(host, self._ratings)
        return self._ratings[nearest] if nearest is not None else "neutral"


class _Saying(NamedTuple):
    """What one hit says of a page; `place` is how early its provider named it."""

    url: str
    title: str
    snippet: str
    published_at: str | None
    source: str
    place: int
    language: str | None = None
    known: int | None = None


class FoundPage(NamedTuple):
    """A page: the address that stands for it, its others, and what is said of it.

    `title` and `snippet` are empty where nobody says anything. `published_at` is as it was written.
    `place` is the earliest at which a provider named it, for ties.
    """

    key: str
    url: str
    others: tuple[str, ...]
    host: str
    rating: Rating
    title: str
    snippet: str
    published_at: str | None
    source: str
    place: int
    language: str | None
    known: int | None

    @property
    def addresses(self) -> int:
        return 1 + len(self.others)

    @property
    def published(self) -> date | None:
        """The day it was published, where that is known."""
        return published_day(self.published_at)

    @property
    def own(self) -> bool:
        """Whether the person gave an address of it."""
        return self.source == USER

    @property
    def text(self) -> str:
        """What of it is compared with a query; of a page of which nothing is said, its address's words."""
        return f"{self.title}. {self.snippet}" if self.title or self.snippet else words_of_url(self.url)


class PagesFound(NamedTuple):
    """The pages, how many addresses are none of theirs and why, and the person's own that are not read."""

    pages: tuple[FoundPage, ...]
    left_out: dict[LeftOutReason, int]
    refused: tuple[RefusedUrl, ...]


def pages_found(
    hits: Sequence[SearchHit],
    *,
    known: Sequence[KnownPage],
    own_urls: Sequence[str],
    ratings: Ratings,
    allow_internal: tuple[str, ...],
) -> PagesFound:
    """The pages by their keys, sorted by them.

    Args:
        hits: of a provider its best first; what is stored here is no page.
        own_urls: those that the person gave, as he wrote them.
        allow_internal: as in `outgoing.allow_internal`.
    """
    said: dict[str, list[_Saying]] = defaultdict(list)
    left_out: dict[LeftOutReason, set[str]] = {"bad_address": set(), "never": set()}
    refused: dict[str, RefusedUrl] = {}

    def add(saying: _Saying) -> None:
        try:
            url = page_url(saying.url, allow_internal=allow_internal)
        except PageFailed:
            left_out["bad_address"].add(saying.url)
            return
        if ratings.of_host(host_of(url)) == "never":
            left_out["never"].add(url)
            return
        said[page_key(url)].append(saying._replace(url=url))

    for place, text in enumerate(own_urls):
        if isinstance(good := _own(text, ratings, allow_internal), RefusedUrl):
            refused.setdefault(text, good)
        else:
            said[page_key(good)].append(_Saying(good, "", "", None, USER, place))
    for page in known:
        add(_Saying(page.url, page.title, page.passage, page.published, KNOWLEDGE, 0, page.language, page.id))
    for place, hit in enumerate(hits):
        if hit.url is None and hit.stored_as is None:
            left_out["bad_address"].add(hit.title)
        elif hit.url is not None:
            add(_Saying(hit.url, hit.title, hit.snippet, hit.published_at, hit.source, place))
    pages = tuple(_page(key, some, ratings) for key, some in sorted(said.items()))
    counts = {reason: len(urls) for reason, urls in left_out.items() if urls}
    return PagesFound(pages, counts, tuple(refused.values()))


def words_of_url(url: str) -> str:
    """The words in an address, for want of a title."""
    parts = urlsplit(url)
    path = unquote(parts.path, errors="replace").rpartition(".")[0] or unquote(parts.path, errors="replace")
    spaced = "".join(character if character.isalnum() else " " for character in path)
    return shortened(spaced, _MOST_WORDS_OF_URL) or (parts.hostname or "")


def _own(text: str, ratings: Ratings, allow_internal: tuple[str, ...]) -> str | RefusedUrl:
    shown = cut(text.strip(), _SHOWN)
    try:
        url = page_url(text, allow_internal=allow_internal)
    except PageFailed as error:
        return RefusedUrl(url=shown, rating="neutral", reason=str(error))
    if (rating := ratings.of_host(host_of(url))) == "never":
        reason = f"{host_of(url)} is never read here: research.domains.never of the configuration names it"
        return RefusedUrl(url=shown, rating=rating, reason=reason)
    return url


def _page(key: str, said: Sequence[_Saying], ratings: Ratings) -> FoundPage:
    own = {saying.url for saying in said if saying.source == USER}
    urls = sorted({saying.url for saying in said}, key=lambda url: _standing(url, own, ratings))
    # Who says most, says it; of those who say as much, always the same one.
    telling = max(said, key=lambda one: (len(one.snippet), len(one.title), one.snippet, one.title))
    title = telling.title or max((one.title for one in said), key=lambda text: (len(text), text))
    host = host_of(urls[0])
    return FoundPage(
        key=key,
        url=urls[0],
        others=tuple(urls[1:]),
        host=host,
        rating=ratings.of_host(host),
        title=shortened(title, _TITLE),
        snippet=shortened(telling.snippet, _SNIPPET),
        published_at=_first_day(one.published_at for one in said),
        source=min(said, key=_source_order).source,
        place=min(one.place for one in said),
        language=min((one.language for one in said if one.language), default=None),
        known=min((one.known for one in said if one.known is not None), default=None),
    )


def _standing(url: str, own: set[str], ratings: Ratings) -> tuple[bool, int, bool, bool, int, str]:
    """The lower, the sooner an address stands for its page: the person's own, trusted, https, plain."""
    rated = standing_of(ratings.of_host(host_of(url)))
    return url not in own, rated, not url.startswith("https:"), not is_plain(url), len(url), url


def standing_of(rating: Rating) -> int:
    """The lower, the sooner a page of this rating stands for others."""
    return {"trust": 0, "prefer": 1, "neutral": 2, "never": 3}[rating]


def _source_order(saying: _Saying) -> tuple[int, str]:
    return {USER: 0, KNOWLEDGE: 1}.get(saying.source, 2), saying.source


def _first_day(written: Iterable[str | None]) -> str | None:
    """The earliest of some dates that can be read; or the first that can't, as it was written."""
    known = sorted((day, text) for text in written if text and (day := published_day(text)) is not None)
    return known[0][1] if known else None
