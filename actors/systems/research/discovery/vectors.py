"""What an embedding model makes of queries, of pages and of what they are held against.

Called by discovery, once for each question. Each text is embedded once.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from actors.platform.search.embedder import Embedder
from actors.systems.research.discovery.backgrounds import BACKGROUNDS
from actors.systems.research.discovery.pages import FoundPage
from actors.systems.research.discovery.scoring import QueryVectors, Vector
from models.content.outside import SearchHit


class TextVectors(NamedTuple):
    """What a model makes of the queries, of the pages and of the stored texts; None without one."""

    queries: QueryVectors | None
    pages: Sequence[Vector] | None
    stored: Sequence[Vector] | None


async def text_vectors(
    embedder: Embedder | None,
    clip: Callable[[str], str],
    queries: Sequence[str],
    pages: Sequence[FoundPage],
    stored: Sequence[SearchHit],
) -> TextVectors:
    """Each text is embedded once."""
    if embedder is None:
        return TextVectors(None, None, None)
    of_pages = [clip(page.text) for page in pages]
    of_stored = [clip(f"{hit.title}. {hit.snippet}") for hit in stored]
    of_queries = [clip(query) for query in queries]
    grounds = {language: [clip(text) for text in some] for language, some in BACKGROUNDS.items()}
    each = tuple(dict.fromkeys((*of_queries, *chain(*grounds.values()), *of_pages, *of_stored)))
    vector_of = dict(zip(each, await embedder.embed(each), strict=True))

    def vectors(texts: Sequence[str]) -> list[Vector]:
        return [vector_of[text] for text in texts]

    backgrounds = {language: vectors(some) for language, some in grounds.items()}
    return TextVectors(QueryVectors(vectors(of_queries), backgrounds), vectors(of_pages), vectors(of_stored))
