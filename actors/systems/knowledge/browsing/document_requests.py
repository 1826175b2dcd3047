"""The documents that a page asks for as it goes where it leads: each is judged, by address and by answer.

A visit has one. Chromium holds a document's request back until it is told to go on, redirects by servers and
by scripts alike. What else a page loads, and by whatever way, is for the proxy to judge.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import CDPSession

from actors.platform.web.page_urls import page_url
from actors.platform.web.plain_text import plain_text
from actors.systems.knowledge.browsing.page_egress import PageEgress, authority_of
from actors.systems.knowledge.browsing.proxy_connection import REFUSED
from models.errors import PageFailed
from models.knowledge.pages import PageFault

# Whether a page may be asked for: it returns when it may, and raises PageFailed where it may not.
Allow = Callable[[str], Awaitable[None]]
# Of servers and scripts together.
_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_READ = ("text/html", "application/xhtml+xml", "text/plain", "")
_FAULT_OF_PROXY: dict[str, PageFault] = {
    "guard": "refused_by_guard",
    "reach": "other_host",
    "robots": "refused_by_robots",
    "timeout": "timeout",
}


def too_large(max_bytes: int) -> PageFailed:
    """What is said of a page over that."""
    return PageFailed(
        f"it is over {max_bytes:,} bytes (knowledge.scraping.max_bytes), or loads several times that",
        fault="too_large",
    )


class DocumentRequests:
    """What a page asks for. `hops` are its addresses in order, the rest is of the last answer."""

    def __init__(
        self,
        *,
        way_out: PageEgress,
        max_bytes: int,
        allow_internal: tuple[str, ...],
        allow: Allow | None,
    ) -> None:
        self.hops: list[str] = []
        self.status = 0
        self.content_type: str | None = None
        self.retry_after: str | None = None
        self._way_out = way_out
        self._max_bytes = max_bytes
        self._allow_internal = allow_internal
        self._allow = allow

    async def authorise(self, cdp: CDPSession, asked: dict[str, Any]) -> None:
        """Give the proxy the page's credential; Chromium knows it from then on. Servers are given none."""
        proxy = asked["authChallenge"].get("source") == "Proxy"
        answer = {"response": "CancelAuth"}
        if proxy:
            answer = {
                "response": "ProvideCredentials",
                "username": self._way_out.user,
                "password": self._way_out.password,
            }
        given = {"requestId": asked["requestId"], "authChallengeResponse": answer}
        await cdp.send("Fetch.continueWithAuth", given)

    async def judge(self, cdp: CDPSession, frame: str, paused: dict[str, Any]) -> None:
        """Let a request, or a document's answer, go on (`Fetch.requestPaused`).

        Raises:
            PageFailed: it may not, and that is the end of the visit.
        """
        if paused.get("frameId") == frame:
            if "responseStatusCode" in paused:
                self._judge_answer(paused)
            elif "responseErrorReason" not in paused:
                await self._judge_request(str(paused["request"]["url"]))
        await cdp.send("Fetch.continueRequest", {"requestId": paused["requestId"]})

    async def _judge_request(self, url: str) -> None:
        if self.hops:
            if len(self.hops) > _MOST_REDIRECTS:
                raise PageFailed(f"redirects more than {_MOST_REDIRECTS} times", fault="http_error")
            plain = page_url(url, allow_internal=self._allow_internal)
            if self._way_out.reach is not None:
                self._way_out.reach.check(plain)
            if self._allow is not None:
                await self._allow(plain)
        self.hops.append(url)

    def _judge_answer(self, paused: dict[str, Any]) -> None:
        status = int(paused["responseStatusCode"])
        headers = {one["name"].lower(): str(one["value"]) for one in paused.get("responseHeaders", ())}
        ours = headers.get(REFUSED.lower())
        if ours is not None:  # the proxy's word: it takes out what others say in its name
            fault = _FAULT_OF_PROXY.get(ours, "unreachable")
            where = authority_of(str(paused["request"]["url"]))
            why = self._way_out.refused.get(where) or self._way_out.failed.get(where)
            raise PageFailed(why or f"the way to it is refused: {ours}", fault=fault)
        if status in _REDIRECTS and "location" in headers:
            return
        self.status, self.content_type = status, headers.get("content-type")
        self.retry_after = headers.get("retry-after")
        kind = (self.content_type or "").partition(";")[0].strip().lower()
        attached = headers.get("content-disposition", "").strip().lower().startswith("attachment")
        if status < 400 and (attached or kind not in _READ):
            told = plain_text(kind, 60) or "a download"
            raise PageFailed(f"{told} is no page that a browser reads here", fault="unsupported_type")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._max_bytes:
            raise too_large(self._max_bytes)
