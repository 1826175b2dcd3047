"""The engine `firecrawl`: a self-hosted API that renders pages elsewhere, speaking Firecrawl's `/v1/scrape`.

Called by the scraper where one is configured. The page's own turn and robots.txt are asked for before, here;
the API is reached through the URL guard, so an internal one has to be in `outgoing.allow_internal`. Source:
Firecrawl's API reference, version 1.
"""

from datetime import UTC, datetime
from typing import Any

import httpx2
from pydantic import BaseModel, Field, ValidationError

from actors.knowledge.fetching.fetched_page import FetchedPage
from actors.knowledge.fetching.page_urls import page_url
from actors.knowledge.fetching.turns import Turns
from actors.outside.plain_text import plain_text
from actors.outside.url_guard import guarded_client
from models.config import FirecrawlConfig, OutgoingConfig, ScrapingConfig
from models.errors import AddressRefused, PageFailed


class _Metadata(BaseModel):
    status: int = Field(default=200, alias="statusCode")
    url: str | None = None
    source: str | None = Field(default=None, alias="sourceURL")
    error: str | None = None


class _Data(BaseModel):
    html: str | None = Field(default=None, alias="rawHtml")
    metadata: _Metadata = _Metadata()


class _Scraped(BaseModel):
    success: bool
    data: _Data | None = None
    error: str | None = None


class FirecrawlEngine:
    """Fetches pages by way of the API. Make it in the event loop that uses it, and close it there."""

    def __init__(
        self, *, api: FirecrawlConfig, settings: ScrapingConfig, outgoing: OutgoingConfig, turns: Turns
    ) -> None:
        self._api = api
        self._settings = settings
        self._allow_internal = outgoing.allow_internal
        self._turns = turns
        self._client = guarded_client(outgoing, timeout=settings.browser.timeout_seconds + 30, kept=8)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def fetch(self, url: str) -> FetchedPage:
        """The page as the API's browser shows it.

        Raises:
            PageFailed: it has none, or can't be asked.
        """
        patience = self._settings.politeness.longest_wait_seconds
        turn = await self._turns.turn(url, patience=patience)
        if not turn.granted:
            assert turn.fault is not None, "a turn that is not granted says why"
            raise PageFailed(turn.reason or "its host has no turn for it", fault=turn.fault)
        try:
            told = await self._ask(url)
        finally:
            await self._turns.sent(url)  # by the API: when exactly, it does not say
        if not told.success or told.data is None or told.data.html is None:
            said = plain_text(told.error or "no HTML", 200)
            raise PageFailed(f"firecrawl: {said}", fault="http_error")
        about = told.data.metadata
        final = page_url(about.url or about.source or url, allow_internal=self._allow_internal)
        body = told.data.html.encode(errors="replace")
        if len(body) > self._settings.max_bytes:
            most = f"{self._settings.max_bytes:,} bytes (knowledge.scraping.max_bytes)"
            raise PageFailed(f"it is over {most}", fault="too_large")
        headers = {"content-type": "text/html; charset=utf-8"}
        return FetchedPage(
            url=final,
            engine="firecrawl",
            status=about.status,
            headers=headers,
            body=body,
            fetched_at=datetime.now(UTC),
        )

    async def _ask(self, url: str) -> _Scraped:
        headers = {"User-Agent": self._settings.user_agent}
        if self._api.api_key is not None:
            headers["Authorization"] = f"Bearer {self._api.api_key.get_secret_value()}"
        wanted: dict[str, Any] = {
            "url": url,
            "formats": ["rawHtml"],
            "timeout": int(self._settings.browser.timeout_seconds * 1000),
        }
        try:
            answer = await self._client.post(
                f"{self._api.url.rstrip('/')}/v1/scrape", json=wanted, headers=headers
            )
            return _Scraped.model_validate_json(answer.content)
        except httpx2.HTTPError as error:
            told = plain_text(str(error), 200) or type(error).__name__
            raise PageFailed(f"firecrawl can't be reached: {told}", fault="unreachable") from error
        except AddressRefused as error:
            raise PageFailed(f"firecrawl: {error}", fault="refused_by_guard") from error
        except ValidationError as error:
            raise PageFailed("firecrawl: the answer is not in its format", fault="http_error") from error
