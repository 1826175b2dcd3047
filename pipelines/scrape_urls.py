"""The scraping batch: addresses in, pages of a project out, and a Parquet file that says what came of each.

    signoff submit scrape_urls (--urls FILE | --sitemap ADDRESS) --project NAME --topic TOPIC

Ray Data runs the stages (`scraping_stages`); hosts are asked politely, once for the whole cluster. What is
kept is kept in Postgres as it comes: submitting again fetches what is missing, and nothing that is there.
It takes as long as its hosts' delays ask for. Exit code 1 if the batch was stopped, if hosts asked to come
back later, or if the file can't be written. Seed 002, FR3.
"""

import asyncio
import functools
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast, get_args

import pyarrow.fs
import ray
import ray.data
import ray.exceptions
import typer
from ray.data.context import AutoscalingConfig

from actors.platform.runtime import site
from actors.platform.runtime.batch_lease import batch_lease
from actors.platform.runtime.directory import Directory
from actors.platform.runtime.submitter import submitter
from actors.platform.web.page_urls import host_of, page_url
from actors.systems.knowledge.fetching.turns import ClusterTurns
from actors.systems.knowledge.scraping.scraping_settings import check_engine
from models.config import AgentConfig, Config
from models.errors import InputInvalid, PathNotVisible
from models.knowledge.pages import EngineChoice, ScrapedPage
from models.store.knowledge import sources
from pipelines import driver
from pipelines.page_counts import PageCounts, PagesSoFar
from pipelines.page_table import PageTable
from pipelines.progress import say, saying
from pipelines.scraping_stages import ROLES, PageBrowsing, PageScraping, ScrapingWork, read_table
from pipelines.site_options import ConfigOption, SubmittedByOption, named_project
from pipelines.sitemap_rows import sitemap_rows
from pipelines.thread_items import thread_items
from pipelines.url_files import UrlRow, interleaved, read_urls

# Rows of a block, which leave a stage together, and blocks of a scraper at once: so many that one in which a
# row waits for a slow host holds up nobody. And no more blocks than Ray Data keeps count of with ease.
_ROWS, _AT_ONCE, _BLOCKS = 32, 16, 20_000
_LEASE_SECONDS = 15.0
_COUNTS_SECONDS = 5.0


@dataclass(frozen=True)
class ScrapingOptions:
    """How a batch is run, as it was submitted."""

    project: str
    topic: str | None
    engine: EngineChoice
    output: str | None
    again: bool
    submitter: str


def main(
    project: Annotated[str, typer.Option(help="The project: its number, or a name with --topic.")],
    urls: Annotated[
        str | None,
        typer.Option(help="CSV, JSONL, Parquet, plain lines or a sitemap; a path or a URI, or a folder."),
    ] = None,
    sitemap: Annotated[
        list[str] | None,
        typer.Option(help="The address of a sitemap or of an index of them; may be given more than once."),
    ] = None,
    other_hosts: Annotated[
        bool, typer.Option("--other-hosts", help="Take pages of other hosts than the sitemap's, too.")
    ] = False,
    topic: Annotated[
        str | None, typer.Option(help="The project's topic: a project of that name is made.")
    ] = None,
    engine: Annotated[str, typer.Option(help="auto, http, browser or firecrawl.")] = "auto",
    output: Annotated[
        str | None, typer.Option(help="Where the Parquet file goes: a folder, by path or URI.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Fetch anew what is there.")] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say what would be fetched; fetch robots.txt and sitemaps alone."),
    ] = False,
    config: ConfigOption = None,
    submitted_by: SubmittedByOption = None,
) -> None:
    """Scrape the pages of a list of addresses into a project."""

    def work() -> int:
        here = driver.join_site()
        settings = site.load_for(here, config)
        options = ScrapingOptions(
            project=project,
            topic=topic,
            engine=_engine(engine),
            output=output,
            again=again,
            submitter=submitter(submitted_by),
        )
        check_engine(options.engine, settings)
        if urls is None and not sitemap:
            raise InputInvalid("--urls, --sitemap: give a file of addresses, or a sitemap's own address")
        rows: list[UrlRow] = []
        if urls is not None:
            normal = functools.partial(page_url, allow_internal=settings.outgoing.allow_internal)
            rows, twice = read_urls(urls, roots=[Path.cwd(), here.root], normal=normal)
            if twice:
                say(f"{twice} addresses stand there more than once")
        if sitemap:
            turns = ClusterTurns(Directory(config=settings, roles=ROLES, database_url=here.database_url))
            named = asyncio.run(sitemap_rows(sitemap, settings, turns, other_hosts=other_hosts))
            rows = list({row.url: row for row in (*named, *rows)}.values())
        if dry_run:
            return asyncio.run(rehearse(rows, settings, here.database_url, options))
        return asyncio.run(scrape(rows, settings, here.database_url, options, root=here.root))

    raise typer.Exit(driver.command("scrape_urls", work))


async def scrape(
    rows: Sequence[UrlRow], config: Config, database_url: str, options: ScrapingOptions, *, root: Path
) -> int:
    """Scrape all, and report; the exit code."""
    async with driver.patient_database(config, database_url) as database:
        filesystem, folder = _folder(options, config, root)
        project = await named_project(
            database, config, project=options.project, topic=options.topic, make_as=options.submitter
        )
        assert project is not None, "it is made where there is none"
        async with batch_lease(
            database=database, requested_by=options.submitter, lease_seconds=_LEASE_SECONDS
        ) as batch_id:
            say(f"batch {batch_id}: {len(rows)} pages into project {project.id} ({project.name})")
            path = f"{folder}/{batch_id}.parquet"
            work = ScrapingWork(
                config=config,
                database_url=database_url,
                project_id=project.id,
                batch_id=batch_id,
                engine=options.engine,
                again=options.again,
                counts=ray.remote(PageCounts).options(num_cpus=0).remote(),
            )
            counts: Counter[str] = Counter()
            with PageTable(filesystem, path) as table:
                stopped = await driver.until_stopped(_carry(rows, work, table, counts))
                if stopped:
                    table.discard()
                    # Now: whoever has stopped it may not wait for the end.
                    say("stopped: what was read is kept; submit again to go on", trouble=True)
                    return 1
    for line in _told(counts):
        say(line)
    say(f"summary: {path}")
    return 1 if counts["later"] else 0


async def _carry(rows: Sequence[UrlRow], work: ScrapingWork, table: PageTable, counts: Counter[str]) -> None:
    refused = [(row.refused, False) for row in rows if row.refused is not None]
    table.add(refused)
    counts.update(page.fault or "kept" for page, _ in refused)
    wanted = interleaved((row.url for row in rows if row.refused is None), host_of)
    if not wanted:
        return
    started, before = time.monotonic(), Counter(counts)

    async def progress() -> str | None:
        try:
            async with asyncio.timeout(_COUNTS_SECONDS):
                told: PagesSoFar = await work.counts.told.remote()
        except (ray.exceptions.RayError, TimeoutError):
            return None
        return _progress(before + Counter(told.counts), told.waits_for, len(rows), time.monotonic() - started)

    async with saying(progress):
        async for pages in thread_items(lambda: _tables(wanted, work)):
            await asyncio.to_thread(table.add, pages)
            counts.update("held" if held else page.fault or "kept" for page, held in pages)


def _tables(urls: Sequence[str], work: ScrapingWork) -> Iterator[list[tuple[ScrapedPage, bool]]]:
    """The pages of addresses, as the stages bring them."""
    scrapers, browsers = work.config.agent("scraper"), work.config.agent("browser")
    scraping = work.config.knowledge.scraping
    rows = max(_ROWS, math.ceil(len(urls) / _BLOCKS))
    blocks = max(math.ceil(len(urls) / rows), min(scrapers.replicas, len(urls)))
    dataset: ray.data.Dataset = ray.data.from_items(
        [{"url": url} for url in urls], override_num_blocks=blocks
    )
    # Begun again, a block brings its rows in other groups, and Ray Data goes by their number: it brings one.
    dataset.context.target_max_block_size = None
    # Hosts may want hours for what is under way; Ray Data would call that an execution that hangs.
    dataset.context.execution_no_progress_timeout_s = -1
    # Another actor of a pool is begun when those that there are have all that they may have at once.
    dataset.context.autoscaling_config = AutoscalingConfig(actor_pool_util_upscaling_threshold=1.0)
    # A scraper has enough of them for all that it may have under way, and leaves some to the others.
    fill = math.ceil(2 * scraping.in_flight / rows)
    at_once = max(fill, min(_AT_ONCE, math.ceil(blocks / scrapers.replicas)))
    stages: list[tuple[type, AgentConfig, int]] = [(PageScraping, scrapers, at_once)]
    if work.engine == "auto":
        stages.append((PageBrowsing, browsers, max(_AT_ONCE, 2 * scraping.browser.tabs)))
    for stage, agent, blocks_at_once in stages:
        dataset = dataset.map_batches(
            stage,
            fn_constructor_args=(work,),
            batch_size=None,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(
                min_size=1,
                max_size=agent.replicas,
                max_tasks_in_flight_per_actor=blocks_at_once,
                max_concurrent_calls_per_actor=blocks_at_once,
                enable_true_multi_threading=True,
            ),
            num_cpus=agent.num_cpus,
        )
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
        yield read_table(batch)


async def rehearse(
    rows: Sequence[UrlRow], config: Config, database_url: str, options: ScrapingOptions
) -> int:
    """Say what would be fetched, what is there, and what would be refused; 0."""
    wanted = [row.url for row in rows if row.refused is None]
    async with driver.patient_database(config, database_url) as database:
        held: set[str] = set()
        project = await named_project(database, config, project=options.project, topic=options.topic)
        if project is not None and not options.again:
            async with database.connection() as connection:
                held = await sources.settled_urls(connection, project.id, wanted)
    turns = ClusterTurns(Directory(config=config, roles=ROLES, database_url=database_url))
    counts: Counter[str] = Counter()
    left = iter(rows)

    async def look() -> None:
        for row in left:
            what, why = "would be fetched", ""
            if row.refused is not None:
                what, why = "refused", row.refused.reason or ""
            elif row.url in held:
                what = "is there"
            elif (turn := await turns.allowed(row.url)).fault is not None:
                what, why = "refused", turn.reason or ""
            counts[what] += 1
            say(f"{what}: {row.url}{f': {why}' if why else ''}")

    async def look_at_all() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(config.knowledge.scraping.in_flight):
                group.create_task(look())

    stopped = await driver.until_stopped(look_at_all())
    say(", ".join(f"{count} {what}" for what, count in counts.most_common()) or "no addresses")
    if stopped:
        say("stopped: these are not all", trouble=True)
    return 1 if stopped else 0


def _folder(options: ScrapingOptions, config: Config, root: Path) -> tuple[pyarrow.fs.FileSystem, str]:
    """Where the Parquet file goes."""
    if options.output is None:
        return pyarrow.fs.LocalFileSystem(), str(config.data_dir / "output" / "pages")
    if "://" not in options.output:
        return pyarrow.fs.LocalFileSystem(), str((root / Path(options.output).expanduser()).resolve())
    try:
        filesystem, folder = pyarrow.fs.FileSystem.from_uri(options.output)
    except (OSError, ValueError) as error:
        raise PathNotVisible(f"--output {options.output}: can't be opened: {error}") from error
    return filesystem, folder.rstrip("/")


def _engine(text: str) -> EngineChoice:
    # The seed's own word for the browser (seed 002 §6.2).
    known = get_args(EngineChoice)
    found = "browser" if text == "playwright" else text
    for choice in known:
        if found == choice:
            return cast(EngineChoice, choice)
    raise InputInvalid(f"--engine: there is no engine {text!r}: use one of {', '.join(known)}")


def _progress(counts: Counter[str], waits_for: str | None, total: int, seconds: float) -> str:
    done = counts.total()
    kept, held = counts["kept"], counts["held"]
    failed = done - kept - held
    rate = (done - held) / seconds
    return (
        f"{kept} kept, {held} there before, {failed} without text, {max(total - done, 0)} to go, "
        f"{rate:.1f} a second{f'; waits for {waits_for}' if waits_for else ''}"
    )


def _told(counts: Counter[str]) -> Iterator[str]:
    """What the batch came to, a line for each fault."""
    names = {"kept": "kept", "held": "there before", "later": "to be asked later: submit again"}
    for what, count in sorted(counts.items(), key=lambda each: (each[0] not in names, -each[1])):
        yield f"{count} {names.get(what, what)}"


if __name__ == "__main__":
    typer.run(main)
