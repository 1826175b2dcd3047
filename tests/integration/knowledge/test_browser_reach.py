"""Chromium and what somebody approved: where nobody has agreed to go, no page leads, and no part of one.

The guard is open in all of this: only the reach keeps a page where it is.
"""

from collections.abc import AsyncIterator

import pytest

from models.knowledge.reach import PageReach
from tests.fakes.outside.forbidden_host import ForbiddenHost
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.integration.knowledge.browsers import NEEDS_CHROMIUM, OPEN, browser, fault_of, put
from tests.integration.knowledge.test_browser import TRIED, everything, ways

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
async def site() -> AsyncIterator[WebhookReceiver]:
    """The site that was approved."""
    async with WebhookReceiver() as site:
        yield site


async def test_no_way_out_of_a_page_leads_beyond_its_reach(site: WebhookReceiver) -> None:
    async with ForbiddenHost() as elsewhere:
        url = put(site, "/", everything(elsewhere.port))
        put(site, "/sw.js", f"fetch('http://127.0.0.2:{elsewhere.port}/service', {{mode: 'no-cors'}})")
        site.always("/to-inside", Reply(302, {"Location": f"http://127.0.0.2:{elsewhere.port}/inside"}, b""))
        async with browser(OPEN) as made:
            page = await made.render(url, PageReach.of([url]))
            assert b"read to its end" in page.html
            other = put(site, "/other", "<p>other</p>")
            await made.render(other, PageReach.of([other]))
            assert elsewhere.hits == []
            # The page does go these ways where it may; and one page's reach is not another's.
            await made.render(url)
        assert sorted(TRIED - ways(elsewhere)) == []


@pytest.mark.parametrize("way", ["redirect", "meta", "script", "form", "history", "port"])
async def test_a_page_that_leads_beyond_its_reach_is_not_read(way: str, site: WebhookReceiver) -> None:
    async with ForbiddenHost() as elsewhere, browser(OPEN) as made:
        host = "site.test" if way == "port" else "127.0.0.2"
        at = f"http://{host}:{elsewhere.port}/"
        pages = {
            "meta": f'<meta http-equiv=refresh content="1; url={at}">',
            "script": f"<script>location = '{at}'</script>",
            "form": f"<form id=f method=post action='{at}'></form><script>f.submit()</script>",
            "history": f"<p>x<script>setTimeout(() => location.replace('{at}'), 300)</script>",
        }
        url = put(site, "/", pages.get(way, ""))
        if way in ("redirect", "port"):
            site.always("/", Reply(302, {"Location": at}, b""))
        assert await fault_of(made.render(url, PageReach.of([url]))) == "other_host"
        assert elsewhere.hits == []


async def test_a_page_may_load_what_it_needs_from_its_own_host(site: WebhookReceiver) -> None:
    put(site, "/data", "fetched")
    script = "fetch('/data').then(r => r.text()).then(found => { app.textContent = found; })"
    url = put(site, "/", f"<div id=app></div><script>{script}</script>")
    async with browser(OPEN) as made:
        page = await made.render(url, PageReach.of([url]))
    assert b"fetched" in page.html


async def test_a_page_that_was_left_out_is_not_loaded_as_a_part_either(site: WebhookReceiver) -> None:
    put(site, "/data", "fetched")
    script = (
        "navigator.sendBeacon('/data?utm_source=x', 'x'); "
        "fetch('/data/').then(r => r.text()).then(found => { app.textContent = found; })"
    )
    parts = "<iframe src=/%64ata></iframe><link rel=prefetch href=/data><link rel=manifest href=/data>"
    url = put(site, "/", f"<div id=app></div>{parts}<script>{script}</script>")
    async with browser(OPEN) as made:
        page = await made.render(url, PageReach.of([url], left_out=[f"{url}data"]))
    assert b"fetched" not in page.html
    assert {got.path for got in site.got} <= {"/", "/favicon.ico"}
