"""The engine `browser`: pages as their scripts make them, in a Chromium behind the URL guard. An actor's.

Each page has a context of its own and a way out of its own. A page that hangs is given up in time, and does
not keep the others: where it can't be closed, Chromium is killed and begun anew. There is one at a time.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import psutil
from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from actors.platform.web.page_urls import page_url
from actors.platform.web.url_guard import Resolve
from actors.systems.knowledge.browsing.chromium import Chromium
from actors.systems.knowledge.browsing.document_requests import Allow
from actors.systems.knowledge.browsing.guarded_proxy import GuardedProxy
from actors.systems.knowledge.browsing.page_egress import AllowPart, PageEgress
from actors.systems.knowledge.browsing.visit import LOADS, Rendered, Visit
from models.config import BrowserConfig, OutgoingConfig, ScrapingConfig
from models.errors import PageFailed
from models.knowledge.reach import PageReach

_log = logging.getLogger("signoff.browser")

# Seconds: for closing a page; and until an end is told that was felt already.
_CLOSING = 3.0
_TOLD_LATE = 0.5
# Chromium may end under a page because of another one.
_TRIES = 2
_LOOK_AT_MEMORY = 1.0
# Over the limit by this, a page is ended at once; below it, those under way are read to their ends.
_FAR_OVER = 1.25
_LEAST_HEAP_MB = 128


class _Gone(Exception):
    """Chromium ended under a page."""


class Browser:
    """Renders pages, `tabs` of them at once. Make it and use it in one event loop."""

    def __init__(
        self,
        *,
        settings: BrowserConfig,
        scraping: ScrapingConfig,
        outgoing: OutgoingConfig,
        allow: Allow | None = None,
        allow_first: Allow | None = None,
        patience: float = 0.0,
        allow_part: AllowPart | None = None,
        locale: str = "en-US",
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        arguments: Sequence[str] = (),
    ) -> None:
        """Nothing is started before the first page.

        Args:
            allow: asked for each address that a page leads to, before that is asked for.
            allow_first: asked instead for the address that a page begins with, once there is a tab for it,
                and again when Chromium ended under it. Where it raises `later` with `retry_after_seconds`,
                the tab is others' for so long.
            patience: seconds that a page waits so, at most.
            allow_part: asked for each request of a page, whatever makes it; what may not is not loaded.
            resolve: what resolves names; the system's when absent.
            tls: what checks servers' certificates; those known to the system when absent.
            arguments: more of Chromium's own.
        """
        self._settings = settings
        self._scraping = scraping
        self._outgoing = outgoing
        self._allow = allow
        self._allow_first = allow_first or allow
        self._patience = patience
        self._allow_part = allow_part
        self._locale = locale
        self._arguments = arguments
        self._proxy = GuardedProxy(outgoing, idle_seconds=settings.timeout_seconds, resolve=resolve, tls=tls)
        self._tabs = asyncio.Semaphore(settings.tabs)
        self._changing = asyncio.Condition()
        self._running = AsyncExitStack()
        self._chromium: Chromium | None = None
        self._spent = False
        self._pages = 0
        self._open = 0
        self._watching: asyncio.Task[None] | None = None

    async def render(self, url: str, reach: PageReach | None = None) -> Rendered:
        """The page at an address, once its scripts have done their work.

        It takes `timeout_seconds` and 5 s more at most, from when it may be asked for; and once more where
        Chromium ended under it. An answer of 400 and above is an answer, too.

        Args:
            reach: where it may lead, and its parts; absent: wherever the guard lets them.

        Raises:
            PageFailed: `bad_url`, `refused_by_guard`, `timeout`, `unreachable`, `unsupported_type`,
                `too_large`, `unreadable`; `later` where Chromium ended under it, which may
                lie with another page; and what `allow` raises.
            BrowserUnavailable: there is no Chromium, or it does not start.
        """
        url = page_url(url, allow_internal=self._outgoing.allow_internal)
        for _ in range(_TRIES):
            try:
                async with self._tab_in_turn(url) as chromium:
                    return await self._visit(chromium, url, reach)
            except _Gone:
                _log.warning("Chromium ended while it had %s open", url)
        raise PageFailed("Chromium ended under it, twice", fault="later")

    async def close(self) -> None:
        """End Chromium and the proxy."""
        async with self._changing:
            await self._end_chromium()
            await self._running.aclose()

    @asynccontextmanager
    async def _tab_in_turn(self, url: str) -> AsyncIterator[Chromium]:
        """A tab of a Chromium that is there, and leave to ask for the page at once: in that order."""
        now = asyncio.get_running_loop().time
        until: float | None = None
        while True:
            async with self._tabs, self._in_chromium() as chromium:
                wait = await self._wait_for_leave(url)
                if wait is None:
                    yield chromium
                    return
            until = until or now() + self._patience  # waiting for a tab is not waiting for the host
            if now() + wait.facts["retry_after_seconds"] > until:
                raise wait
            await asyncio.sleep(wait.facts["retry_after_seconds"])

    async def _wait_for_leave(self, url: str) -> PageFailed | None:
        """None where the page may be asked for; `later`, where it is worth asking again."""
        try:
            if self._allow_first is not None:
                await self._allow_first(url)
        except PageFailed as failed:
            if failed.facts["fault"] == "later" and failed.facts.get("retry_after_seconds"):
                return failed
            raise
        return None

    async def _visit(self, chromium: Chromium, url: str, reach: PageReach | None) -> Rendered:
        self._pages += 1
        until = asyncio.get_running_loop().time() + self._settings.timeout_seconds
        most = LOADS * self._scraping.max_bytes
        with self._proxy.way_out(max_bytes=most, reach=reach) as way_out:
            visit = Visit(
                url,
                way_out=way_out,
                scraping=self._scraping,
                allow_internal=self._outgoing.allow_internal,
                allow=self._allow,
                allow_part=self._allow_part,
                until=until,
            )
            contexts: list[BrowserContext] = []
            reading = asyncio.create_task(self._read(chromium, visit, contexts))
            try:
                await _first(reading, visit.verdict, chromium.gone, seconds=self._settings.timeout_seconds)
                return await self._outcome(chromium, visit, way_out, reading)
            finally:
                visit.forget()
                reading.cancel()
                await asyncio.wait({reading}, timeout=1)
                await self._close(chromium, contexts)

    async def _read(self, chromium: Chromium, visit: Visit, contexts: list[BrowserContext]) -> Rendered:
        context = await chromium.playing.new_context(
            user_agent=self._scraping.user_agent,
            locale=self._locale,
            accept_downloads=False,
            service_workers="block",
            permissions=[],
            proxy={"server": self._proxy.url, "bypass": "<-loopback>"},
        )
        contexts.append(context)
        return await visit.read(context)

    async def _outcome(
        self,
        chromium: Chromium,
        visit: Visit,
        way_out: PageEgress,
        reading: "asyncio.Task[Rendered]",
    ) -> Rendered:
        if visit.verdict.done():
            raise visit.verdict.result()
        if chromium.gone.done():
            raise _Gone
        if not reading.done():
            if way_out.over:
                raise visit.failure_of(PlaywrightError("it loads too much"))
            told = f"not rendered within {self._settings.timeout_seconds:g} s"
            raise PageFailed(f"{told} (knowledge.scraping.browser.timeout_seconds)", fault="timeout")
        try:
            return reading.result()
        except PlaywrightError as error:
            # What ended it may be told a moment after it is felt.
            await _first(visit.verdict, chromium.gone, seconds=_TOLD_LATE)
            if visit.verdict.done():
                raise visit.verdict.result() from error
            if chromium.gone.done() or not chromium.playing.is_connected():
                raise _Gone from error
            raise visit.failure_of(error) from error

    async def _close(self, chromium: Chromium, contexts: list[BrowserContext]) -> None:
        for context in contexts:
            try:
                async with asyncio.timeout(_CLOSING):
                    await context.close()
            except TimeoutError:
                _log.warning("a page can't be closed: Chromium is killed")
                chromium.kill()
            except PlaywrightError as error:
                _log.debug("a page was gone before it was closed: %r", error)

    @asynccontextmanager
    async def _in_chromium(self) -> AsyncIterator[Chromium]:
        """A Chromium that is there. When it is spent, those under way end, and then it is begun anew."""
        async with self._changing:
            await self._changing.wait_for(lambda: self._open == 0 or not self._over())
            if self._chromium is None or self._over():
                await self._end_chromium()
                self._chromium = await self._begin_chromium()
            chromium = self._chromium
            self._open += 1
        try:
            yield chromium
        finally:
            async with self._changing:
                self._open -= 1
                self._changing.notify_all()

    def _over(self) -> bool:
        """Whether there is a Chromium that is at its end."""
        chromium = self._chromium
        spent = self._spent or self._pages >= self._settings.recycle_pages
        return chromium is not None and (spent or chromium.gone.done())

    async def _begin_chromium(self) -> Chromium:
        if self._watching is None:
            await self._running.enter_async_context(self._proxy)
            self._watching = asyncio.create_task(self._watch())
            self._running.callback(self._watching.cancel)
        self._spent, self._pages = False, 0
        return await Chromium.begin(
            self._settings.executable,
            proxy=self._proxy.url,
            key_digest=self._proxy.key_digest,
            heap_mb=max(self._settings.max_memory_mb // 2, _LEAST_HEAP_MB),
            arguments=self._arguments,
        )

    async def _end_chromium(self) -> None:
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            await chromium.end()

    async def _watch(self) -> None:
        """Have Chromium begun anew when it takes too much; end its largest page when that is far too much."""
        while True:
            await asyncio.sleep(_LOOK_AT_MEMORY)
            chromium = self._chromium
            if chromium is None or not self._open:
                continue
            try:
                await self._look_at_memory(chromium)
            except (psutil.Error, OSError) as error:
                _log.warning("Chromium's memory can't be told this time: %r", error)

    async def _look_at_memory(self, chromium: Chromium) -> None:
        taken = await asyncio.to_thread(chromium.memory_mb)
        if taken > self._settings.max_memory_mb:
            self._spent = True
        if taken > _FAR_OVER * self._settings.max_memory_mb:
            _log.warning("Chromium takes %.0f MB: its largest page is ended", taken)
            await asyncio.to_thread(chromium.end_largest_page)


async def _first(*awaited: "asyncio.Future[Any]", seconds: float) -> None:
    """Wait until one of some is done, or so long. None of them is ended by that."""
    await asyncio.wait(set(awaited), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
