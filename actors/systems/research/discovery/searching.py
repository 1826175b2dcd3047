"""Asking the search providers: each with every query, one after the other, and all providers at once.

Called by discovery. One that fails is told of in the notes, and the others' hits stand.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from actors.platform.web.providers.search import SearchProvider
from models.content.outside import DateRange, SearchHit
from models.errors import AddressRefused, ProviderFailed, ProviderLimited

# Providers give so many hits to a query at most, and Google's cost a query for each ten.
_MOST_HITS, _PAGE = 50, 10


class SearchResults(NamedTuple):
    """What all providers found, and what kept them from it. `failed`: an error, where none was answered."""

    hits: tuple[SearchHit, ...]
    notes: tuple[str, ...]
    failed: Exception | None


class _OneProvider(NamedTuple):
    hits: list[SearchHit]
    notes: list[str]
    errors: list[Exception]
    answered: list[str]


async def search(
    providers: Sequence[SearchProvider], queries: Sequence[str], *, wanted: int, date_range: DateRange
) -> SearchResults:
    """All hits of some queries, a provider's after the other's.

    Args:
        wanted: pages that are wanted of all together.
    """
    limit = hits_per_query(len(queries), wanted)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_ask(provider, queries, limit, date_range)) for provider in providers]
    except BaseExceptionGroup as several:  # one of them says what is away
        raise several.exceptions[0] from several
    said = [task.result() for task in tasks]
    errors = [error for one in said for error in one.errors]
    return SearchResults(
        tuple(hit for one in said for hit in one.hits),
        tuple(
            dict.fromkeys(
                note
                for one, provider in zip(said, providers, strict=True)
                for note in one.notes
                # That it searches no web is no news where another one does.
                if provider.name != "local" or len(providers) == 1
            )
        ),
        errors[0] if errors and not any(one.answered for one in said) else None,
    )


def hits_per_query(queries: int, wanted: int) -> int:
    """Twice what is wanted of all queries together: much is found twice. Whole pages of ten."""
    share = -(-2 * wanted // queries)
    return min(_MOST_HITS, -(-share // _PAGE) * _PAGE)


async def _ask(
    provider: SearchProvider, queries: Sequence[str], limit: int, date_range: DateRange
) -> _OneProvider:
    said = _OneProvider([], [], [], [])
    for query in queries:
        try:
            answer = await provider.search("web", query, limit, date_range)
        except (ProviderFailed, ProviderLimited, AddressRefused) as error:
            said.errors.append(error)
            said.notes.append(f"{provider.name}: {error}")
            # It takes no more queries for now.
            if isinstance(error, ProviderLimited):
                break
            continue
        said.answered.append(query)
        said.hits.extend(answer.hits)
        if answer.note:
            said.notes.append(f"{provider.name}: {answer.note}")
    return said
