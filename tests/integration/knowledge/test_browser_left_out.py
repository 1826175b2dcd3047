"""Chromium and the pages of an approved host that a person left out: by no way is one of them asked for."""

from pathlib import Path

import pytest

from models.errors import PageFailed
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


# Of the ways, those that Chromium goes where it may: what is not tried proves nothing.
TRIED = {
    *(
        "audio",
        "audio-object",
        "base",
        "beacon",
        "blob",
        "css-clip",
        "css-filter",
        "css-import",
        "css-of-xml",
    ),
    *(
        "embed",
        "embed-svg",
        "eventsource",
        "fetch",
        "fetch-case",
        "fetch-dotted",
        "fetch-final-dot",
        "fetch-head",
    ),
    *(
        "fetch-in-frame",
        "fetch-keepalive",
        "fetch-low",
        "fetch-no-cors",
        "fetch-null",
        "fetch-post",
        "fetch-query",
    ),
    *(
        "fetch-semicolon",
        "form-button",
        "form-get",
        "form-post",
        "form-target",
        "frame-data",
        "frame-javascript",
    ),
    *("frameset", "header-csp-report-to", "header-link-preload", "header-refresh", "hop-beacon", "hop-event"),
    *("hop-fetch", "hop-frame", "hop-object", "hop-post", "hop-script", "hop-style", "hop-worker", "iframe"),
    *(
        "iframe-credentialless",
        "iframe-sandboxed",
        "iframe-sandboxed-scripts",
        "import",
        "import-css",
        "import-json",
    ),
    *("import-map", "link-alternate-stylesheet", "link-clicked", "link-modulepreload", "link-prefetch"),
    *(
        "link-stylesheet",
        "location",
        "location-replace",
        "meta-refresh",
        "module-import",
        "navigation",
        "object",
    ),
    *(
        "object-typed",
        "preload-fetch",
        "preload-font",
        "preload-script",
        "preload-style",
        "preload-track",
        "script",
    ),
    *(
        "script-deferred",
        "script-made",
        "script-module",
        "shadow-style",
        "srcdoc",
        "srcdoc-sandboxed",
        "svg-script",
    ),
    *("svg-document", "svg-fill", "svg-use", "track", "video", "video-source", "wasm", "websocket", "worker"),
    *(
        "worker-blob",
        "worker-blob-import",
        "worker-blob-xhr",
        "worker-data",
        "worker-eventsource",
        "worker-nested",
    ),
    *("worker-module", "worker-socket", "write", "xhr", "xhr-document", "xhr-sync", "xslt-of-xml"),
}
TRIED_BY_HTTPS = TRIED | {"cache", "worklet-audio", "worklet-paint"}
# Workers that outlive a page or serve several are there for none.
OFF = {
    "service",
    "service-fetch",
    "background-fetch",
    "shared",
    "shared-blob",
    "shared-blob-import",
    "shared-data",
}


@pytest.mark.slow
async def test_no_way_leads_a_page_to_one_that_was_left_out(tmp_path: Path) -> None:
    server, trusting = certificate(tmp_path, "site.test")
    async with (
        WebhookReceiver() as plain,
        WebhookReceiver(server) as secure,
        browser(OPEN, tls=trusting, max_bytes=5_000_000, timeout_seconds=60) as made,
    ):
        for site, tried in ((Site(plain, "http"), TRIED), (Site(secure, "https"), TRIED_BY_HTTPS)):
            url, other = f"{site.base}/", f"{site.base}/other"
            page = await made.render(url, PageReach.of([url], left_out=site.left_out))
            assert b"read to its end" in page.html
            assert page.refused >= len(tried)
            # Whatever is tried late is tried while another page is read.
            await made.render(other, PageReach.of([url], left_out=site.left_out))
            assert [got.path for got in site.receiver.got if "left" in got.path.lower()] == []
            # The page does go these ways where it may.
            await made.render(url, PageReach.of([url]))
            await made.render(other, PageReach.of([url]))
            assert sorted(tried - site.gone()) == []
            assert not site.gone() & OFF


@pytest.mark.parametrize("call", ["replaceState", "pushState"])
async def test_a_page_has_the_address_it_was_read_at_whatever_it_calls_itself(call: str) -> None:
    async with WebhookReceiver() as receiver:
        base = f"http://site.test:{receiver.port}"
        script = f"<p>Words.</p><script>history.{call}(null, '', '/left/statistics')</script>"
        receiver.always("/blog", Reply(200, HTML, script.encode()))
        reach = PageReach.of([f"{base}/blog"], left_out=[f"{base}/left/statistics"])
        async with browser() as made:
            page = await made.render(f"{base}/blog", reach)
    assert (page.final_url, page.redirects) == (f"{base}/blog", ())


async def test_what_a_frame_may_not_show_is_not_in_the_pages_text(tmp_path: Path) -> None:
    server, trusting = certificate(tmp_path, "site.test")
    async with WebhookReceiver(server) as site, browser(OPEN, tls=trusting) as made:
        url = f"https://site.test:{site.port}/"
        site.always("/", Reply(200, HTML, b"<p>mine</p><iframe src=/secret></iframe>"))
        site.always("/secret", Reply(200, HTML, b"<p>its words</p>"))
        page = await made.render(url, PageReach.of([url], left_out=[f"{url}secret"]))
        assert page.html.decode().count("<p>") == 1
        assert b"mine" in page.html
        assert page.refused >= 1
        assert b"its words" in (await made.render(url, PageReach.of([url]))).html


async def test_a_server_whose_certificate_is_not_believed_is_not_read(tmp_path: Path) -> None:
    server, _ = certificate(tmp_path, "site.test")
    async with WebhookReceiver(server) as site, browser(OPEN) as made:
        url = f"https://site.test:{site.port}/"
        with pytest.raises(PageFailed, match="certificate") as failed:
            await made.render(url)
        assert failed.value.facts["fault"] == "unreachable"
        assert site.got == []
