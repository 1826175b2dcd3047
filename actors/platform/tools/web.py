"""Tools that search the web and the news, with whichever provider is configured. Seed 000 §3.1, §7.1.

No transaction is open while a provider is asked. What is found is untrusted text of outsiders.
"""

from typing import Annotated

from pydantic import Field

from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.web.providers.search import ProviderName, SearchContext, lacking, provider_of
from models.content.outside import SearchHit, SearchKind
from models.tools import PlainText, ToolPermission

ANALYST = ToolPermission(required_role="analyst", topic_scoped=False)


SearchQuery = Annotated[
    PlainText,
    Field(
        description="Search query",
        min_length=1,
        max_length=2000,
        pattern=r"\S",
        examples=["ECB rate decision October 2026"],
    ),
]


class WebSearchRequest(Input):
    """What to look for, in the words of the search engine."""

    query: SearchQuery
    limit: int = Field(default=10, ge=1, le=20)
    provider: ProviderName | None = Field(
        default=None, description="Who to ask; the first that is configured if absent"
    )


class WebSearchResponse(Output):
    """The hits, best first. `note` says what kept the search from being whole."""

    provider: str
    results: tuple[SearchHit, ...]
    note: str | None = None


@tool(
    ANALYST,
    rest="POST /research/web-search",
    effect="leaves the site",
    own_transactions=True,
    lacking=lacking,
)
async def web_search(context: ToolContext, request: WebSearchRequest) -> WebSearchResponse:
    """Search the web; where only `local` is configured, what is stored here."""
    return await _search(context, "web", request)


@tool(ANALYST, rest="POST /research/news", effect="leaves the site", own_transactions=True, lacking=lacking)
async def search_news(context: ToolContext, request: WebSearchRequest) -> WebSearchResponse:
    """Search recent news."""
    return await _search(context, "news", request)


@tool(
    ANALYST,
    rest="POST /research/financial-news",
    effect="leaves the site",
    own_transactions=True,
    lacking=lacking,
)
async def search_financial_news(context: ToolContext, request: WebSearchRequest) -> WebSearchResponse:
    """Search recent news about markets, companies and the economy."""
    return await _search(context, "financial_news", request)


async def _search(context: ToolContext, kind: SearchKind, request: WebSearchRequest) -> WebSearchResponse:
    asked = SearchContext(context.caller, context.config, context.database, context.search)
    provider = provider_of(asked, request.provider)
    answer = await provider.search(kind, request.query.strip(), request.limit)
    return WebSearchResponse(provider=answer.provider, results=answer.hits, note=answer.note)
