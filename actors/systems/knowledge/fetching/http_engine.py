"""The engine `http`: a page by GET, over HTTP/2 where the server speaks it, through the URL guard.

Called by the scraper. Each request, a redirect's too, waits for its turn at the host and keeps to its
robots.txt. Cookies live for one page's redirects. Nothing is known of what a page says: `verdict` tells that.
"""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx2

from actors.platform.web.page_urls import page_url
from actors.platform.web.plain_text import plain_text
from actors.platform.web.unpacking import NotUnpacked, unpacked
from actors.platform.web.url_guard import Resolve, guarded_client
from actors.systems.knowledge.fetching.fetched_page import FetchedPage
from actors.systems.knowledge.fetching.turns import Refusals, Turns, take_turn
from models.config import OutgoingConfig, ScrapingConfig
from models.errors import AddressRefused, PageFailed
from models.knowledge.reach import PageReach

_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,*/*;q=0.5"
# Connections that stay open between pages, of all hosts together.
_KEPT = 100
# Kinds of content that nobody reads here: their bodies are not even fetched.
_NEVER_READ = ("image/", "video/", "audio/", "font/")


@dataclass
class _Journey:
    """One page's way through redirects and tries."""

    at: str
    reach: PageReach | None = None
    redirects: int = 0
    tries: int = 0
    cookies: httpx2.Cookies = field(default_factory=httpx2.Cookies)


class _Sending:
    """Tells the host's turns when a request is on its way, as soon as httpcore does (`trace`)."""

    def __init__(self, turns: Turns, url: str) -> None:
        self._turns = turns
        self._url = url
        self._telling: asyncio.Future[None] | None = None

    async def heard(self, event: str, info: dict[str, Any]) -> None:
        """What httpcore does: the turns are told without the answer's waiting for that."""
        if event.endswith(".send_request_headers.complete"):
            self._tell()

    async def finish(self) -> None:
        """Return once the turns have been told, also of a request that could not be sent."""
        await (self._telling or self._tell())

    def _tell(self) -> "asyncio.Future[None]":
        self._telling = asyncio.ensure_future(self._turns.sent(self._url))
        return self._telling


class HttpEngine:
    """Fetches pages. Make it in the event loop that uses it, and close it there."""

    def __init__(
        self,
        *,
        settings: ScrapingConfig,
        outgoing: OutgoingConfig,
        turns: Turns,
        resolve: Resolve | None = None,
        max_bytes: int | None = None,
    ) -> None:
        """Nothing is sent yet. `max_bytes` of a body, unpacked; the configuration's where it is absent."""
        self._settings = settings
        self._max_bytes = settings.max_bytes if max_bytes is None else max_bytes
        self._too_large = f"it is over {self._max_bytes:,} bytes" + (
            " (knowledge.scraping.max_bytes)" if max_bytes is None else ""
        )
        self._allow_internal = outgoing.allow_internal
        self._turns = turns
        self._refusals = Refusals(turns)
        self._client = guarded_client(
            outgoing, timeout=settings.timeout_seconds, resolve=resolve, kept=_KEPT, http2=True
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def fetch(self, url: str, reach: PageReach | None = None) -> FetchedPage:
        """What is at an address (in its one form; see `page_urls`), after at most ten redirects.

        An answer of 400 and above is an answer, too: what it means is for others to say. 429 and 503 are
        asked again, as often as the configuration says, when the host wants it; the last one is the answer.

        Args:
            reach: where it may lead; absent: wherever the guard lets it.

        Raises:
            PageFailed: there is none; the fault says why.
        """
        journey = _Journey(at=url, reach=reach)
        while True:
            await take_turn(self._turns, journey.at, patience=self._settings.politeness.longest_wait_seconds)
            try:
                page = await self._once(journey)
            except PageFailed as failed:
                if failed.facts["fault"] != "unreachable" or not self._tries_again(journey):
                    raise
                # A host that breaks off may be overburdened.
                await self._turns.told_to_wait(journey.at, None)
                continue
            if page is None:
                continue  # redirected
            refused = await self._refusals.heard(journey.at, page.status, page.headers)
            if not (refused and self._tries_again(journey)):
                return page

    def _tries_again(self, journey: _Journey) -> bool:
        journey.tries += 1
        return journey.tries <= self._settings.politeness.retries

    async def _once(self, journey: _Journey) -> FetchedPage | None:
        """One request: the answer, or None where it redirects, and the journey goes on from there."""
        seconds = self._settings.timeout_seconds
        sending = _Sending(self._turns, journey.at)
        request = self._client.build_request(
            "GET", journey.at, headers=self._headers(), extensions={"trace": sending.heard}
        )
        journey.cookies.set_cookie_header(request)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._client.send(request, stream=True)
                try:
                    journey.cookies.extract_cookies(answer)
                    if answer.status_code in _REDIRECTS and "location" in answer.headers:
                        self._redirect(journey, answer.headers["location"])
                        return None
                    return await self._read(answer, journey.at)
                finally:
                    await answer.aclose()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise PageFailed(
                f"no whole answer within {seconds:g} s (knowledge.scraping.timeout_seconds)", fault="timeout"
            ) from error
        except httpx2.HTTPError as error:
            told = plain_text(str(error), 200) or type(error).__name__
            raise PageFailed(f"can't be reached, or broke off: {told}", fault="unreachable") from error
        except AddressRefused as error:
            raise PageFailed(str(error), fault="refused_by_guard") from error
        finally:
            await sending.finish()

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip, deflate",
            "User-Agent": self._settings.user_agent,
        }

    def _redirect(self, journey: _Journey, location: str) -> None:
        journey.redirects += 1
        if journey.redirects > _MOST_REDIRECTS:
            raise PageFailed(f"redirects more than {_MOST_REDIRECTS} times", fault="http_error")
        journey.at = page_url(location, base=journey.at, allow_internal=self._allow_internal)
        if journey.reach is not None:
            journey.reach.check(journey.at)

    async def _read(self, answer: Any, url: str) -> FetchedPage:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if answer.status_code < 400 and kind.startswith(_NEVER_READ):
            told = plain_text(kind, 60)
            raise PageFailed(
                f"{told} is not read here: HTML, PDF and plain text are", fault="unsupported_type"
            )
        most, body = self._max_bytes, bytearray()
        try:
            async for part in unpacked(answer, most):
                body += part
                if len(body) > most:
                    raise PageFailed(self._too_large, fault="too_large")
        except NotUnpacked as error:
            raise PageFailed(str(error), fault="unreadable") from error
        return FetchedPage(
            url=url,
            engine="http",
            status=answer.status_code,
            headers=headers,
            body=bytes(body),
            fetched_at=datetime.now(UTC),
        )
