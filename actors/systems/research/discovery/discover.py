"""Discovery: from a question to pages that may be read, for a person to decide on. Seed 002, FR2, §5 node 3.

The knowledge of the project is asked first, then each search provider with each query, and each page is
shown once. Nothing is fetched. A provider that fails is told of in the notes; where none answers and nothing
else is there, its error is raised. What was found is untrusted text of outsiders.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

from actors.platform.search.embedder import Embedder
from actors.platform.web.providers.freshness import Freshness, published_day
from actors.platform.web.providers.search import SearchProvider
from actors.systems.research.discovery.pages import FoundPage, Ratings, pages_found
from actors.systems.research.discovery.queries import Asking, search_queries
from actors.systems.research.discovery.ranking import LanguageOf, most_wanted, ranked, wanted_pages
from actors.systems.research.discovery.scoring import Scorer, Vector
from actors.systems.research.discovery.searching import search
from actors.systems.research.discovery.vectors import text_vectors
from models.config import ResearchConfig
from models.content.outside import SearchHit
from models.knowledge.page_keys import page_key, spellings
from models.knowledge.reach import place_of
from models.research.candidates import (
    Discovery,
    DiscoveryRequest,
    KnownPage,
    LeftOut,
    LeftOutReason,
    StoredText,
)

_MOST_KNOWN, _MOST_STORED = 20, 20
_NOT_SEARCHED = "nothing was searched for: only addresses that are given are offered"
_BY_WORDS = "scored by words only: there is no embedding model here"
# What leaving out can't do; see `models.knowledge.left_out`.
_LEAVING_OUT = (
    "a page that you leave out is not asked for, nor as a part of another one of its host, however its "
    "address is written; by which other addresses the host gives its text, only the host knows: where that "
    "matters, leave out all pages of the host"
)


class ProjectKnowledge(Protocol):
    """The seam to what a project knows already."""

    async def about(self, queries: Sequence[str], limit: int) -> Sequence[KnownPage]:
        """At most `limit` of its sources that bear on some queries, best first, each once."""
        ...

    async def held(self, urls: Collection[str]) -> Mapping[str, int]:
        """Those of some addresses that it holds sources of, with the sources' ids."""
        ...


async def discover(
    request: DiscoveryRequest,
    *,
    providers: Sequence[SearchProvider],
    knowledge: ProjectKnowledge,
    embedder: Embedder | None,
    clip: Callable[[str], str],
    language_of: LanguageOf,
    asking: Asking,
    settings: ResearchConfig,
    allow_internal: tuple[str, ...],
    now: datetime | None = None,
) -> Discovery:
    """The candidates for a request.

    Args:
        embedder: None where the site has none: then words alone decide.
        clip: cuts a text to what the embedding model reads of it, as `Chunker.clip` does.
        allow_internal: as in `outgoing.allow_internal`.

    Raises:
        ProviderFailed, ProviderLimited, AddressRefused: every search failed, and nothing else was found.
        ModelUnavailable: the embedding model is away.
    """
    now = now or datetime.now(UTC)
    queries = search_queries(request.question, request.queries, asking)
    known = await knowledge.about(queries, _MOST_KNOWN)
    wanted = most_wanted(settings.candidates, request.max_urls)
    searched = await search(providers, queries, wanted=wanted, date_range=request.date_range)
    if searched.failed is not None and not (known or request.urls):
        raise searched.failed
    # Reading hundreds of addresses, telling languages and comparing pages are work for a thread.
    found = await asyncio.to_thread(
        pages_found,
        searched.hits,
        known=known,
        own_urls=request.urls,
        ratings=Ratings(settings.domains),
        allow_internal=allow_internal,
    )
    pages, left_out = await asyncio.to_thread(
        wanted_pages, found.pages, request, now=now, language_of=language_of
    )
    left_out.update(found.left_out)
    pages = await _with_known(pages, knowledge)
    stored, stored_old = _stored(searched.hits, request, now)
    left_out.update({"too_old": stored_old} if stored_old else {})
    vectors = await text_vectors(embedder, clip, queries, pages, stored)
    scorer = Scorer(queries, vectors.queries, date_range=request.date_range, today=now.date())
    candidates, more_left_out = await asyncio.to_thread(
        ranked, pages, vectors.pages, scorer, settings=settings.candidates, max_urls=request.max_urls
    )
    left_out.update(more_left_out)
    scored = _scored(stored, vectors.stored, scorer)
    left_out["over_limit"] += len(scored[_MOST_STORED:])
    notes = [*searched.notes] if providers else [_NOT_SEARCHED]
    notes += [] if embedder is not None else [_BY_WORDS]
    hosts = Counter(place_of(each.url).removeprefix("www.") for each in candidates)
    notes += [_LEAVING_OUT] if max(hosts.values(), default=0) > 1 else []
    notes += _few(len(candidates), settings, request)
    return Discovery(
        queries=queries,
        candidates=candidates,
        stored=scored[:_MOST_STORED],
        refused=found.refused,
        left_out=_told(left_out),
        notes=tuple(dict.fromkeys(notes)),
    )


async def _with_known(pages: Sequence[FoundPage], knowledge: ProjectKnowledge) -> list[FoundPage]:
    """The pages, each with the id of the source that the project holds of it."""
    urls = [url for page in pages for address in (page.url, *page.others) for url in spellings(address)]
    held = await knowledge.held(tuple(dict.fromkeys(urls)))
    by_key: dict[str, int] = {}
    for url, source_id in sorted(held.items(), key=lambda item: item[1]):
        by_key.setdefault(page_key(url), source_id)
    return [
        page._replace(known=page.known if page.known is not None else by_key.get(page.key)) for page in pages
    ]


def _stored(
    hits: Sequence[SearchHit], request: DiscoveryRequest, now: datetime
) -> tuple[list[SearchHit], int]:
    """What the site itself has of it, each once; and how many are too old."""
    freshness, found, old = Freshness(request.date_range, now=now), dict[str, SearchHit](), set[str]()
    for hit in hits:
        if hit.url is None and hit.stored_as is not None:
            if freshness.admits(hit.published_at):
                found.setdefault(hit.stored_as, hit)
            else:
                old.add(hit.stored_as)
    return list(found.values()), len(old - found.keys())


def _scored(
    stored: Sequence[SearchHit], vectors: Sequence[Vector] | None, scorer: Scorer
) -> tuple[StoredText, ...]:
    found = []
    for place, hit in enumerate(stored):
        assert hit.stored_as is not None
        day = published_day(hit.published_at)
        vector = vectors[place] if vectors is not None else None
        score = scorer.score(
            title=hit.title,
            snippet=hit.snippet,
            language=None,
            vector=vector,
            published=day,
            rating="neutral",
        )
        found.append(
            StoredText(
                stored_as=hit.stored_as,
                title=hit.title,
                snippet=hit.snippet,
                score=score.value,
                published=day.isoformat() if day is not None else None,
                source=hit.source,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.score, one.stored_as)))


def _few(found: int, settings: ResearchConfig, request: DiscoveryRequest) -> list[str]:
    least = min(settings.candidates.least, request.max_urls)
    if found >= least:
        return []
    longer = ", for a longer time" if request.date_range != "any" else ""
    return [f"fewer than {least} pages were found: {found}; ask in other words{longer}, or give addresses"]


def _told(left_out: Counter[LeftOutReason]) -> tuple[LeftOut, ...]:
    """Largest first; of the same count by their names."""
    order = sorted(left_out.items(), key=lambda item: (-item[1], item[0]))
    return tuple(LeftOut(reason=reason, count=count) for reason, count in order if count)
