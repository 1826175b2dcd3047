"""Chromium and the pages of an approved host that a person left out: by no way is one of them asked for."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from actors.knowledge.browsing.browser import Browser
from models.knowledge.reach import PageReach
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.integration.knowledge.browsers import HTML, NEEDS_CHROMIUM, OPEN, browser
from tests.integration.knowledge.ways_to_a_page import FRAMES, HEADERS, REDIRECTED, WAYS, filled, page_of_ways
from tests.unit.outside.certificates import certificate

pytestmark = NEEDS_CHROMIUM


class Site:
    """An approved site, over http or https, with a page that goes all the ways to the others."""

    def __init__(self, receiver: WebhookReceiver, scheme: str) -> None:
        self.receiver = receiver
        self.base = f"{scheme}://site.test:{receiver.port}"
        self.left_out = [f"{self.base}/left/{name}" for name in WAYS]
        receiver.always("/", Reply(200, HTML, page_of_ways(self.base).encode()))
        script = f"fetch('{self.base}/left/service-fetch'); fetch('{self.base}/left/background-fetch')"
        receiver.always("/worker/service-fetch.js", _script(script))
        for name, text in FRAMES.items():
            said = (
                line.partition(": ") for line in filled(HEADERS.get(name, ""), name, self.base).split("\r\n")
            )
            headers = {header: value for header, _, value in said if header}
            body = filled(text, name, self.base).encode()
            hints = f"<{self.base}/left/{name}>; rel=preload; as=script" if name == "header-hints" else ""
            receiver.always(f"/frame/{name}", Reply(200, HTML | headers, body, hints=hints))
        for name in REDIRECTED:
            status = 307 if name == "hop-post" else 302
            receiver.always(f"/hop/{name}", Reply(status, {"Location": f"/left/{name}"}, b""))

    def gone(self) -> set[str]:
        """The ways that were gone to their ends, in whatever words."""
        paths = [got.path.lower() for got in self.receiver.got]
        return {name for name in WAYS if any(_is_of(path, name) for path in paths)}


def _is_of(path: str, name: str) -> bool:
    return path.startswith(f"/left/{name}") and not path.removeprefix(f"/left/{name}")[:1].strip(".?/;%")


def _script(text: str) -> Reply:
    return Reply(200, {"Content-Type": "text/javascript"}, text.encode())


async def test_no_way_leads_a_page_to_one_that_was_left_out(tmp_path: Path) -> None:
    server, trusting = certificate(tmp_path, "site.test")
    async with (
        WebhookReceiver() as plain,
        WebhookReceiver(server) as secure,
        browser(OPEN, tls=trusting, max_bytes=5_000_000, timeout_seconds=60) as made,
    ):
        for site in (Site(plain, "http"), Site(secure, "https")):
            print(site.base)
            page = await made.render(f"{site.base}/", PageReach.of([f"{site.base}/"], left_out=site.left_out))
            assert b"read to its end" in page.html
            await made.render(f"{site.base}/other", PageReach.of([f"{site.base}/"], left_out=site.left_out))
            print(len(site.receiver.got), page.refused)
            assert [got.path for got in site.receiver.got if "left" in got.path.lower()] == []
            n = len(site.receiver.got)
            page = await made.render(f"{site.base}/", PageReach.of([f"{site.base}/"]))
            await made.render(f"{site.base}/other", PageReach.of([f"{site.base}/"], left_out=site.left_out))
            gone = site.gone()
            print("GONE", len(gone), sorted(gone))
            print("NOT", sorted(set(WAYS) - gone))
