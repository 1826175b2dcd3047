"""One visit of a page: it is opened, followed where it leads, left to settle, and read.

Called by `Browser`, which bounds its time and closes what it leaves. Every address that the page goes to is
judged before it is asked for, by its form and by whoever keeps robots.txt; the proxy judges where it leads.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Dialog, Page
from playwright.async_api import Error as PlaywrightError

from actors.platform.sending import Clearance
from actors.platform.web.plain_text import plain_text
from actors.systems.knowledge.browsing.document_requests import Allow, DocumentRequests, too_large
from actors.systems.knowledge.browsing.page_egress import AllowPart, PageEgress, authority_of
from actors.systems.knowledge.browsing.page_scripts import HTML, STATE
from models.config import ScrapingConfig
from models.errors import PageFailed
from models.knowledge.pages import PageFault
from models.record import Record

# What a page and its parts may take together, in pages' sizes.
LOADS = 4
# Seconds: what a page that never falls silent is given; what is looked at in between; what a script may take.
# And what is left for reading a page that is still being parsed.
_SETTLING = 8.0
_READING = 3.0
_BETWEEN = 0.2
_SCRIPT = 5.0
# A page with fewer letters may still be about to be made, and is watched for longer.
_FEW, _LOOKS, _LOOKS_AT_FEW = 200, 2, 6
_LONGEST_REFRESH = 5.0
_MOST_DIALOGS = 20
_MEDIA = ("mp4", "webm", "m4v", "mov", "mp3", "m4a", "ogg", "wav", "m3u8", "woff", "woff2", "ttf")
_NOT_LOADED = ["*/favicon.ico", *(f"*.{ending}{rest}" for ending in _MEDIA for rest in ("", "?*"))]
_GUARD_ERRORS = (
    "ERR_UNSAFE_REDIRECT",
    "ERR_UNKNOWN_URL_SCHEME",
    "ERR_DISALLOWED_URL_SCHEME",
    "ERR_UNSAFE_PORT",
)


class Rendered(Record):
    """What a browser brings of a page.

    `status`, `content_type` and `retry_after` are the server's; `html` is what the scripts made of the page:
    UTF-8, whatever its own `<meta charset>` says, with open shadow roots and frames of the same site in their
    places.
    `redirects` are the addresses before `final_url`, by servers' redirects and by scripts'. `refused` counts
    requests of the page that the guard refused, and `bytes` what came and went for all of them.
    """

    status: int
    final_url: str
    html: bytes
    content_type: str | None
    retry_after: str | None
    redirects: tuple[str, ...]
    refused: int
    bytes: int


class Visit:
    """A page in a context of its own. `verdict` gets what ends it early; `until` is of the loop's clock."""

    def __init__(
        self,
        url: str,
        *,
        way_out: PageEgress,
        scraping: ScrapingConfig,
        allow_internal: tuple[str, ...],
        allow: Allow | None,
        allow_part: AllowPart | None,
        until: float,
    ) -> None:
        self.verdict: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._url = url
        self._way_out = way_out
        self._scraping = scraping
        self._until = until
        self._documents = DocumentRequests(
            way_out=way_out,
            max_bytes=scraping.max_bytes,
            allow_internal=allow_internal,
            allow=allow,
        )
        self._allow_part = allow_part
        if allow_part is not None:
            way_out.allow = self._allowed
        self._dialogs = 0
        # The address of the document that is shown: as it was read, whatever its scripts call it.
        self._shown = ""
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, context: BrowserContext) -> Rendered:
        """Open the page in a fresh context, and read it once it has settled.

        Raises:
            PageFailed: it leads where it may not, is nothing that is read here, or too large.
            PlaywrightError: Chromium could not open it, or ended; see `failure_of`.
        """
        page = await context.new_page()
        context.on("page", lambda popup: self._do(self._close(popup)))
        page.on("crash", lambda _: self._end(PageFailed("its page crashed", fault="unreadable")))
        page.on("dialog", lambda dialog: self._do(self._dismiss(dialog)))
        cdp = await context.new_cdp_session(page)
        frame = (await cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        await self._intercept(cdp, frame)
        try:
            await self._may_be_asked_for()
            # Not until it is loaded: that is never told of a page that asks for `mailto:` meanwhile.
            await page.goto(self._url, wait_until="commit", timeout=0)
        except PlaywrightError as error:
            if "interrupted by another navigation" not in error.message:
                raise
        await self._settle(page, cdp, frame)
        return await self._rendered(cdp, frame)

    async def _may_be_asked_for(self) -> None:
        """See that it may still be, right before it is. Raises Fenced, NotSent."""
        clearance = Clearance()
        try:
            await clearance.take()
        finally:
            await clearance.end()

    def failure_of(self, error: PlaywrightError) -> PageFailed:
        """What an error of Chromium's means for the page."""
        said = plain_text(error.message.partition("\n")[0], 200)
        if self._way_out.over:
            return too_large(self._scraping.max_bytes)
        where = authority_of(self._documents.hops[-1] if self._documents.hops else self._url)
        if where in self._way_out.refused:
            return PageFailed(self._way_out.refused[where], fault="refused_by_guard")
        if why := self._way_out.failed.get(where):
            return PageFailed(f"can't be reached, or broke off: {plain_text(why, 200)}", fault="unreachable")
        fault: PageFault = "unreachable"
        if "ERR_ABORTED" in said or "Download is starting" in said:
            fault = "no_text" if self._documents.status in (204, 205) else "unsupported_type"
        elif any(name in said for name in _GUARD_ERRORS):
            fault = "refused_by_guard"
        elif "net::ERR_" not in said or "ERR_CONTENT_DECODING" in said or "ERR_INVALID_RESPONSE" in said:
            fault = "unreadable"
        return PageFailed(f"Chromium can't open it: {said}", fault=fault)

    def forget(self) -> None:
        """End what is under way for the page."""
        for task in self._tasks:
            task.cancel()

    async def _intercept(self, cdp: CDPSession, frame: str) -> None:
        cdp.on("Fetch.requestPaused", lambda paused: self._do(self._documents.judge(cdp, frame, paused)))
        cdp.on("Page.frameNavigated", lambda told: self._shows(frame, told["frame"]))
        cdp.on("Fetch.authRequired", lambda asked: self._do(self._documents.authorise(cdp, asked)))
        await cdp.send("Page.enable")
        await cdp.send("Network.enable")
        await cdp.send("Network.setBlockedURLs", {"urls": _NOT_LOADED})
        stages = [{"resourceType": "Document", "requestStage": stage} for stage in ("Request", "Response")]
        await cdp.send("Fetch.enable", {"patterns": stages, "handleAuthRequests": True})

    async def _settle(self, page: Page, cdp: CDPSession, frame: str) -> None:
        """Wait until nothing is loaded and the text no longer grows, or for as long as a page is given."""
        now = asyncio.get_running_loop().time
        until = self._until - _READING
        before, same, parsed = -1, 0, False
        while now() < until:
            try:
                async with asyncio.timeout_at(until):
                    letters, parsing, refresh = await self._evaluate(cdp, frame, STATE)
                    if not parsing:
                        until = until if parsed else min(until, now() + _SETTLING)
                        parsed = True
                        async with asyncio.timeout_at(until):
                            await page.wait_for_load_state("networkidle", timeout=0)
            except TimeoutError:
                return
            except PlaywrightError:
                if page.is_closed() or self.verdict.done():
                    raise
                before, same = -1, 0  # it goes elsewhere: that is another document
                await asyncio.sleep(_BETWEEN)
                continue
            same = same + 1 if letters == before and not parsing else 0
            leaving = 0 <= refresh <= _LONGEST_REFRESH
            if same >= (_LOOKS if letters >= _FEW else _LOOKS_AT_FEW) and not leaving:
                return
            before = letters
            await asyncio.sleep(_BETWEEN)

    def _shows(self, frame: str, navigated: dict[str, Any]) -> None:
        """Another document is shown; what its scripts call it (History API) is not told here."""
        if navigated["id"] == frame:
            self._shown = str(navigated["url"])

    async def _rendered(self, cdp: CDPSession, frame: str) -> Rendered:
        most = self._scraping.max_bytes
        html = await self._evaluate(cdp, frame, HTML.replace("MOST", str(most)))
        if self._way_out.over or html is None:
            raise too_large(self._scraping.max_bytes)
        body = str(html).encode("utf-8", "replace")
        if len(body) > most:
            raise too_large(self._scraping.max_bytes)
        final = urlsplit(self._shown)
        if final.scheme not in ("http", "https"):
            if final.scheme == "chrome-error":
                raise self.failure_of(PlaywrightError("the page it leads to can't be opened"))
            told = plain_text(final.scheme, 40)
            raise PageFailed(f"it leads to a {told}: address, which is no page", fault="refused_by_guard")
        return Rendered(
            status=self._documents.status,
            final_url=self._shown,
            html=body,
            content_type=self._documents.content_type,
            retry_after=self._documents.retry_after,
            redirects=tuple(self._documents.hops[:-1]),
            refused=self._way_out.refusals,
            bytes=self._way_out.bytes,
        )

    async def _evaluate(self, cdp: CDPSession, frame: str, script: str) -> Any:
        """A script's result, in a world that the page's own scripts do not reach."""
        world = await cdp.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "signoff"})
        answer = await cdp.send(
            "Runtime.evaluate",
            {
                "expression": script,
                "contextId": world["executionContextId"],
                "returnByValue": True,
                "timeout": _SCRIPT * 1000,
            },
        )
        if "exceptionDetails" in answer:
            raise PlaywrightError(f"the page can't be read: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")

    async def _allowed(self, url: str) -> bool:
        """Asked by the proxy of each request. Where nobody can tell, it may not, and the visit ends."""
        assert self._allow_part is not None
        try:
            return await self._allow_part(url)
        except Exception as error:  # noqa: BLE001  # it is told to whoever wants the page
            self._end(error)
            return False

    async def _close(self, popup: Page) -> None:
        await popup.close()

    async def _dismiss(self, dialog: Dialog) -> None:
        self._dialogs += 1
        if self._dialogs <= _MOST_DIALOGS:  # after that it waits, until its time is up
            await dialog.dismiss()

    def _end(self, why: BaseException) -> None:
        if not self.verdict.done():
            self.verdict.set_result(why)

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what an event asks for; where that fails, the visit ends with it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        # Chromium's own errors here: what the event was about has gone meanwhile, as popups do.
        if not isinstance(error, PlaywrightError):
            self._end(error)
