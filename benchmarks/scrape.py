"""scrape: what a page costs, and how politely it is had. The batch `scrape_urls` against Scrapy.

A site of our own, in its own process, on a hundred loopback addresses: pages of 20 kB of prose and menus,
5 % of them slow (1 s), 2 % refused once with 429 or 503 and `Retry-After: 1`, 2 % closed by robots.txt. The
batch runs as it is submitted, with the shipped settings (`auto`, the stage of browsers included). Scrapy
reads pages by the same function, with the same delay, pages at once and robots.txt, and keeps them in the
same tables and file; once it reads in its callback, once in a process apart. They take turns, each on a
fresh database.

CPU is counted between two pages of a run (10 % and 95 % of the way): nobody's start or end is in it. It is
of all the processes of a contestant (ours: driver, stages, readers, agents, Ray's own) and of Postgres, by
the pages that were kept meanwhile. Offences are counted at the site, by its clock. Then: memory over 20,000
pages, and a node that joins.
Aims: pages per CPU-second ≥ 1.0 × Scrapy's in whichever form costs it less; no offence in any run of ours;
memory of the last quarter of the pages at most 1.05 × the second's; from one node to two nothing is fetched
twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.contestants.scrape_field import (
    APART,
    DELAY,
    FEW_HOSTS,
    HERE,
    SIGNOFF,
    STAGES,
    Memory,
    ScrapeField,
    ScrapeRun,
)
from benchmarks.harness.bench import Bench
from benchmarks.harness.figures import median, times
from benchmarks.harness.loopback_site import loopback_site
from benchmarks.harness.report import Aim, Report, Table
from benchmarks.harness.site_visits import TOLERANCE_SECONDS

_AIM_RATIO, _AIM_MEMORY = 1.0, 1.05


class _Sizes(NamedTuple):
    """Pages of each part, and turns."""

    turns: int
    pages: int
    many: int
    two_nodes: int


def measure(bench: Bench) -> Report:
    """Take turns, then scrape many, then from one node to two."""
    machine = bench.machine("ray", "scrapy", "trafilatura", "httpx2", "httpcore2", "psycopg")
    sizes = _Sizes(1, 500, 1_000, 900) if bench.quick else _Sizes(3, 2_000, 20_000, 3_000)
    with loopback_site() as site:
        field = ScrapeField(bench, site)
        runs: dict[str, list[ScrapeRun]] = {SIGNOFF: [], HERE: [], APART: []}
        for turn in range(sizes.turns):
            order = list(runs)[turn % 3 :] + list(runs)[: turn % 3]
            for name in order:
                runs[name].append(field.run(name, sizes.pages))
                print(f"{name}: {_shown(runs[name][-1])}", flush=True)
        memory, many = field.memory(sizes.many)
        print(f"memory: {memory}", flush=True)
        shares, two = field.two_nodes(sizes.two_nodes)
        print(f"two nodes: {shares}, {two.visits}", flush=True)
    ours = [*runs[SIGNOFF], many, two]
    return Report(
        name="scrape",
        measured=f"{sizes.turns} turns of {sizes.pages:,} pages a contestant, {DELAY:g} s between two "
        f"requests to a host, {field.at_once} pages at once; memory over {sizes.many:,} pages; "
        f"{sizes.two_nodes:,} pages of {FEW_HOSTS} hosts while a node joins.",
        machine=machine,
        tables=[_costs(runs), _offences(runs, many, two), _memory_table(memory)],
        aims=[*_aims(runs, ours, two, shares), *([] if bench.quick else [_flat(memory)])],
        notes=list(_notes(ours, two, shares)),
    )


def _shown(run: ScrapeRun) -> str:
    return f"{run.cpu:.1f} + {run.postgres:.1f} ms of CPU a page, {run.rate:.0f} pages/s, {run.visits}"


def _ratio(runs: Mapping[str, list[ScrapeRun]], peer: str) -> float:
    """Of runs that were measured one after the other: the machine is busy for both."""
    pairs = zip(runs[SIGNOFF], runs[peer], strict=True)
    return median(ours.per_cpu_second / theirs.per_cpu_second for ours, theirs in pairs)


def _costs(runs: Mapping[str, list[ScrapeRun]]) -> Table:
    return Table(
        "what a page costs, medians",
        (
            "contestant",
            "CPU, ms",
            "Postgres' CPU, ms",
            "pages per CPU-second",
            "pages/s",
            "Signoff's ratio to it",
        ),
        [
            (
                name,
                f"{median(run.cpu for run in some):.1f}",
                f"{median(run.postgres for run in some):.1f}",
                f"{median(run.per_cpu_second for run in some):.1f}",
                f"{median(run.rate for run in some):.1f}",
                "" if name == SIGNOFF else times(_ratio(runs, name)),
            )
            for name, some in runs.items()
        ],
    )


def _offences(runs: Mapping[str, list[ScrapeRun]], many: ScrapeRun, two: ScrapeRun) -> Table:
    shown = {**runs, "Signoff, memory": [many], "Signoff, a node joins": [two]}
    columns = ("run", "requests", "too close", "before Retry-After", "closed by robots.txt", "twice")
    rows = []
    for name, some in shown.items():
        seen = [run.visits for run in some]
        counts = [
            sum(getattr(each, what) for each in seen)
            for what in ("requests", "too_close", "too_early", "closed", "twice")
        ]
        gap = min(each.smallest_gap for each in seen)
        rows.append((name, *(f"{count:,}" for count in counts), f"{gap * 1000:.0f}"))
    return Table("offences, as the site saw them", (*columns, "smallest gap, ms"), rows)


def _memory_table(memory: Mapping[str, Memory]) -> Table:
    return Table(
        "memory, PSS in MB",
        ("processes", "second quarter", "last quarter", "ratio", "most"),
        [
            (
                tree,
                f"{taken.second:.0f}",
                f"{taken.last:.0f}",
                times(taken.last / taken.second),
                f"{taken.most:.0f}",
            )
            for tree, taken in memory.items()
        ],
    )


def _aims(
    runs: Mapping[str, list[ScrapeRun]],
    ours: Sequence[ScrapeRun],
    two: ScrapeRun,
    shares: tuple[float, float],
) -> list[Aim]:
    ratio = min(_ratio(runs, peer) for peer in (HERE, APART))
    offences = sum(run.visits.offences for run in ours)
    again = two.visits.twice
    return [
        Aim("pages per CPU-second ≥ 1.0 × Scrapy's", ratio >= _AIM_RATIO, times(ratio)),
        Aim("no offence in any run of ours", offences == 0, str(offences)),
        Aim(
            "from one to two nodes nothing is fetched twice, and both fetch",
            again == 0 and min(shares) > 0,
            f"{again} of {two.kept:,}",
        ),
    ]


def _flat(memory: Mapping[str, Memory]) -> Aim:
    grown = sum(memory[tree].last for tree in STAGES) / sum(memory[tree].second for tree in STAGES)
    what = "memory of the stages flat: last quarter of the pages ≤ 1.05 × the second"
    return Aim(what, grown <= _AIM_MEMORY, times(grown))


def _notes(ours: Sequence[ScrapeRun], two: ScrapeRun, shares: tuple[float, float]) -> Iterator[str]:
    late = max(run.visits.lateness for run in ours)
    yield (
        "Two requests to a host are too close where the site sees the second more than "
        f"{TOLERANCE_SECONDS * 1000:.0f} ms before the delay is over; its own loop was late by "
        f"{late * 1000:.1f} ms or less in 99 of 100 cases."
    )
    yield (
        "Scrapy runs as its documentation has it for polite crawls: DOWNLOAD_DELAY without jitter, "
        "ROBOTSTXT_OBEY, two retries; it does not look at Retry-After. Its delay counts from when a request "
        "leaves its queue."
    )
    yield (
        "Of what Signoff does, Scrapy does not judge pages (walls, empty shells), guard addresses, go on "
        "after it was killed, or keep one rate for several machines. Signoff adds 50 ms to each delay."
    )
    yield (
        f"Since the node joined, the readers of the first node used {shares[0]:.1f} s of CPU, those of the "
        f"second {shares[1]:.1f} s."
    )
