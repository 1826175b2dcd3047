"""Chromium behind the URL guard: what it reads, where it never gets, and that no page holds it.

With the machine's own Chromium and servers on loopback; `site.test` is 127.0.0.1, which is allowed, and every
other name is 127.0.0.2, which is not.
"""

import asyncio
import base64
import hashlib
import os
import shutil
import signal
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest

from actors.knowledge.browsing.browser import Browser
from actors.knowledge.browsing.chromium import Chromium
from actors.knowledge.browsing.guarded_proxy import GuardedProxy
from actors.knowledge.browsing.rendered import Rendered
from models.config import OutgoingConfig
from models.config.knowledge import BrowserConfig, ScrapingConfig
from models.errors import PageFailed
from tests.fakes.outside.forbidden_host import ForbiddenHost
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    reason="no Chromium on this machine: apt-get install chromium",
)

GUARDED = OutgoingConfig(allow_internal=("127.0.0.1/32",))
OPEN = OutgoingConfig(allow_internal=("127.0.0.0/8",))
HTML = {"Content-Type": "text/html; charset=utf-8"}


async def names(host: str) -> list[str]:
    """Where a name leads."""
    return ["127.0.0.1" if host == "site.test" else "127.0.0.2"]


@asynccontextmanager
async def browser(
    outgoing: OutgoingConfig = GUARDED,
    *,
    tabs: int = 2,
    timeout_seconds: float = 20,
    recycle_pages: int = 100,
    max_memory_mb: int = 3000,
    max_bytes: int = 2_000_000,
    allow: Callable[[str], Awaitable[None]] | None = None,
    allow_first: Callable[[str], Awaitable[None]] | None = None,
) -> AsyncIterator[Browser]:
    """A browser with settings of its own."""
    settings = BrowserConfig(
        executable="auto",
        tabs=tabs,
        timeout_seconds=timeout_seconds,
        recycle_pages=recycle_pages,
        max_memory_mb=max_memory_mb,
    )
    scraping = ScrapingConfig.model_construct(
        user_agent="SignoffTest/1", max_bytes=max_bytes, browser=settings
    )
    made = Browser(
        settings=settings,
        scraping=scraping,
        outgoing=outgoing,
        allow=allow,
        allow_first=allow_first,
        patience=30,
        resolve=names,
    )
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def site() -> AsyncIterator[WebhookReceiver]:
    """The site that may be read."""
    async with WebhookReceiver() as site:
        yield site


def put(site: WebhookReceiver, path: str, html: str, status: int = 200, **headers: str) -> str:
    """Serve a page, and say where."""
    site.always(path, Reply(status, {**HTML, **headers}, html.encode()))
    return f"http://site.test:{site.port}{path}"


async def fault_of(rendering: Awaitable[Rendered]) -> str:
    """Why a page is not read."""
    with pytest.raises(PageFailed) as failed:
        await rendering
    return str(failed.value.facts["fault"])


def chromiums() -> set[int]:
    """Chromium's processes below this one, and its drivers', by their ids."""
    found = set()
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if "chrom" in " ".join(one.cmdline()) or "run-driver" in one.cmdline():
                found.add(one.pid)
    return found


def profiles() -> set[Path]:
    """The folders of the Chromiums below this process."""
    given = [one for pid in chromiums() for one in psutil.Process(pid).cmdline()]
    return {Path(one.partition("=")[2]) for one in given if one.startswith("--user-data-dir=")}


async def until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  # processes tell nobody when they end
            await asyncio.sleep(0.05)


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
    *("worker", "shared", "object", "embed", "dynamic"),
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


HANGING = {
    "in its parsing": "<p>x<script>while (true) {}</script>",
    "later": "<p>x<script>setTimeout(() => { while (true) {} }, 50)</script>",
    "alerts": "<p>x<script>while (true) alert(1)</script>",
    "leaving": "<p>x<script>onbeforeunload = () => { while (true) {} }; while (true) {}</script>",
    "frames": "<iframe srcdoc='<script>while (true) {}</script>'></iframe><script>while (true) {}</script>",
}


@pytest.mark.parametrize("how", HANGING)
async def test_a_page_that_hangs_is_given_up_and_holds_nobody_up(how: str, site: WebhookReceiver) -> None:
    url = put(site, "/hangs", HANGING[how])
    fine = put(site, "/fine", "<p>fine</p>")
    async with browser(timeout_seconds=6) as made:
        await made.render(fine)
        begun = time.monotonic()
        fault, page = await asyncio.gather(fault_of(made.render(url)), made.render(fine))
        assert fault == "timeout"
        assert time.monotonic() - begun < 6 + 5
        assert b"fine" in page.html
        assert b"fine" in (await made.render(fine)).html


UNSETTLED = {
    "polls": "<p>text<script>setInterval(() => fetch('/poll'), 50)</script>",
    "grows": "<p>text<script>setInterval(() => document.body.append('more '), 50)</script>",
    "opens": "<p>text<script>setInterval(() => { for (let i = 0; i < 9; i++) open('/poll') }, 50)</script>",
    "prints": "<p>text<script>print(); confirm('?'); prompt('?'); document.onclick = 1</script>",
    "is never parsed": "<p>text<script src=/held.js></script>",
    "asks for mail": "<p>text<script>location = 'mailto:somebody@example.com'</script>",
    "reloads in a frame": "<p>text<iframe srcdoc='<script>location = \"/poll\"</script>'></iframe>",
}


@pytest.mark.parametrize("how", UNSETTLED)
async def test_a_page_that_never_settles_is_read_as_it_stands(how: str, site: WebhookReceiver) -> None:
    url = put(site, "/restless", UNSETTLED[how])
    put(site, "/poll", "<p>polled")
    site.always("/held.js", Reply(200, {"Content-Type": "text/javascript"}, b"", hold=True))
    async with browser(timeout_seconds=10) as made:
        assert b"text" in (await made.render(url)).html
        assert len(made._chromium.playing.contexts) == 0  # type: ignore[union-attr]


async def test_a_page_that_takes_all_memory_fails_alone(site: WebhookReceiver) -> None:
    hungry = put(
        site,
        "/hungry",
        "<p>x<script>const kept = []; setInterval(() => { const more = new Uint8Array(5e7); more.fill(7);"
        "kept.push(more) }, 20)</script>",
    )
    fine = put(site, "/fine", "<p>fine</p>")
    async with browser(timeout_seconds=20, max_memory_mb=900) as made:
        await made.render(fine)
        first = made._chromium
        fault, page = await asyncio.gather(fault_of(made.render(hungry)), made.render(fine))
        assert fault in ("unreadable", "too_large")
        assert b"fine" in page.html
        await made.render(fine)
        assert made._chromium is not first, "it is not begun anew"


async def test_when_chromium_dies_its_pages_are_read_by_the_next_one(site: WebhookReceiver) -> None:
    site.always("/held.js", Reply(200, {"Content-Type": "text/javascript"}, b"", hold=True))
    url = put(site, "/", "<p>read after all</p><script src=/held.js></script>")
    async with browser() as made:
        rendering = [asyncio.create_task(made.render(url)) for _ in range(2)]
        await site.until_got(2, "/held.js")
        os.kill(made._chromium._root.pid, signal.SIGKILL)  # type: ignore[union-attr]
        site.release()
        assert [b"read after all" in page.html for page in await asyncio.gather(*rendering)] == [True, True]


async def test_each_try_has_its_turn_and_the_second_end_says_nothing_of_the_page(
    site: WebhookReceiver,
) -> None:
    site.always("/held.js", Reply(200, {"Content-Type": "text/javascript"}, b"", hold=True))
    url = put(site, "/", "<p>x</p><script src=/held.js></script>")
    ready: list[bool] = []

    async def allow_first(_: str) -> None:
        ready.append(made._chromium is not None and not made._chromium.gone.done())

    async with browser(allow_first=allow_first) as made:
        rendering = asyncio.create_task(fault_of(made.render(url)))
        for times in (1, 2):
            await site.until_got(times, "/held.js")
            os.kill(made._chromium._root.pid, signal.SIGKILL)  # type: ignore[union-attr]
        assert await rendering == "later"
        assert ready == [True, True]
        site.release()


async def test_a_host_that_makes_its_page_wait_holds_no_tab(site: WebhookReceiver) -> None:
    slow, fine = put(site, "/slow", "<p>slow"), put(site, "/fine", "<p>fine")
    gone = put(site, "/gone", "<p>gone")
    asked: list[str] = []

    async def allow_first(url: str) -> None:
        asked.append(url)
        if url == gone:
            raise PageFailed("not today", fault="later", retry_after_seconds=60.0)
        if url == slow and fine not in asked:
            raise PageFailed("not yet", fault="later", retry_after_seconds=1.0)

    async with browser(tabs=1, allow_first=allow_first) as made:
        waiting = asyncio.create_task(made.render(slow))
        await until(lambda: slow in asked)
        assert b"fine" in (await made.render(fine)).html
        assert b"slow" in (await waiting).html
        assert await fault_of(made.render(gone)) == "later"


async def test_a_process_whose_memory_can_t_be_told_ends_no_watch(
    site: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = iter([psutil.AccessDenied(1), psutil.ZombieProcess(1)])

    def memory_mb(_: Chromium) -> float:
        if (error := next(taken, None)) is not None:
            raise error
        return 3001.0

    monkeypatch.setattr(Chromium, "memory_mb", memory_mb)
    site.always("/held.js", Reply(200, {"Content-Type": "text/javascript"}, b"", hold=True))
    async with browser() as made:
        url = put(site, "/", "<p>x</p><script src=/held.js></script>")
        rendering = asyncio.create_task(made.render(url))
        await until(lambda: made._spent)
        site.release()
        await rendering


async def test_a_page_that_crashes_fails_alone(site: WebhookReceiver) -> None:
    site.always("/held.js", Reply(200, {"Content-Type": "text/javascript"}, b"", hold=True))
    url = put(site, "/", "<p>x</p><script src=/held.js></script>")
    async with browser() as made:
        rendering = asyncio.create_task(fault_of(made.render(url)))
        await site.until_got(1, "/held.js")
        first = made._chromium
        assert first is not None
        first.end_largest_page()
        assert await rendering == "unreadable"
        site.release()
        assert (await made.render(url)).status == 200
        assert made._chromium is first


async def test_it_is_begun_anew_after_so_many_pages_and_leaves_nothing(site: WebhookReceiver) -> None:
    url = put(site, "/", "<p>x")
    async with browser(recycle_pages=2, tabs=2) as made:
        await asyncio.gather(*(made.render(url) for _ in range(3)))
        processes = chromiums()
        second, folders = made._chromium, profiles()
        await asyncio.gather(*(made.render(url) for _ in range(2)))
        assert made._chromium is not second
        await until(lambda: not chromiums() & processes)
        folders |= profiles()
        assert len(folders) == 2
    await until(lambda: not chromiums())
    assert not any(folder.exists() for folder in folders)


async def test_service_workers_too_go_through_the_proxy_where_they_are_allowed(site: WebhookReceiver) -> None:
    async with ForbiddenHost() as inside, GuardedProxy(GUARDED, resolve=names) as proxy:
        at = f"http://127.0.0.2:{inside.port}"
        script = f"fetch('/from-worker'); fetch('{at}/x', {{mode: 'no-cors'}}).catch(() => fetch('/refused'))"
        site.always("/sw.js", Reply(200, {"Content-Type": "text/javascript"}, script.encode()))
        put(site, "/", "<script>navigator.serviceWorker.register('/sw.js')</script>")
        chromium = await Chromium.begin("auto", proxy=proxy.url, heap_mb=256)
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
                await site.until_got(1, "/from-worker")
                await until(lambda: way_out.refusals > 0)
                await context.close()
        finally:
            await chromium.end()
        assert inside.hits == []


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


@pytest.mark.parametrize("page", ["<p>idle", "<p>x<script>while (true) {}</script>"])
async def test_chromium_ends_with_the_process_that_began_it(page: str, site: WebhookReceiver) -> None:
    put(site, "/", page)
    program = textwrap.dedent(f"""
        import asyncio, psutil
        from actors.knowledge.browsing.chromium import Chromium
        async def main():
            from actors.knowledge.browsing.guarded_proxy import GuardedProxy
            from models.config import OutgoingConfig
            async with GuardedProxy(OutgoingConfig(allow_internal=("127.0.0.1/32",))) as proxy:
                chromium = await Chromium.begin("auto", proxy=proxy.url, heap_mb=256)
                with proxy.way_out(max_bytes=10**6) as way_out:
                    context = await chromium.playing.new_context(proxy={{"server": proxy.url,
                        "bypass": "<-loopback>", "username": way_out.user, "password": way_out.password}})
                    page = await context.new_page()
                    await page.goto("{site.at("/")}", wait_until="commit")
                    print(*(one.pid for one in chromium.processes()), flush=True)
                    await asyncio.sleep(60)
        asyncio.run(main())
    """)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        pids = [int(pid) for pid in (await process.stdout.readline()).split()]
    assert len(pids) > 4
    process.kill()
    await process.wait()

    def there(pid: int) -> bool:
        try:
            return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    await until(lambda: not any(map(there, pids)))
