"""Both contestants of the benchmark `scrape`, as each is started: Signoff's batch on a Ray, and Scrapy.

A `Scrape` is one that runs: its process, what its processes have used so far, and what it leaves.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pyarrow.parquet

from benchmarks.harness.bench import ROOT
from benchmarks.harness.cpu import started_seconds
from models.config import Config

_END_SECONDS = 120.0


@dataclass
class Scrape:
    """A contestant at work. `used` tells its processor seconds so far, without Postgres'.

    `url` is of its database.
    """

    used: Callable[[], float]
    url: str
    _process: "subprocess.Popen[bytes]"
    _folder: Path

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def in_postgres(self) -> int:
        """How many pages it has kept with their texts so far."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT count(*) FROM sources WHERE text IS NOT NULL").fetchone()
        assert row is not None
        return int(row[0])

    def kept(self) -> int:
        """Wait for its end: how many pages have a text in its file.

        Raises:
            RuntimeError: it failed.
        """
        self._process.wait(_END_SECONDS)
        if self._process.returncode != 0:
            raise RuntimeError(f"the contestant failed:\n{self.log()[-4000:]}")
        [path] = self._folder.glob("*.parquet")
        texts = pyarrow.parquet.read_table(path, columns=["text"]).column("text")
        return len(texts) - int(texts.null_count)

    def log(self) -> str:
        """What it has printed."""
        return (self._folder / "log").read_text(encoding="utf-8")


@contextmanager
def signoff(
    config_file: Path, config: Config, urls: Sequence[str], *, address: str, url: str, but: set[int]
) -> Iterator[Scrape]:
    """The batch as it is submitted, on the Ray at `address`, which this process has started and joined.

    Args:
        url: of the database.
        but: children of this process that are none of Ray's.
    """
    from actors.platform.runtime import site
    from actors.platform.runtime.directory import stop_agents

    folder, listed = _prepared(config_file, url, urls)
    site.publish(config, root=config_file.parent, database_url=url)
    command = [
        *("-m", "pipelines.scrape_urls", "--config", str(config_file), "--urls", str(listed)),
        *("--project", "P", "--topic", "macro", "--output", str(folder), "--as", "bench"),
    ]
    before = started_seconds(but=but)
    try:
        with _running(command, folder, {"RAY_ADDRESS": address}) as process:
            yield Scrape(lambda: started_seconds(but=but) - before, url, process, folder)
    finally:
        stop_agents()


@contextmanager
def scrapy(
    config_file: Path, urls: Sequence[str], *, url: str, apart: bool, but: set[int]
) -> Iterator[Scrape]:
    """Scrapy; see `scrapy_peer`. The others are as `signoff`'s."""
    folder, listed = _prepared(config_file, url, urls)
    command = [
        *("-m", "benchmarks.contestants.scrapy_peer", "--config", str(config_file), "--urls", str(listed)),
        *("--url", url, "--output", str(folder / "pages.parquet"), *(["--apart"] if apart else [])),
    ]
    before = started_seconds(but=but)
    with _running(command, folder, {}) as process:
        yield Scrape(lambda: started_seconds(but=but) - before, url, process, folder)


def _prepared(config_file: Path, url: str, urls: Sequence[str]) -> tuple[Path, Path]:
    """A folder of its own, and the list of addresses in it."""
    folder = config_file.parent / url.rpartition("/")[2].partition("?")[0]
    folder.mkdir()
    listed = folder / "urls.txt"
    listed.write_text("\n".join(urls) + "\n", encoding="ascii")
    return folder, listed


@contextmanager
def _running(
    command: Sequence[str], folder: Path, environment: dict[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(_END_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
