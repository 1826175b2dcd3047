"""Hybrid search: by words and by meaning at once, fused by reciprocal rank (seed 000 §3.2, §7.2).

Called by the search tools, on every replica. The words are searched in Postgres and always count; the
meaning in the agent `search_index`, which may be slow or away, and then the answer says so. Whatever
it found is checked against the database before it is shown.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Protocol, TypeVar

from models.config import SearchConfig
from models.content.search import Found, FoundArticle, FoundResource, Hit, Reach, fuse, reach_of
from models.error_lines import logged
from models.errors import SignoffError
from models.people.scopes import Scope
from models.store import search as store
from models.store.database import Connection, Database

H = TypeVar("H")
_log = logging.getLogger(__name__)


class SemanticIndex(Protocol):
    """The seam to search by meaning; see `actors.platform.search.article_index.SearchIndex`."""

    async def search(
        self,
        query: str,
        *,
        kinds: Collection[str],
        topics: Collection[str] | None,
        reach: Reach,
        include_drafts: bool,
        limit: int,
    ) -> list[Hit]:
        """At most `limit` hits, best first."""
        ...


class HybridSearch:
    """Searches articles and resources as the bearer of scopes may see them.

    `semantic` absent: by words only, and the answers say so.
    """

    def __init__(self, *, database: Database, semantic: SemanticIndex | None, settings: SearchConfig) -> None:
        self._database = database
        self._semantic = semantic
        self._settings = settings

    async def articles(
        self,
        query: str,
        *,
        topics: Collection[str] | None,
        scopes: Iterable[Scope],
        include_drafts: bool,
        limit: int,
    ) -> Found[FoundArticle]:
        """At most `limit` articles. Working text is found with `include_drafts`, by editors of its topic."""
        reach = reach_of(scopes)
        best, scores, total, note = await self._search(
            query,
            self._by_words(query, topics, reach, None, include_drafts),
            topics=topics,
            reach=reach,
            kinds=frozenset(["article"]),
            include_drafts=include_drafts,
            limit=limit,
        )
        async with self._database.connection() as connection:
            shown = await store.show_articles(
                connection, best, reach, topics=topics, include_drafts=include_drafts, scores=scores
            )
        return Found(items=tuple(shown), total=total, note=note)

    async def resources(
        self,
        query: str,
        *,
        kinds: Collection[str],
        topics: Collection[str] | None,
        scopes: Iterable[Scope],
        limit: int,
    ) -> Found[FoundResource]:
        """At most `limit` resources of these kinds (`text`, `table`); `topics` are the resources' own."""
        reach = reach_of(scopes)
        best, scores, total, note = await self._search(
            query,
            self._by_words(query, topics, reach, kinds, False),
            topics=topics,
            reach=reach,
            kinds=kinds,
            include_drafts=False,
            limit=limit,
        )
        async with self._database.connection() as connection:
            shown = await store.show_resources(
                connection, best, reach, query=query, topics=topics, kinds=kinds, scores=scores
            )
        return Found(items=tuple(shown), total=total, note=note)

    async def _search(
        self,
        query: str,
        by_words: Awaitable[list[Hit]],
        *,
        topics: Collection[str] | None,
        reach: Reach,
        kinds: Collection[str],
        include_drafts: bool,
        limit: int,
    ) -> tuple[list[Hit], dict[int, float], int, str | None]:
        """The best hits, their cosines by id, how many different ones there are, and the note."""
        wanted = max(limit, self._settings.candidates)
        by_meaning = asyncio.create_task(
            self._by_meaning(
                query, kinds=kinds, topics=topics, reach=reach, include_drafts=include_drafts, limit=wanted
            )
        )
        try:
            words = await by_words
            near, note = await by_meaning
        finally:
            by_meaning.cancel()
        if near:
            async with self._database.connection() as connection:
                near = await _visible(connection, near, reach, topics, kinds, include_drafts)
        fused = fuse([[hit.id for hit in words[:wanted]], [hit.id for hit in near]])
        found = _merged(words, near)
        best = [found[key] for key, _ in fused[:limit]]
        return best, {hit.id: hit.score for hit in near}, len(found), note

    async def _by_words(
        self,
        query: str,
        topics: Collection[str] | None,
        reach: Reach,
        kinds: Collection[str] | None,
        include_drafts: bool,
    ) -> list[Hit]:
        async with self._database.connection() as connection:
            if kinds is None:
                return await store.find_articles(
                    connection, query=query, topics=topics, reach=reach, include_drafts=include_drafts
                )
            return await store.find_resources(
                connection, query=query, kinds=kinds, topics=topics, reach=reach
            )

    async def _by_meaning(
        self,
        query: str,
        *,
        kinds: Collection[str],
        topics: Collection[str] | None,
        reach: Reach,
        include_drafts: bool,
        limit: int,
    ) -> tuple[list[Hit], str | None]:
        """What was found, and where nothing could be, a note that says why."""
        if self._semantic is None:
            return [], "searched by words only: articles and resources are not searched by their meaning here"
        semantic = self._semantic
        return await found_by_meaning(
            lambda: semantic.search(
                query, kinds=kinds, topics=topics, reach=reach, include_drafts=include_drafts, limit=limit
            ),
            seconds=self._settings.timeout_seconds,
        )


async def found_by_meaning(
    ask: Callable[[], Awaitable[list[H]]], *, seconds: float
) -> tuple[list[H], str | None]:
    """What an index finds in `search.timeout_seconds`; where it is away or late, a note that says so."""
    try:
        async with asyncio.timeout(seconds):
            return await ask(), None
    except TimeoutError:
        return [], f"searched by words only: no answer within search.timeout_seconds ({seconds:g} s)"
    except Exception as error:  # noqa: BLE001  # an agent's process may fail in any way; the words still count
        told = logged(error, _log, "search by meaning failed")
        why = told if isinstance(error, SignoffError) else type(error).__name__
        return [], f"searched by words only: {why}"


async def _visible(
    connection: Connection,
    hits: Sequence[Hit],
    reach: Reach,
    topics: Collection[str] | None,
    kinds: Collection[str],
    include_drafts: bool,
) -> list[Hit]:
    return await store.visible(
        connection, hits, reach, topics=topics, include_drafts=include_drafts, kinds=kinds
    )


def _merged(words: Sequence[Hit], near: Sequence[Hit]) -> dict[int, Hit]:
    """The hits by id. Where both ways found one: in the newer version, with the passage if it is of that."""
    found = {hit.id: hit for hit in near}
    for hit in words:
        known = found.get(hit.id)
        if known is None or (hit.version or 0) > (known.version or 0):
            found[hit.id] = hit
    return found
