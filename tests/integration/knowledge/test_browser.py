"""Chromium behind the URL guard: what it reads, and where it never gets.

With the machine's own Chromium and servers on loopback.
"""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator

import pytest

from actors.systems.knowledge.browsing.chromium import Chromium
from actors.systems.knowledge.browsing.guarded_proxy import GuardedProxy
from models.errors import PageFailed
from tests.fakes.outside.forbidden_host import ForbiddenHost
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.integration.knowledge.browsers import (
    GUARDED,
    HTML,
    NEEDS_CHROMIUM,
    OPEN,
    browser,
    fault_of,
    names,
    put,
    until,
)

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
async def site() -> AsyncIterator[WebhookReceiver]:
    """The site that may be read."""
    async with WebhookReceiver() as site:
        yield site


async def test_a_page_is_read_as_its_scripts_make_it(site: WebhookReceiver) -> None:
    put(site, "/frame", "<p>in the frame</p>")
    put(site, "/data.json", '{"text": "fetched zażółć 東京 😀"}')
    url = put(
        site,
        "/",
        """<meta charset=utf-8><title>t</title><div id=app></div><x-box><b>slotted</b></x-box>
        <iframe src=/frame></iframe><img src=/picture.png><link rel=icon href=/favicon.ico>
        <script>
        customElements.define('x-box', class extends HTMLElement { connectedCallback() {
          this.attachShadow({mode: 'open'}).innerHTML = '<i>before</i><slot></slot><i>after</i>'; } });
        Element.prototype.cloneNode = document.createElement = () => { throw new Error('mine'); };
        Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'for' + 'ged'});
        setTimeout(() => fetch('/data.json').then(r => r.json()).then(found => {
          app.textContent = found.text; document.cookie = 'seen=1'; }), 700);
        </script>""",
    )
    async with browser() as made:
        page = await made.render(url)
        html = page.html.decode("utf-8")
        assert "fetched zażółć 東京 😀" in html
        assert "in the frame" in html
        assert html.index("before") < html.index("slotted") < html.index("after")
        assert "forged" not in html
        assert (page.status, page.final_url, page.redirects, page.refused) == (200, url, (), 0)
        assert page.content_type == "text/html; charset=utf-8"
        assert {got.path for got in site.got} == {"/", "/frame", "/data.json"}
        assert {got.headers["user-agent"] for got in site.got} == {"SignoffTest/1"}
        await made.render(url)
        assert not any("cookie" in got.headers for got in site.got), "pages share cookies"


def everything(port: int) -> str:
    """A page that tries each way that there is to a host."""
    at = f"http://127.0.0.2:{port}"
    name = f"inside.test:{port}"
    return f"""<!doctype html><h1>the page itself</h1>
    <link rel=dns-prefetch href="//{name}"><link rel=preconnect href="{at}">
    <link rel=prefetch href="{at}/prefetch"><link rel=preload as=script href="{at}/preload">
    <link rel=modulepreload href="{at}/modulepreload"><link rel=manifest href="{at}/manifest">
    <link rel=stylesheet href="{at}/stylesheet">
    <style>@import "{at}/import"; h1 {{ background: url({at}/css) }}</style>
    <script type=speculationrules>{{"prefetch":[{{"source":"list","urls":["{at}/speculation"]}}]}}</script>
    <img src="{at}/img"><img srcset="http://{name}/srcset"><video src="{at}/video" preload=auto></video>
    <object data="{at}/object"></object><embed src="{at}/embed"><iframe src="{at}/iframe"></iframe>
    <iframe srcdoc='<script src="{at}/srcdoc"></script>'></iframe>
    <script src="{at}/script"></script><script src="http://{name}/named"></script>
    <script src="http://2130706434:{port}/decimal"></script><script src="http://[::ffff:127.0.0.2]:{port}/mapped">
    </script><iframe srcdoc='<form id=f action="{at}/form"></form><script>f.submit()</script>'></iframe>
    <a id=ping href="#here" ping="{at}/ping">x</a>
    <script>
    const tries = [
      () => fetch('{at}/fetch', {{mode: 'no-cors'}}),
      () => fetch('https://127.0.0.2:{port}/tls', {{mode: 'no-cors'}}),
      () => fetch('/to-inside', {{mode: 'no-cors'}}),
      () => {{ const x = new XMLHttpRequest(); x.open('GET', '{at}/xhr'); x.send(); }},
      () => navigator.sendBeacon('{at}/beacon', 'b'),
      () => fetch('{at}/keepalive', {{mode: 'no-cors', keepalive: true}}),
      () => new WebSocket('ws://127.0.0.2:{port}/websocket'),
      () => new WebSocket('wss://{name}/websockets'),
      () => new EventSource('{at}/eventsource'),
      () => new Worker(URL.createObjectURL(new Blob(["fetch('{at}/worker', {{mode: 'no-cors'}})"]))),
      () => navigator.serviceWorker.register('/sw.js'),
      () => new WebTransport('https://127.0.0.2:{port}/webtransport'),
      () => {{ const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.2:{port}'}},
        {{urls: 'turn:{name}?transport=tcp', username: 'u', credential: 'c'}}]}});
        p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)); }},
      () => window.open('{at}/open'), () => ping.click(), () => import('{at}/dynamic'),
      () => new FontFace('f', 'url({at}/font)').load(), () => new Audio('{at}/audio').play(),
      () => new SharedWorker(URL.createObjectURL(new Blob(["fetch('{at}/shared', {{mode: 'no-cors'}})"]))),
    ];
    for (const attempt of tries) {{
      try {{ const made = attempt(); if (made && made.catch) made.catch(() => 0); }} catch (error) {{}}
    }}
    </script><p>read to its end</p>"""


# Of the ways on that page, those that Chromium goes when it may: what is not tried proves nothing.
TRIED = {
    *("prefetch", "preload", "modulepreload", "stylesheet", "import", "iframe", "srcdoc", "script", "named"),
    *(
        "decimal",
        "mapped",
        "form",
        "fetch",
        "inside",
        "xhr",
        "beacon",
        "keepalive",
        "websocket",
        "eventsource",
    ),
    *("worker", "object", "embed", "dynamic"),
}


def ways(host: ForbiddenHost) -> set[str]:
    """The last parts of the paths that a host was asked for."""
    asked = [hit.split(b" ") for hit in host.hits]
    return {
        one[1].rpartition(b"/")[2].rstrip(b"?").decode()
        for one in asked
        if one[0] in (b"GET", b"POST", b"HEAD")
    }


async def test_no_way_out_of_a_page_leads_past_the_guard(site: WebhookReceiver) -> None:
    async with ForbiddenHost() as inside:
        url = put(site, "/", everything(inside.port))
        put(site, "/sw.js", f"fetch('http://127.0.0.2:{inside.port}/service', {{mode: 'no-cors'}})")
        site.always("/to-inside", Reply(302, {"Location": f"http://127.0.0.2:{inside.port}/inside"}, b""))
        async with browser() as made:
            page = await made.render(url)
            assert b"the page itself" in page.html
            assert b"read to its end" in page.html
            assert page.refused >= len(TRIED) - 2  # names and addresses that were asked for twice
            # Whatever is tried late is tried while another page is read.
            await made.render(put(site, "/other", "<p>other</p>"))
        assert inside.hits == []
        assert "/picture.png" not in {got.path for got in site.got}
        # The page does go these ways: with the guard opened, all of them are gone.
        async with browser(OPEN) as made:
            page = await made.render(url)
        assert sorted(TRIED - ways(inside)) == []


@pytest.mark.parametrize(
    "way", ["redirect", "meta", "script", "form", "named", "tls", "port", "rebound", "history"]
)
async def test_a_page_that_leads_inside_is_refused(way: str, site: WebhookReceiver) -> None:
    async with ForbiddenHost() as inside, browser() as made:
        at = f"http://127.0.0.2:{inside.port}/"
        pages = {
            "meta": f'<meta http-equiv=refresh content="1; url={at}">',
            "script": f"<script>location = '{at}'</script>",
            "form": f"<form id=f method=post action='{at}'></form><script>f.submit()</script>",
            "history": f"<p>x<script>setTimeout(() => location.replace('{at}'), 300)</script>",
        }
        put(site, "/", pages.get(way, ""))
        if way == "redirect":
            site.always("/", Reply(302, {"Location": at}, b""))
        if way == "port":
            site.always("/", Reply(302, {"Location": "http://127.0.0.1:6000/"}, b""))
        urls = {
            "named": f"http://inside.test:{inside.port}/",
            "tls": f"https://inside.test:{inside.port}/",
            "rebound": f"http://inside.test.:{inside.port}/",
        }
        fault = await fault_of(made.render(urls.get(way, f"http://site.test:{site.port}/")))
        assert fault == ("bad_url" if way == "port" else "refused_by_guard")
        assert inside.hits == []


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "chrome://version/", "data:text/html,hi", "view-source:x", "ftp://site.test/"],
)
@pytest.mark.parametrize("by", ["redirect", "script"])
async def test_no_page_leads_to_another_scheme(by: str, target: str, site: WebhookReceiver) -> None:
    url = put(site, "/", f"<p>stays here</p><script>location = '{target}'</script>")
    if by == "redirect":
        site.always("/", Reply(302, {"Location": target}, b""))
    async with browser() as made:
        if by == "redirect":
            assert await fault_of(made.render(url)) in ("refused_by_guard", "bad_url", "unsupported_type")
            return
        page = await made.render(url)
        assert page.final_url == url
        assert b"stays here" in page.html


async def test_redirects_are_followed_and_each_is_asked_about(site: WebhookReceiver) -> None:
    asked: list[str] = []

    async def allow(url: str) -> None:
        asked.append(url.rpartition("/")[2])
        if url.endswith("/private"):
            raise PageFailed("robots.txt says no", fault="refused_by_robots")

    site.always("/a", Reply(302, {"Location": "/b"}, b""))
    put(site, "/b", "<script>location = '/c'</script>")
    put(site, "/c", "<meta http-equiv=refresh content='1; url=/d'>wait")
    last = put(site, "/d", "<p>arrived, with an answer of its own", 404)
    site.always("/p", Reply(301, {"Location": "/private"}, b""))
    site.always("/loop", Reply(302, {"Location": "/loop"}, b""))
    put(site, "/spin", "<meta http-equiv=refresh content='0; url=/spin'>")
    base = f"http://site.test:{site.port}"
    async with browser(allow=allow, timeout_seconds=15) as made:
        page = await made.render(f"{base}/a")
        assert (page.status, page.final_url) == (404, last)
        assert page.redirects == (f"{base}/a", f"{base}/b", f"{base}/c")
        assert b"arrived" in page.html
        assert asked == ["a", "b", "c", "d"]
        assert await fault_of(made.render(f"{base}/p")) == "refused_by_robots"
        for endless in (f"{base}/loop", f"{base}/spin"):
            assert await fault_of(made.render(endless)) == "http_error"
        assert len([got for got in site.got if got.path == "/loop"]) <= 11
    assert "/private" not in {got.path for got in site.got}


async def test_what_is_no_page_is_told(site: WebhookReceiver) -> None:
    base = f"http://site.test:{site.port}"
    site.always("/pdf", Reply(200, {"Content-Type": "application/pdf"}, b"%PDF-1.4"))
    site.always("/zip", Reply(200, {**HTML, "Content-Disposition": "attachment; filename=a"}, b"PK"))
    site.always("/none", Reply(204, {}, b""))
    put(site, "/large", "<p>" + "x" * 300_000)
    put(site, "/grows", "<p>x<script>document.body.append('y'.repeat(300000))</script>")
    site.always("/endless", Reply(200, HTML, b"<p>" + b"x" * 50_000, endless="body"))
    put(site, "/to-pdf", "<script>location = '/pdf'</script>")
    put(site, "/password", "x", 401, **{"WWW-Authenticate": "Basic realm=x"})
    async with browser(max_bytes=200_000) as made:
        faults = {
            path: await fault_of(made.render(base + path))
            for path in ("/pdf", "/zip", "/none", "/large", "/grows", "/endless", "/to-pdf")
        }
        assert faults == {
            **{"/pdf": "unsupported_type", "/zip": "unsupported_type", "/none": "no_text"},
            **{"/large": "too_large", "/grows": "too_large", "/endless": "too_large"},
            "/to-pdf": "unsupported_type",
        }
        assert await fault_of(made.render("http://site.test:1")) == "bad_url"
        assert (await made.render(f"{base}/password")).status == 401
        assert not any("authorization" in got.headers for got in site.got)


async def test_service_workers_get_no_script_even_where_they_are_allowed(site: WebhookReceiver) -> None:
    async with GuardedProxy(GUARDED, resolve=names) as proxy:
        site.always("/sw.js", Reply(200, {"Content-Type": "text/javascript"}, b"fetch('/from-worker')"))
        put(site, "/", "<script>navigator.serviceWorker.register('/sw.js')</script>")
        chromium = await Chromium.begin("auto", proxy=proxy.url, key_digest=proxy.key_digest, heap_mb=256)
        try:
            with proxy.way_out(max_bytes=10**6) as way_out:
                context = await chromium.playing.new_context(
                    proxy={
                        **{"server": proxy.url, "bypass": "<-loopback>"},
                        **{"username": way_out.user, "password": way_out.password},
                    },
                    service_workers="allow",
                )
                page = await context.new_page()
                await page.goto(site.at("/"))
                await until(lambda: way_out.refusals > 0)
                await context.close()
        finally:
            await chromium.end()
    assert not {"/sw.js", "/from-worker"} & {got.path for got in site.got}


async def test_a_websocket_to_where_it_may_go_works() -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line[19:] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key: "))
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        upgraded = "HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        writer.write(f"{upgraded}{base64.b64encode(digest).decode()}\r\n\r\n".encode() + b"\x81\x06pushed")
        await writer.drain()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, WebhookReceiver() as site, browser() as made:
        url = put(
            site,
            "/",
            "<p id=p><script>"
            f"new WebSocket('ws://site.test:{port}/').onmessage = e => p.append(e.data)</script>",
        )
        assert b"pushed</p>" in (await made.render(url)).html
