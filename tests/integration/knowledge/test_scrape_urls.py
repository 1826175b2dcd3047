"""The scraping batch on Ray Data: pages into a project, politely, each once, whatever one page does."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pyarrow.parquet
import pytest

from actors.platform.runtime.directory import stop_agents
from actors.platform.web.page_urls import page_url
from models.config import Config
from models.store.database import Database
from models.store.knowledge import projects, sources
from pipelines import progress
from pipelines.scrape_urls import ScrapingOptions, scrape
from pipelines.url_files import UrlRow
from tests.fakes.outside.page_site import Answer, PageSite, article, serving

DELAY = 0.15
INSIDE = ("127.0.0.0/8",)
TEXT = "The mill at the river turns when the water is high, and it rests when the water is low. " * 8
SHELL = (
    b"<html><head><title>Mills</title></head><body><div id=root></div><script>"
    b"fetch('/mills.json').then(r=>r.json()).then(d=>{document.getElementById('root').innerHTML="
    b"'<main><article><h1>Mills</h1><p>'+d.text+'</p></article></main>'})</script></body></html>"
)


@pytest.fixture
def config(configure: Callable[..., Config]) -> Config:
    """Loopback is allowed, and hosts are asked often."""
    return configure(
        {
            "outgoing.allow_internal": [*INSIDE],
            "knowledge.scraping.politeness.delay_seconds": DELAY,
            "knowledge.scraping.politeness.longest_wait_seconds": 20,
        }
    )


@pytest.fixture
def slow_config(configure: Callable[..., Config]) -> Config:
    """Hosts are asked so seldom that a batch is under way for seconds after its readers have started."""
    return configure(
        {
            "outgoing.allow_internal": [*INSIDE],
            "knowledge.scraping.politeness.delay_seconds": 1.0,
            "knowledge.scraping.politeness.longest_wait_seconds": 20,
        }
    )


@pytest.fixture
def sites() -> Iterator[list[PageSite]]:
    """Two hosts."""
    pages = {f"/{number}": article(f"Mill {number}", f"Number {number}. {TEXT}") for number in range(8)}
    robots = Answer(b"User-agent: *\nDisallow: /closed\n", headers={"content-type": "text/plain"})
    busy = Answer(status=429, headers={"retry-after": "1"})
    more = {
        "/robots.txt": robots,
        "/busy": [busy, article("Busy", TEXT)],
        "/mail": article("Mail", f"Write to jan.kowalski@example.com. {TEXT}"),
        "/shell": Answer(SHELL),
        "/mills.json": Answer(
            b'{"text": "%s"}' % TEXT.encode(), headers={"content-type": "application/json"}
        ),
        "/moved": Answer(status=301, headers={"location": "/3"}),
        "/picture": Answer(b"\x89PNG", headers={"content-type": "image/png"}),
    }
    with serving(pages | more, address="127.0.0.21") as one, serving(pages, address="127.0.0.22") as two:
        yield [one, two]


@pytest.fixture(autouse=True)
def agents(ray_cluster: None) -> Iterator[None]:
    """Those of this test go with it: they have its configuration."""
    yield
    stop_agents()


async def run(config: Config, database_url: str, folder: Path, *urls: str, **more: object) -> int:
    rows = [UrlRow(url=page_url(url, allow_internal=INSIDE)) for url in urls]
    options = ScrapingOptions(
        **{"project": "P", "topic": "macro", "engine": "auto", "again": False, "submitter": "ann"} | more,  # type: ignore[arg-type]
        output=str(folder),
    )
    return await scrape(rows, config, database_url, options, root=folder)


def table(folder: Path) -> dict[str, dict[str, object]]:
    [path] = folder.glob("*.parquet")
    found = {row["url"]: row for row in pyarrow.parquet.read_table(path).to_pylist()}
    path.unlink()
    return found


async def test_pages_come_into_the_project_politely_and_each_once(
    config: Config, database: Database, database_url: str, sites: list[PageSite], tmp_path: Path
) -> None:
    one, two = sites
    urls = [f"{site.origin}/{number}" for site in sites for number in range(8)]
    urls += [f"{one.origin}/{name}" for name in ("busy", "mail", "moved", "closed/a", "none", "picture")]
    assert await run(config, database_url, tmp_path, *urls, "http://127.0.0.23:8081/") == 0
    rows = table(tmp_path)
    assert len(rows) == len(urls) + 1
    faults = {
        url.partition("/")[2].rpartition("/")[2]: row["fault"] for url, row in rows.items() if row["fault"]
    }
    assert faults == {
        "a": "refused_by_robots",
        "none": "not_found",
        "picture": "unsupported_type",
        "": "unreachable",
    }
    moved = rows[f"{one.origin}/moved"]
    assert (moved["final_url"], moved["engine"], moved["held"]) == (f"{one.origin}/3", "http", False)
    mail = rows[f"{one.origin}/mail"]
    assert "[email]" in str(mail["text"])
    assert dict(mail["redacted"]) == {"email": 1}  # type: ignore[call-overload]
    for site in sites:
        ats = sorted(hit.at for hit in site.hits)
        assert min(later - earlier for earlier, later in pairwise(ats)) >= DELAY * 0.9
        assert site.hits[0].path == "/robots.txt"
        assert site.asked("/robots.txt") == 1
        assert not any(hit.path.startswith("/closed") for hit in site.hits)
    asked = [len(site.hits) for site in sites]

    # Submitted again, it tries what may have passed, and fetches nothing that it has.
    assert await run(config, database_url, tmp_path, *urls) == 0
    again = table(tmp_path)
    assert [len(site.hits) for site in sites] == asked
    assert all(row["held"] for row in again.values())
    assert again[f"{two.origin}/5"]["text"] == rows[f"{two.origin}/5"]["text"]


async def test_a_page_made_by_scripts_comes_by_the_browser(
    config: Config, database: Database, database_url: str, sites: list[PageSite], tmp_path: Path
) -> None:
    one, _ = sites
    assert await run(config, database_url, tmp_path, f"{one.origin}/shell", f"{one.origin}/1") == 0
    rows = table(tmp_path)
    assert {row["engine"] for row in rows.values()} == {"browser", "http"}
    assert "turns when the water is high" in str(rows[f"{one.origin}/shell"]["text"])


async def test_what_a_killed_scraper_had_kept_is_not_fetched_again(
    slow_config: Config, database: Database, database_url: str, sites: list[PageSite], tmp_path: Path
) -> None:
    urls = [f"{site.origin}/{number}" for site in sites for number in range(8)]
    running = asyncio.create_task(run(slow_config, database_url, tmp_path, *urls))
    while len(kept_before := await kept_of(database, urls)) < 4:
        assert not running.done()
        await asyncio.sleep(0.02)
    await kill_scrapers()
    assert len(kept_before) < len(urls)
    assert await running == 0
    rows = table(tmp_path)
    assert len(rows) == len(urls)
    assert all(row["text"] for row in rows.values())
    async with database.connection() as connection:
        project = await projects.named(connection, topic="macro", name="P")
        assert project is not None
        kept = await sources.by_urls(connection, project.id, urls)
    assert len(kept) == len(urls)
    asked = {f"{site.origin}/{number}": site.asked(f"/{number}") for site in sites for number in range(8)}
    assert [asked[url] for url in kept_before] == [1] * len(kept_before)
    # What was under way when it died is asked for once more, and no more than that.
    assert max(asked.values()) <= 2


async def test_a_host_whose_line_is_long_is_waited_for_and_progress_is_said_meanwhile(
    configure: Callable[..., Config],
    database: Database,
    database_url: str,
    sites: list[PageSite],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row of a block that waits holds back neither what is kept nor what is told."""
    monkeypatch.setattr(progress, "SAY_SECONDS", 0.3)
    config = configure(
        {
            "outgoing.allow_internal": [*INSIDE],
            "knowledge.scraping.politeness.delay_seconds": 1.0,
            "knowledge.scraping.politeness.longest_wait_seconds": 3,
        }
    )
    one, _ = sites
    urls = [f"{one.origin}/{number}" for number in range(8)]
    ended = await run(config, database_url, tmp_path, *urls)
    assert not [row["reason"] for row in table(tmp_path).values() if row["fault"]]
    assert ended == 0
    said = [line for line in capfd.readouterr().out.splitlines() if "to go" in line]
    assert len({line.partition(" kept")[0] for line in said}) > 2


async def test_a_batch_that_is_told_to_stop_says_so_at_once_and_leaves_no_half_file(
    slow_config: Config,
    database: Database,
    database_url: str,
    sites: list[PageSite],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    urls = [f"{site.origin}/{number}" for site in sites for number in range(8)]
    running = asyncio.create_task(run(slow_config, database_url, tmp_path, *urls))
    while not await kept_of(database, urls):
        assert not running.done()
        await asyncio.sleep(0.02)
    os.kill(os.getpid(), signal.SIGTERM)
    async with asyncio.timeout(5):
        assert await running == 1
    assert "submit again to go on" in capfd.readouterr().err
    assert not list(tmp_path.rglob("*.parquet*"))
    assert len(await kept_of(database, urls)) < len(urls)


async def kept_of(database: Database, urls: list[str]) -> set[str]:
    """Those of some addresses that Postgres holds the pages of."""
    async with database.connection() as connection:
        project = await projects.named(connection, topic="macro", name="P")
        return await sources.settled_urls(connection, project.id, urls) if project else set()


async def kill_scrapers() -> None:
    """End the processes of Ray Data's scraping actors, as the kernel would."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if "PageScraping" in " ".join(process.info["cmdline"] or ()):
            found.append(process)
    assert found
    for process in found:
        process.send_signal(signal.SIGKILL)
