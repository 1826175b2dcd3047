"""What an embedding model makes of queries, of pages and of what they are held against.

Called by discovery, once for each question. Each text is embedded once.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from actors.platform.search.embedder import Embedder
from actors.platform.text.lexicon import Language, folders, lexicon
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
    grounds = {language: list(map(clip, texts)) for language, texts in backgrounds().items()}
    each = tuple(dict.fromkeys((*of_queries, *chain(*grounds.values()), *of_pages, *of_stored)))
    vector_of = dict(zip(each, await embedder.embed(each), strict=True))

    def vectors(texts: Sequence[str]) -> list[Vector]:
        return [vector_of[text] for text in texts]

    unlike = {language: vectors(some) for language, some in grounds.items()}
    return TextVectors(QueryVectors(vectors(of_queries), unlike), vectors(of_pages), vectors(of_stored))


def backgrounds() -> dict[Language, list[str]]:
    """Texts of everyday matters in each language: how near a model finds what is nothing to a query.

    An English-first model finds any two Polish texts near to each other, other models any two at all. How
    near a query is to the middle one of these is what unlike texts of that language come to.
    """
    return {each: lexicon(each, "backgrounds")["texts"].splitlines() for each in folders("backgrounds")}
