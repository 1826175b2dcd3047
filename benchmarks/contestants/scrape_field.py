"""Where the contestants of the benchmark `scrape` run, and what is seen of each: CPU, memory, manners."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.contestants.scrapes import Scrape, scrapy, signoff
from benchmarks.contestants.two_nodes import one_node
from benchmarks.harness.bench import Bench, ray_here
from benchmarks.harness.cpu import postmaster_pid, server_seconds
from benchmarks.harness.loopback_site import LoopbackSite, open_pages
from benchmarks.harness.memory import pss_of
from benchmarks.harness.site_visits import Visits
from models.config import Config

DELAY = 0.2
# So few that they are asked as often as they may be: the second node adds to who wants a turn.
FEW_HOSTS = 12
SIGNOFF, HERE, APART = "Signoff", "Scrapy, reading in its process", "Scrapy, reading apart"
_BEGINS, _ENDS = 0.10, 0.95
_TREES = {
    "stage of scraping, with its reader": "MapWorker(MapBatches(PageScraping))",
    "stage of browsing": "MapWorker(MapBatches(PageBrowsing))",
    "agent of hosts' turns": "ray::TurnKeeper",
    "driver": "pipelines.scrape_urls",
}
STAGES = tuple(_TREES)[:2]


class ScrapeRun(NamedTuple):
    """A run: pages per second, CPU milliseconds per page (its own, and Postgres'), pages kept, offences."""

    rate: float
    cpu: float
    postgres: float
    kept: int
    visits: Visits

    @property
    def per_cpu_second(self) -> float:
        """Pages."""
        return 1000 / (self.cpu + self.postgres)


class Memory(NamedTuple):
    """MB of a tree of processes: means in the second and in the last quarter of the pages, and the most."""

    second: float
    last: float
    most: float


class ScrapeField:
    """Where contestants run: the site, Postgres, and a configuration."""

    def __init__(self, bench: Bench, site: LoopbackSite) -> None:
        self._bench, self._site = bench, site
        self._postmaster = postmaster_pid(bench.postgres_url)
        self._others = {site.pid, self._postmaster}
        self._file, self._config = self._configured({})
        self.at_once = self._config.knowledge.scraping.in_flight * self._config.agent("scraper").replicas

    def run(self, name: str, pages: int) -> ScrapeRun:
        """One contestant, once."""
        urls = self._site.urls(pages)
        with self._bench.database() as url:
            if name == SIGNOFF:
                with self._batch(urls, url) as scrape:
                    return self._watched(scrape, pages)
            with scrapy(self._file, urls, url=url, apart=name == APART, but=self._others) as scrape:
                return self._watched(scrape, pages)

    def memory(self, pages: int) -> tuple[dict[str, Memory], ScrapeRun]:
        """What each tree takes of memory on the way."""
        samples: list[dict[str, float]] = []
        with self._bench.database() as url, self._batch(self._site.urls(pages), url) as scrape:
            run = self._watched(scrape, pages, look=lambda: samples.append(pss_of(_TREES)), looks=200)
        quarter = len(samples) // 4
        found = {}
        for tree in _TREES:
            taken = [sample[tree] for sample in samples]
            second, last = (sum(some) / quarter for some in (taken[quarter : 2 * quarter], taken[-quarter:]))
            found[tree] = Memory(second, last, max(taken))
        return found, run

    def two_nodes(self, pages: int) -> tuple[tuple[float, float], ScrapeRun]:
        """A node joins half way. Since then: CPU seconds of the first node's readers, the second's."""
        # Of the first node's processors a second scraper can't have one.
        file, config = self._configured({"agents.scraper": {"num_cpus": 1.5, "replicas": 12}})
        urls = self._site.urls(pages, hosts=FEW_HOSTS)
        with self._bench.database() as url, one_node() as node:
            batch = signoff(file, config, urls, address=node.address, url=url, but=self._others)
            with batch as scrape:
                self._begin()
                self._site.await_answered(open_pages(pages) // 2, running=lambda: scrape.running)
                node.joined()
                run = self._watched(scrape, pages, begin=False, look=node.look, looks=100)
        return node.shares(), run

    @contextmanager
    def _batch(self, urls: Sequence[str], url: str) -> Iterator[Scrape]:
        with (
            ray_here() as address,
            signoff(self._file, self._config, urls, address=address, url=url, but=self._others) as scrape,
        ):
            yield scrape

    def _configured(self, more: dict[str, object]) -> tuple[Path, Config]:
        return self._bench.configure(
            {
                "outgoing.allow_internal": ["127.0.0.0/8"],
                "knowledge.scraping.politeness.delay_seconds": DELAY,
                **more,
            }
        )

    def _begin(self) -> None:
        self._site.begin(delay=DELAY)

    def _watched(
        self,
        scrape: Scrape,
        pages: int,
        *,
        begin: bool = True,
        look: Callable[[], object] = lambda: None,
        looks: int = 0,
    ) -> ScrapeRun:
        """A run to its end; `look` is called so often on its way."""
        if begin:
            self._begin()
        wanted = open_pages(pages)
        first, last = int(wanted * _BEGINS), int(wanted * _ENDS)
        marks = []
        for at in sorted({first, last, *(wanted * each // (looks + 1) for each in range(1, looks + 1))}):
            self._site.await_answered(at, running=lambda: scrape.running)
            if at in (first, last):
                postgres = server_seconds(self._postmaster)
                marks.append((time.monotonic(), scrape.used(), postgres, scrape.in_postgres()))
            look()
        kept = scrape.kept()
        if kept != wanted:
            raise RuntimeError(f"{kept} pages were kept, not {wanted}:\n{scrape.log()[-2000:]}")
        seconds, cpu, postgres, counted = (after - before for before, after in zip(*marks, strict=True))
        return ScrapeRun(
            rate=counted / seconds,
            cpu=cpu / counted * 1000,
            postgres=postgres / counted * 1000,
            kept=kept,
            visits=self._site.visits(),
        )
