"""Search of what is stored here: published articles, and resources, as the caller may see them.

It reaches nothing outside, and knows neither web nor news; each answer says so.
"""

import re
from typing import ClassVar

from actors.platform.search.hybrid import HybridSearch
from actors.platform.text.footnotes import without_footnotes
from actors.platform.web.plain_text import plain_text
from actors.platform.web.providers.freshness import Freshness
from models.content.articles import ArticleVersion
from models.content.outside import DateRange, SearchAnswer, SearchHit, SearchKind
from models.content.search import FoundArticle
from models.errors import ArticleNotFound
from models.people.users import UserContext
from models.store.content import articles
from models.store.database import Database

_SNIPPET = 400
_MOST_WORDS = 20
_KINDS = frozenset(["text", "table"])
_NOTE = (
    "searched only what is stored here: to search {what}, "
    "add outside.search.searxng or outside.search.google_cse to the configuration"
)
_NO_DATES = "what is stored here can't be searched by date"
_WHAT: dict[SearchKind, str] = {"web": "the web", "news": "news", "financial_news": "financial news"}


class Local:
    """The site's own articles and resources."""

    name: ClassVar[str] = "local"

    def __init__(self, caller: UserContext, database: Database, search: HybridSearch) -> None:
        self._caller = caller
        self._database = database
        self._search = search

    async def search(
        self, kind: SearchKind, query: str, limit: int, date_range: DateRange = "any"
    ) -> SearchAnswer:
        """See `SearchProvider.search`. Articles and resources by turns, each best first."""
        written = await self._search.articles(
            query, topics=None, scopes=self._caller.scopes, include_drafts=False, limit=limit
        )
        resources = await self._search.resources(
            query, kinds=_KINDS, topics=None, scopes=self._caller.scopes, limit=limit
        )
        published = [hit for found in written.items if (hit := await self._article(found, query)) is not None]
        kept = [
            SearchHit(
                title=found.name,
                url=None,
                snippet=plain_text(found.snippet or found.description or "", _SNIPPET),
                published_at=found.created_at.isoformat(),
                source=self.name,
                stored_as=f"resource:{found.id}",
            )
            for found in resources.items
        ]
        both = max(len(published), len(kept))
        hits = [
            hit for place in range(both) for hit in (*published[place : place + 1], *kept[place : place + 1])
        ]
        freshness = Freshness(date_range)
        fresh = [hit for hit in hits if freshness.admits(hit.published_at)]
        by_date = None if date_range == "any" else _NO_DATES
        notes = dict.fromkeys(
            [_NOTE.format(what=_WHAT[kind]), by_date, written.note, resources.note, freshness.note]
        )
        return SearchAnswer(
            provider=self.name, hits=tuple(fresh[:limit]), note="; ".join(note for note in notes if note)
        )

    async def _article(self, found: FoundArticle, query: str) -> SearchHit | None:
        """An article's published version; None where it was withdrawn meanwhile."""
        async with self._database.connection() as connection:
            try:
                article = await articles.get(connection, found.id)
            except ArticleNotFound:
                return None
            if article.published_version is None or article.published_at is None:
                return None
            if not self._caller.has("reader", article.topic):
                return None
            version = await articles.get_version(connection, article.id, article.published_version)
        return SearchHit(
            title=version.headline,
            url=None,
            snippet=_passage(version, query),
            published_at=article.published_at.isoformat(),
            source=self.name,
            stored_as=f"article:{article.id}",
        )


def _passage(version: ArticleVersion, query: str) -> str:
    """The text from the sentence on that first has a word of the query; from the beginning if none has."""
    text = without_footnotes(version.content)
    # Each word is looked for at each place of a long text: some of them will do.
    words = [re.escape(word) for word in re.findall(r"\w{4,}", query)[:_MOST_WORDS]]
    start = 0
    if words and (match := re.search(rf"\b(?:{'|'.join(words)})", text, re.IGNORECASE)):
        ends = re.finditer(r"[.!?]\s+|\n\s*", text[: match.start()])
        start = max((end.end() for end in ends), default=0)
    return plain_text(text[start:], _SNIPPET)
