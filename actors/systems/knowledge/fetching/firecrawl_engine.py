"""The engine `firecrawl`: a self-hosted API that renders pages elsewhere, speaking Firecrawl's `/v1/scrape`.

Called by the scraper where one is configured. The page's address is judged by the URL guard before, as it is
written and as it is resolved here, and so is the one that the API says it ended at; redirects in between are
the API's own. So is what it resolves a name to: it needs a way out that leads nowhere inside. The page's own
turn and robots.txt are asked for before, here; the API is reached through the URL guard, so an internal one
has to be in `outgoing.allow_internal`. Source: Firecrawl's API reference, version 1.
"""

import asyncio
import ipaddress
from datetime import UTC, datetime
from typing import Any

import httpx2
from pydantic import BaseModel, Field, ValidationError

from actors.platform.web.page_urls import host_of, page_url
from actors.platform.web.plain_text import plain_text
from actors.platform.web.resolver import system_resolver
from actors.platform.web.unpacking import NotUnpacked, unpacked
from actors.platform.web.url_guard import Resolve, guarded_client
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.fetching.turns import Refusals, Turns, take_turn
from models.addresses import Allowed
from models.config import FirecrawlConfig, OutgoingConfig, ScrapingConfig
from models.errors import AddressRefused, PageFailed
from models.knowledge.reach import PageReach

# On top of the page's own time, for the API to begin and to answer.
_SLACK_SECONDS = 30.0
_RESOLVING_SECONDS = 10.0
# What an answer's bytes may be of a page's: JSON spells some characters by several.
_AS_JSON, _AROUND_IT = 2, 65_536


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
        self,
        *,
        api: FirecrawlConfig,
        settings: ScrapingConfig,
        outgoing: OutgoingConfig,
        turns: Turns,
        resolve: Resolve | None = None,
    ) -> None:
        """Nothing is sent yet. `resolve` resolves the names of pages; the system's when absent."""
        self._api = api
        self._settings = settings
        self._allow_internal = outgoing.allow_internal
        self._allowed = Allowed(outgoing.allow_internal)
        self._resolve = resolve or system_resolver()
        self._turns = turns
        self._refusals = Refusals(turns)
        self._seconds = settings.browser.timeout_seconds + _SLACK_SECONDS
        self._client = guarded_client(outgoing, timeout=self._seconds, kept=8)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        """The page as the API's browser shows it.

        Raises:
            PageFailed: it has none, or can't be asked; or `reach` says how far it may lead, which the API
                would not heed.
        """
        if reach is not None:
            raise PageFailed(
                "firecrawl follows redirects wherever they lead: take another engine",
                fault="other_host",
            )
        await self._judge(url)
        await take_turn(self._turns, url, patience=self._settings.politeness.longest_wait_seconds)
        # Before it is: when the API asks, it does not say, and whoever stays silent is taken for dead.
        await self._turns.sent(url)
        scraped = await self._ask(url)
        if not scraped.success or scraped.data is None or scraped.data.html is None:
            said = plain_text(scraped.error or "no HTML", 200)
            raise PageFailed(f"firecrawl: {said}", fault="http_error")
        about = scraped.data.metadata
        final = page_url(about.url or about.source or url, allow_internal=self._allow_internal)
        if final != url:
            await self._judge(final)
        await self._refusals.heard(final, about.status, {})
        body = scraped.data.html.encode(errors="replace")
        if len(body) > self._settings.max_bytes:
            raise self._too_large()
        headers = {"content-type": "text/html; charset=utf-8"}
        return FetchedPage(
            url=final,
            engine="firecrawl",
            status=about.status,
            headers=headers,
            body=body,
            fetched_at=datetime.now(UTC),
        )

    async def _judge(self, url: str) -> None:
        """PageFailed where an address, which is one as it is written, resolves to one that is not public."""
        host = host_of(url).strip("[]")
        if self._allowed.names(host):
            return
        try:
            async with asyncio.timeout(_RESOLVING_SECONDS):
                found = await self._resolve(host)
        except (TimeoutError, OSError, UnicodeError, httpx2.HTTPError) as error:
            raise PageFailed(f"{host} can't be resolved", fault="unreachable") from error
        if not all(self._allowed.reaches(ipaddress.ip_address(address)) for address in found):
            raise PageFailed(f"{host} leads to an address that is not public", fault="refused_by_guard")

    async def _ask(self, url: str) -> _Scraped:
        headers = {"User-Agent": self._settings.user_agent, "Accept-Encoding": "gzip, deflate"}
        if self._api.api_key is not None:
            headers["Authorization"] = f"Bearer {self._api.api_key.get_secret_value()}"
        wanted: dict[str, Any] = {
            "url": url,
            "formats": ["rawHtml"],
            "timeout": int(self._settings.browser.timeout_seconds * 1000),
        }
        scrape = f"{self._api.url.rstrip('/')}/v1/scrape"
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream("POST", scrape, json=wanted, headers=headers) as answer,
            ):
                return _Scraped.model_validate_json(await self._read(answer))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise PageFailed(
                f"firecrawl: no whole answer within {self._seconds:g} s", fault="timeout"
            ) from error
        except httpx2.HTTPError as error:
            said = plain_text(str(error), 200) or type(error).__name__
            raise PageFailed(f"firecrawl can't be reached: {said}", fault="unreachable") from error
        except AddressRefused as error:
            raise PageFailed(f"firecrawl: {error}", fault="refused_by_guard") from error
        except (ValidationError, NotUnpacked) as error:
            raise PageFailed("firecrawl: the answer is not in its format", fault="http_error") from error

    async def _read(self, answer: httpx2.Response) -> bytes:
        most, body = _AS_JSON * self._settings.max_bytes + _AROUND_IT, bytearray()
        async for part in unpacked(answer, most):
            body += part
            if len(body) > most:
                raise self._too_large()
        return bytes(body)

    def _too_large(self) -> PageFailed:
        most = f"{self._settings.max_bytes:,} bytes (knowledge.scraping.max_bytes)"
        return PageFailed(f"it is over {most}", fault="too_large")
