"""`python -m benchmarks.browser_soak --pages N`: a browser renders N pages; what it takes, what it leaves.

The pages are of a site on loopback: plain ones, those that scripts make, and every `--hanging` pages one that
hangs. Printed are the memory of the process tree (first, last, most), pages per second, and leftovers.
"""

import asyncio
import functools
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import psutil
import typer

from actors.systems.knowledge.browsing.browser import Browser
from models.config import OutgoingConfig
from models.config.knowledge import BrowserConfig, ScrapingConfig
from models.errors import PageFailed

_WORDS = " ".join(f"word{number}" for number in range(3_000))
_PAGES = {
    "plain": f"<title>plain</title><p>{_WORDS}",
    "made": f"<div id=app></div><script>app.textContent = '{_WORDS}'</script>",
    "fetched": "<div id=app></div><script>"
    "fetch('/plain').then(r => r.text()).then(t => app.innerHTML = t)</script>",
    "heavy": "<p id=p>heavy<script>const kept = []; for (let i = 0; i < 40; i++) "
    "kept.push(new Uint8Array(1e6).fill(i)); p.append(kept.length)</script>",
    "hangs": "<p>x<script>while (true) {}</script>",
}
_TABS = 2
_SECONDS = 15.0


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with the page that the path begins with."""
        body = _PAGES.get(self.path.split("/")[1], "").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


async def _soak(pages: int, recycle: int, hanging: int, port: int) -> set[psutil.Process]:
    """Print what it takes; all processes that it had."""
    settings = BrowserConfig(
        executable="auto", tabs=_TABS, timeout_seconds=_SECONDS, recycle_pages=recycle, max_memory_mb=2000
    )
    scraping = ScrapingConfig.model_construct(user_agent="Signoff", max_bytes=5_000_000, browser=settings)
    outgoing = OutgoingConfig(allow_internal=("127.0.0.1/32",))
    browser = Browser(settings=settings, scraping=scraping, outgoing=outgoing)
    taken: list[float] = []
    seen: set[psutil.Process] = set()
    came: Counter[str] = Counter()
    kinds = [kind for kind in _PAGES if kind != "hangs"]

    async def render(number: int) -> None:
        hangs = hanging and number % hanging == hanging - 1
        kind = "hangs" if hangs else kinds[number % len(kinds)]
        try:
            await browser.render(f"http://127.0.0.1:{port}/{kind}/{number}")
            came["rendered"] += 1
        except PageFailed as failed:
            came[str(failed.facts["fault"])] += 1
        taken.append(await asyncio.to_thread(_memory_mb, seen))

    begun = time.monotonic()
    waiting = iter(range(pages))

    async def work() -> None:
        for number in waiting:
            await render(number)

    await asyncio.gather(*(work() for _ in range(_TABS)))
    seconds = time.monotonic() - begun
    await browser.close()
    part = max(len(taken) // 10, 1)
    first, last = (sum(some) / len(some) for some in (taken[:part], taken[-part:]))
    print(f"{pages} pages in {seconds:.0f} s ({pages / seconds:.2f}/s): {dict(came)}")
    print(f"memory of the tree, PSS in MB: first tenth {first:.0f}, last {last:.0f}, most {max(taken):.0f}")
    return seen


def _memory_mb(seen: set[psutil.Process]) -> float:
    """PSS of all below this process, in MB. They are put among those that were seen."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        seen.add(process)
        try:
            total += process.memory_full_info().pss
        except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
            continue  # ended meanwhile
    return total / 1024**2


def _left(seen: set[psutil.Process]) -> list[str]:
    """Which of those that were below this process are there yet, whoever is their parent by now."""
    found = []
    for process in seen:
        try:
            if process.is_running() and "chrom" in process.name():
                found.append(f"{process.name()} ({process.status()})")
        except psutil.NoSuchProcess:
            continue
    return sorted(found)


def _folders() -> set[str]:
    return {str(path) for path in Path(tempfile.gettempdir()).glob("playwright*")}


def main(
    pages: Annotated[int, typer.Option(help="How many.")] = 300,
    recycle: Annotated[int, typer.Option(help="Pages until Chromium is begun anew.")] = 100,
    hanging: Annotated[int, typer.Option(help="Every so many pages one hangs; 0 for none.")] = 0,
) -> None:
    """Render pages, and print what that took."""
    folders = _folders()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=functools.partial(server.serve_forever, 0.1), daemon=True).start()
    seen = asyncio.run(_soak(pages, recycle, hanging, server.server_port))
    server.shutdown()
    until = time.monotonic() + 10
    while _left(seen) and time.monotonic() < until:  # init reaps what was orphaned when it can
        time.sleep(0.2)
    print(f"left: processes {_left(seen)}, folders {sorted(_folders() - folders)}")


if __name__ == "__main__":
    typer.run(main)
