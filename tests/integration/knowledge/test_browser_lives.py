"""What becomes of Chromium, its tabs and its memory under pages that hang, crash or wait, and at its end.

With the machine's own Chromium and servers on loopback.
"""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import textwrap
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from actors.systems.knowledge.browsing.chromium import Chromium
from actors.systems.knowledge.browsing.sandbox import chromium_below, runs_as
from models.errors import BrowserUnavailable, PageFailed
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver
from tests.integration.knowledge.browsers import (
    HTML,
    NEEDS_CHROMIUM,
    browser,
    chromiums,
    fault_of,
    profiles,
    put,
    until,
)

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
async def site() -> AsyncIterator[WebhookReceiver]:
    """The site that may be read."""
    async with WebhookReceiver() as site:
        yield site


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


@pytest.mark.parametrize("page", ["<p>idle", "<p>x<script>while (true) {}</script>"])
async def test_chromium_ends_with_the_process_that_began_it(page: str, site: WebhookReceiver) -> None:
    put(site, "/", page)
    program = textwrap.dedent(f"""
        import asyncio, psutil
        from actors.systems.knowledge.browsing.chromium import Chromium
        async def main():
            from actors.systems.knowledge.browsing.guarded_proxy import GuardedProxy
            from models.config import OutgoingConfig
            async with GuardedProxy(OutgoingConfig(allow_internal=("127.0.0.1/32",))) as proxy:
                chromium = await Chromium.begin(
                    "auto", proxy=proxy.url, key_digest=proxy.key_digest, heap_mb=256
                )
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


def confined() -> list[dict[str, str]]:
    """What the kernel says of Chromium's renderers below this process."""
    found = []
    for pid in chromiums():
        with suppress(psutil.NoSuchProcess):
            if "--type=renderer" in psutil.Process(pid).cmdline():
                lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
                found.append(
                    {name: said.strip() for name, _, said in (line.partition(":") for line in lines)}
                )
    return found


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


async def test_it_runs_as_somebody_without_rights_and_in_its_sandbox(
    site: WebhookReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="signoff.browser")
    site.always("/", Reply(200, HTML, b"<p>x<script src=/held></script>"))
    site.always("/held", Reply(hold=True))
    async with browser() as made:
        page = asyncio.create_task(made.render(f"http://site.test:{site.port}/"))
        await site.until_got(1, "/held")
        renderers = confined()
        site.release()
        await page
        assert made._chromium is not None
        sandboxed = made._chromium.sandboxed
        how = chromium_below(os.getpid())
    assert renderers
    assert {one["Uid"].split()[0] for one in renderers} != {"0"}
    if sandboxed:
        assert {one["Seccomp"] for one in renderers} == {"2"}
    assert how == f"Chromium runs as {runs_as()}, {'with' if sandboxed else 'WITHOUT'} its sandbox"
    assert how in caplog.text
    assert chromium_below(os.getpid()) is None


async def test_where_the_kernel_gives_it_no_sandbox_it_runs_without_and_says_so(
    site: WebhookReceiver, open_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # What Chromium does in a container without user namespaces.
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    program = open_folder / "chromium"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *--no-sandbox*) exec ' + found + ' "$@";; esac\n'
        'echo "[1:1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox!" >&2; exit 1\n'
    )
    program.chmod(0o755)
    async with browser(executable=str(program)) as made:
        assert (await made.render(put(site, "/", "<p>x"))).status == 200
        assert made._chromium is not None
        assert not made._chromium.sandboxed
        assert {one["Uid"].split()[0] for one in confined()} != {"0"}
    assert "WITHOUT its sandbox" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives its rights up")
async def test_a_chromium_that_only_root_may_run_is_refused(open_folder: Path, site: WebhookReceiver) -> None:
    (open_folder / "own").mkdir(mode=0o700)
    program = open_folder / "own" / "chromium"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    async with browser(executable=str(program)) as made:
        with pytest.raises(BrowserUnavailable, match="only its owner may enter"):
            await made.render(put(site, "/", "<p>x"))
    assert site.got == []
