"""The tool `search_web`: addresses of pages about something, to be scraped. Seed 002 §6.2.

It asks the site's search provider, as `web_search` does. The addresses are in the one form that `scrape_urls`
takes and sources are kept under; nothing is fetched. What was found is untrusted text of outsiders.
"""

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.tools.web import SearchQuery
from actors.platform.web.page_urls import page_url
from actors.platform.web.providers.search import SearchContext, lacking, provider_of
from actors.systems.knowledge.tools.projects import ANYWHERE
from models.content.outside import DateRange, SearchAnswer
from models.errors import PageFailed
from models.record import Record


class SearchWebRequest(Input):
    """What pages are wanted, in the words of the search engine."""

    query: SearchQuery
    num_results: int = Field(default=20, ge=1, le=50)
    date_range: DateRange = Field(default="any", description="How old a page may be at most")


class FoundUrl(Record):
    """A page that was found. `published_at` is as the provider said it; `source` is the provider."""

    title: str
    url: str
    snippet: str
    published_at: str | None
    source: str


class SearchWebResponse(Output):
    """What was found, best first: `urls` are those of `results`, `total` of them, each page once.

    `note` says what kept the search from being whole, and what was left out.
    """

    urls: tuple[str, ...]
    total: int
    query: str
    results: tuple[FoundUrl, ...]
    provider: str
    note: str | None = None


@tool(ANYWHERE, rest="POST /search-web", effect="leaves the site", own_transactions=True, lacking=lacking)
async def search_web(context: ToolContext, request: SearchWebRequest) -> SearchWebResponse:
    """Search the web for URLs related to a query, for `scrape_urls` to fetch."""
    query = request.query.strip()
    asked = SearchContext(context.caller, context.config, context.database, context.search)
    answer = await provider_of(asked).search("web", query, request.num_results, request.date_range)
    found, notes = _pages(answer, context.config.outgoing.allow_internal)
    return SearchWebResponse(
        urls=tuple(found),
        total=len(found),
        query=query,
        results=tuple(found.values()),
        provider=answer.provider,
        note="; ".join(note for note in (answer.note, *notes) if note) or None,
    )


def _pages(answer: SearchAnswer, allow_internal: tuple[str, ...]) -> tuple[dict[str, FoundUrl], list[str]]:
    """The pages by their addresses, and what was left out because it could not be scraped."""
    found: dict[str, FoundUrl] = {}
    stored = refused = 0
    for hit in answer.hits:
        if hit.url is None:
            stored += 1
            continue
        try:
            url = page_url(hit.url, allow_internal=allow_internal)
        except PageFailed:
            refused += 1
            continue
        found.setdefault(
            url,
            FoundUrl(
                title=hit.title,
                url=url,
                snippet=hit.snippet,
                published_at=hit.published_at,
                source=hit.source,
            ),
        )
    notes = []
    if stored:
        notes.append(f"hits left out that are stored here and have no address: {stored}; web_search has them")
    if refused:
        notes.append(f"hits left out whose address may not be fetched from here: {refused}")
    return found, notes
