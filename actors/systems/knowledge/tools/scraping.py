"""The tool `scrape_urls`: a few pages, now. Many are a batch's: `pipelines/scrape_urls.py`. Seed 002 §6.2.

Addresses are asked for politely and through the URL guard, as by the batch. With a project, what was read is
kept there, and what it holds already is not fetched again. What pages say is untrusted text of outsiders.
"""

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from actors.platform.runtime.batch_lease import batch_lease
from actors.platform.tools.tool import Input, Output, ToolContext, tool
from actors.platform.web.page_urls import page_url
from actors.systems.knowledge.scraping.scraper import page_of
from actors.systems.knowledge.scraping.scraping_settings import check_engine
from actors.systems.knowledge.tools.indexing import index_now
from actors.systems.knowledge.tools.projects import ANYWHERE, ProjectId, visible_project
from models.errors import PageFailed
from models.knowledge.pages import EngineChoice, PageFault, ScrapedPage
from models.record import Record
from models.store.knowledge import sources
from models.text import cut
from models.tools import PlainText

# What a caller waits for at most; what takes longer is for a batch, or for the next call.
_SECONDS = 90.0
_LEASE_SECONDS = 15.0
_SHOWN = 4000
Address = Annotated[PlainText, Field(min_length=1, max_length=2000)]


class ScrapeUrlsRequest(Input):
    """Pages by their addresses. `playwright` is another word for `browser`."""

    urls: Annotated[
        list[Address], Field(min_length=1, max_length=20, examples=[["https://www.ecb.europa.eu/press/"]])
    ]
    project_id: ProjectId | None = Field(default=None, description="Keep them there; absent: nowhere")
    engine: Literal["auto", "http", "browser", "playwright", "firecrawl"] = "auto"
    concurrency: int = Field(default=5, ge=1, le=20)


class ScrapedUrl(Record):
    """A page that was read. `text` is the beginning of its Markdown, of `characters` in all."""

    url: str
    final_url: str
    title: str | None
    date: str | None
    language: str | None
    text: str
    characters: int
    engine: str | None
    source_id: int | None


class FailedUrl(Record):
    """A page without text, and why."""

    url: str
    fault: PageFault
    reason: str | None


class ScrapeUrlsResponse(Output):
    """What was read, and what was not; together `total`. `note` says why search does not find it yet."""

    scraped: tuple[ScrapedUrl, ...]
    failed: tuple[FailedUrl, ...]
    total: int
    note: str | None = None


@tool(
    ANYWHERE,
    rest="POST /scrape-urls",
    effect=("writes", "leaves the site"),
    own_transactions=True,
)
async def scrape_urls(context: ToolContext, request: ScrapeUrlsRequest) -> ScrapeUrlsResponse:
    """Fetch up to twenty pages and find the text in them."""
    check_engine(_engine(request), context.config)
    if request.project_id is not None:
        async with context.database.connection() as connection:
            await visible_project(context, connection, request.project_id)
    refused, urls = _addresses(context, request.urls)
    if request.project_id is None:
        pages = await _scrape(context, urls, request)
        answer = _answer([*refused, *pages], {})
        async with context.database.transaction() as connection:
            await context.record(connection, answer)
        return answer
    return await _into_project(context, request, request.project_id, refused, urls)


async def _into_project(
    context: ToolContext,
    request: ScrapeUrlsRequest,
    project_id: int,
    refused: list[ScrapedPage],
    urls: list[str],
) -> ScrapeUrlsResponse:
    """What the project lacks is fetched under a lease, so that no batch fetches it meanwhile."""
    async with batch_lease(
        database=context.database, requested_by=context.caller.subject, lease_seconds=_LEASE_SECONDS
    ) as batch_id:
        async with context.database.transaction() as connection:
            claims = await sources.claim(connection, project_id=project_id, urls=urls, batch_id=batch_id)
        pages = await _scrape(context, list(claims.ours), request)
        busy = [
            ScrapedPage(url=url, fault="later", reason="a batch is fetching it: ask again later")
            for url in claims.elsewhere
        ]
        async with context.database.transaction() as connection:
            await sources.settle(connection, project_id=project_id, batch_id=batch_id, pages=pages)
            known = await sources.by_urls(connection, project_id, urls)
            held = [page_of(known[url]) for url in claims.held if url in known]
            ids = {url: source.id for url, source in known.items()}
            answer = _answer([*refused, *held, *pages, *busy], ids)
            await context.record(connection, answer)
    note = await index_now(
        context, [ids[page.url] for page in pages if page.page is not None and page.url in ids]
    )
    return answer.model_copy(update={"note": note})


def _addresses(context: ToolContext, texts: list[str]) -> tuple[list[ScrapedPage], list[str]]:
    """What is refused as it is written; and the others, each once, in their one form."""
    refused: list[ScrapedPage] = []
    urls: dict[str, None] = {}
    for text in dict.fromkeys(texts):
        try:
            urls[page_url(text, allow_internal=context.config.outgoing.allow_internal)] = None
        except PageFailed as failed:
            refused.append(ScrapedPage(url=text, fault=failed.facts["fault"], reason=str(failed)))
    return refused, list(urls)


async def _scrape(context: ToolContext, urls: list[str], request: ScrapeUrlsRequest) -> list[ScrapedPage]:
    engine = _engine(request)
    scraper, room = context.agent("scraper"), asyncio.Semaphore(request.concurrency)

    async def one(url: str) -> ScrapedPage:
        try:
            async with asyncio.timeout(_SECONDS), room:
                page: ScrapedPage = await scraper.scrape(url, engine)
                return page
        except TimeoutError:
            reason = f"not done within {_SECONDS:g} s: ask again, or submit a batch"
            return ScrapedPage(url=url, fault="later", reason=reason)

    return list(await asyncio.gather(*(one(url) for url in urls)))


def _engine(request: ScrapeUrlsRequest) -> EngineChoice:
    return "browser" if request.engine == "playwright" else request.engine


def _answer(pages: list[ScrapedPage], ids: dict[str, int]) -> ScrapeUrlsResponse:
    scraped = tuple(
        ScrapedUrl(
            url=page.url,
            final_url=page.final_url or page.url,
            title=page.page.title,
            date=page.page.date,
            language=page.page.language,
            text=cut(page.page.text, _SHOWN),
            characters=len(page.page.text),
            engine=page.engine,
            source_id=ids.get(page.url),
        )
        for page in pages
        if page.page is not None
    )
    failed = tuple(
        FailedUrl(url=page.url, fault=page.fault or "no_text", reason=page.reason)
        for page in pages
        if page.page is None
    )
    return ScrapeUrlsResponse(scraped=scraped, failed=failed, total=len(pages))
