"""A browser behind the URL guard for tests, and what is seen of its processes.

`site.test` is 127.0.0.1, which is allowed; every other name is 127.0.0.2, which is not.
"""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest

from actors.systems.knowledge.browsing.browser import Browser
from actors.systems.knowledge.browsing.visit import Rendered
from models.config import OutgoingConfig
from models.config.knowledge import BrowserConfig, ScrapingConfig
from models.errors import PageFailed
from tests.fakes.outside.webhook_receiver import Reply, WebhookReceiver

NEEDS_CHROMIUM = pytest.mark.skipif(
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
    executable: str = "auto",
    tabs: int = 2,
    timeout_seconds: float = 20,
    recycle_pages: int = 100,
    max_memory_mb: int = 3000,
    max_bytes: int = 2_000_000,
    allow: Callable[[str], Awaitable[None]] | None = None,
    allow_first: Callable[[str], Awaitable[None]] | None = None,
    allow_part: Callable[[str], Awaitable[bool]] | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[Browser]:
    """A browser with settings of its own."""
    settings = BrowserConfig(
        executable=executable,
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
        allow_part=allow_part,
        tls=tls,
        patience=30,
        resolve=names,
    )
    try:
        yield made
    finally:
        await made.close()


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
