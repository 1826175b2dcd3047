"""engine_choice: whether `auto` takes the engine that each page needs, and says rightly why there is no text.

Of three sets of pages under benchmarks/pages, written by people who have not read how it is decided: `open`;
`walls`, of walls and what looks like them in 21 languages; and `locked`, whose pages whoever works on the
decision does not look at. They are served over HTTP with their
states, headers, redirects and scripts, and scraped as a batch scrapes: by HTTP, then by a browser. A page is
right where engine and fault are those of its label, and its text holds the phrases that the label names.
Aim: 0.95 of each set.
"""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.systems.knowledge.scraping.open_scraper import open_scraper
from actors.systems.knowledge.scraping.scraping_settings import ScrapingSettings
from benchmarks.harness.bench import ROOT, Bench
from benchmarks.harness.report import Aim, Report, Table
from models.knowledge.pages import ScrapedPage
from tests.fakes.outside.open_turns import OpenTurns

SETS = ROOT / "benchmarks/pages"
_SETS = ("open", "walls", "locked")
_AIM = 0.95
_HOST = "127.0.0.31"
_QUICK = 12
_AT_ONCE = 2
_START_SECONDS = 20.0


@dataclass(frozen=True)
class _Label:
    """What a person says of a page. `right`: engine and fault that are right; the first is the best."""

    id: str
    path: str
    category: str
    right: tuple[tuple[str, str | None], ...]
    holds: tuple[str, ...]


@dataclass(frozen=True)
class _Outcome:
    """What became of a page, and whether that is right, by its label and by HTTP alone."""

    label: _Label
    page: ScrapedPage
    right: bool
    right_by_http: bool


def measure(bench: Bench) -> Report:
    """Scrape all sets."""
    machine = bench.machine("playwright", "trafilatura", "httpx2")
    _, config = bench.configure({"outgoing.allow_internal": ["127.0.0.0/8"]})
    given = ScrapingSettings.of(config)
    found: dict[str, list[_Outcome]] = {}
    for name in _SETS[:1] if bench.quick else _SETS:
        labels = _labels(SETS / name)[: _QUICK if bench.quick else None]
        with _served(SETS / name) as origin:
            found[name] = asyncio.run(_scraped(given, origin, labels))
        if name != "locked":
            for outcome in found[name]:
                if not outcome.right:
                    print(f"{outcome.label.id}: {outcome.page.engine}, {outcome.page.fault}", flush=True)
    return Report(
        name="engine_choice",
        measured=", ".join(f"{len(outcomes)} pages of the set `{name}`" for name, outcomes in found.items()),
        machine=machine,
        tables=[_by_category(found)],
        aims=[
            Aim(f"right in {_AIM:.0%} of the set `{name}`", share >= _AIM, f"{share:.3f}")
            for name, outcomes in found.items()
            for share in [sum(outcome.right for outcome in outcomes) / len(outcomes)]
        ],
        notes=["`by HTTP alone` is what the same pages come to without a browser."],
    )


async def _scraped(given: ScrapingSettings, origin: str, labels: Sequence[_Label]) -> list[_Outcome]:
    room = asyncio.Semaphore(_AT_ONCE)
    async with open_scraper(given, OpenTurns(), own_browser=True) as scraper:

        async def one(label: _Label) -> _Outcome:
            async with room:
                url = f"{origin}{label.path}"
                plain = await scraper.scrape(url, "http")
                page = await scraper.scrape(url, "auto")
                return _Outcome(label, page, _is_right(label, page), _is_right(label, plain))

        return await asyncio.gather(*map(one, labels))


def _is_right(label: _Label, page: ScrapedPage) -> bool:
    said = (page.engine or "http", page.fault)
    text = " ".join((page.page.text if page.page else "").split())
    return said in label.right and all(phrase in text for phrase in label.holds if page.fault is None)


def _labels(folder: Path) -> list[_Label]:
    rows: list[dict[str, Any]] = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    return [
        _Label(
            id=row["id"],
            path=row["path"],
            category=row["category"],
            right=tuple((each["engine"], each["fault"]) for each in [row["expect"], *row.get("also", [])]),
            holds=tuple(" ".join(phrase.split()) for phrase in row.get("must_contain", [])),
        )
        for row in rows
    ]


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Where a set is served."""
    with socket.create_server((_HOST, 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(SETS / "serve.py"), str(folder), "--host", _HOST, "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port, server)
            yield f"http://{_HOST}:{port}"
        finally:
            server.kill()


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection((_HOST, port), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{SETS / 'serve.py'} does not serve") from None
            time.sleep(0.05)


def _by_category(found: Mapping[str, Sequence[_Outcome]]) -> Table:
    groups: dict[tuple[str, str], list[_Outcome]] = defaultdict(list)
    for name, outcomes in found.items():
        for outcome in outcomes:
            groups[name, outcome.label.category].append(outcome)
            groups[name, "all"].append(outcome)
    rows = [
        (
            name,
            category,
            str(len(outcomes)),
            str(sum(outcome.right for outcome in outcomes)),
            str(sum(outcome.right_by_http for outcome in outcomes)),
        )
        for (name, category), outcomes in sorted(groups.items())
    ]
    return Table(title="pages", columns=("set", "kind", "pages", "right", "by HTTP alone"), rows=rows)
