"""main_text: the main text of pages, as our readers find it, against what people marked in them.

Of sets that are named by `--texts`, and none of them in the repository: the evaluation set of trafilatura
(`adbar/trafilatura`, the folder `tests/`: 990 pages, each with phrases that belong to its text and phrases
that do not), by its own procedure; and WCXB (`Murrough-Foley/web-content-extraction-benchmark`, CC BY 4.0:
2,008 pages of seven kinds with their whole text), by the F1 of words. The settings for kinds of pages were
chosen on WCXB's development part; its test part is held out. Beside it, trafilatura with its own settings.
Bytes go in, Markdown comes out; its marks are taken off before phrases are looked for, since the set is of
plain text. Kinds of the first set are what pages state of themselves, as it has none.
Also: pages of 20 kB per processor second, in the process and through the pool of readers.
Aim: F1 ≥ 0.92 on trafilatura's set, and no kind of page read worse than trafilatura reads it, by 0.01.
"""

import asyncio
import gzip
import json
import logging
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil
from trafilatura import extract
from trafilatura.utils import load_html

from actors.systems.knowledge.parsing.charsets import decoded
from actors.systems.knowledge.parsing.genres import is_discussion
from actors.systems.knowledge.parsing.json_ld import kinds_of, nodes_of
from actors.systems.knowledge.parsing.main_text import read_html
from actors.systems.knowledge.parsing.product_facts import product_of
from actors.systems.knowledge.parsing.reading_pool import ReadingPool
from actors.systems.knowledge.parsing.thread_posts import posts_of
from benchmarks.harness import machine
from benchmarks.harness.bench import Bench
from benchmarks.harness.cpu import process_seconds
from benchmarks.harness.figures import median
from benchmarks.harness.report import Aim, Report, Table

_AIM, _WORSE = 0.92, 0.01
_QUICK = 40
_FENCE_OR_RULE = re.compile(r"(?m)^[ \t]*(?:```.*|\|?(?:[ \t]*:?-{3,}:?[ \t]*\|)+[ \t]*)$")
_LINE_MARK = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)")
_INLINE_MARK = re.compile(r"(?<!\\)(?:\*\*|__|~~|`|\||(?<!\w)\*|\*(?!\w))")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WORD = re.compile(r"\w+")
_NEWS = frozenset(("NewsArticle", "ReportageNewsArticle", "LiveBlogPosting"))
_BLOG = re.compile(rb"wordpress|blogspot|blogger|typepad|wp-content|ghost [0-9]", re.IGNORECASE)


@dataclass(frozen=True)
class _Page:
    """A page with phrases that it holds and lacks, or with its whole text."""

    url: str
    file: Path
    kind: str = ""
    holds: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    text: str = ""

    @property
    def body(self) -> bytes:
        raw = self.file.read_bytes()
        return gzip.decompress(raw) if self.file.suffix == ".gz" else raw


@dataclass(frozen=True)
class _Read:
    """How well a page was read, by us and by trafilatura: phrases found (right, wrong), or F1 of words."""

    kind: str
    ours: tuple[float, float]
    theirs: tuple[float, float]
    phrases: int = 0


def measure(bench: Bench) -> Report:
    """Read all pages of the sets that are there; then time a page."""
    least = _QUICK if bench.quick else None
    tables, aims = [], []
    for folder in bench.texts:
        if (folder / "evaldata.json").exists():
            reads = _in_parallel(_by_phrases, list(_phrases(folder))[:least])
            table, found = _phrases_table(reads)
            tables.append(table)
            aims.append(Aim(f"F1 of at least {_AIM} on trafilatura's set", found >= _AIM, f"{found:.4f}"))
        elif (folder / "metadata.json").exists():
            for part in ("dev", "test"):
                reads = _in_parallel(_by_words, list(_texts(folder, part))[:least])
                tables.append(_words_table(part, reads))
                aims += _no_worse(part, reads)
    tables.append(_speed(bench.repetitions))
    return Report(
        name="main_text",
        measured="Main text of pages through our reader (bytes in, Markdown out), against what people "
        "marked; each page once.",
        machine=[
            *machine.describe_host(repetitions=bench.repetitions),
            machine.describe_packages(("trafilatura", "lxml", "py3langid")),
        ],
        tables=tables,
        aims=aims,
        notes=[
            "WCXB holds pages that are empty until scripts have run; no reader finds text in those.",
            "`stated shop` and `stated forum` are recognised by the rules that choose their settings.",
        ],
    )


def _phrases(folder: Path) -> Iterator[_Page]:
    data = json.loads((folder / "evaldata.json").read_text(encoding="utf-8"))
    for url, marked in sorted(data.items()):
        file = next(path for part in ("cache", "eval") if (path := folder / part / marked["file"]).exists())
        yield _Page(url=url, file=file, holds=tuple(marked["with"]), lacks=tuple(marked["without"]))


def _texts(folder: Path, part: str) -> Iterator[_Page]:
    for marked in sorted((folder / part / "ground-truth").glob("*.json")):
        said = json.loads(marked.read_text(encoding="utf-8"))
        yield _Page(
            url=said.get("url") or "",
            file=folder / part / "html" / f"{marked.stem}.html.gz",
            kind=said["_internal"]["page_type"]["primary"],
            text=said["ground_truth"].get("main_content") or "",
        )


def _in_parallel(read: Callable[[_Page], _Read], pages: Sequence[_Page]) -> list[_Read]:
    with ProcessPoolExecutor(os.cpu_count(), initializer=logging.disable) as processes:
        return list(processes.map(read, pages, chunksize=10))


def _by_phrases(page: _Page) -> _Read:
    body = page.body
    plain = _spaced(_without_marks(read_html(body, url=page.url, content_type=None).text))
    theirs = _spaced(_without_marks(extract(body, include_comments=False, include_formatting=False) or ""))

    def found(text: str) -> tuple[float, float]:
        holds, lacks = ([_spaced(_without_marks(one)) for one in some] for some in (page.holds, page.lacks))
        return sum(one in text for one in holds), sum(one in text for one in lacks)

    return _Read(_stated_kind(body, page.url), found(plain), found(theirs), len(page.holds))


def _by_words(page: _Page) -> _Read:
    body = page.body
    ours = read_html(body, url=page.url, content_type="text/html; charset=utf-8").text
    theirs = extract(decoded(body, None), include_comments=False, include_formatting=False) or ""
    return _Read(page.kind, (_word_f1(ours, page.text), 0), (_word_f1(theirs, page.text), 0))


def _stated_kind(body: bytes, url: str) -> str:
    """The kind that a page states: by its types of schema.org, the program that made it, or its address."""
    tree = load_html(body)
    if tree is None:
        return "others"
    nodes = nodes_of(tree)
    if is_discussion(tree, nodes, url) and posts_of(tree):
        return "stated forum"
    if product_of(tree, nodes):
        return "stated shop"
    if any(not kinds_of(node).isdisjoint(_NEWS) for node in nodes):
        return "stated news"
    return "blog, by its program" if _BLOG.search(body[:20_000]) or _BLOG.search(url.encode()) else "others"


def _without_marks(markdown: str) -> str:
    plain = _LINE_MARK.sub("", _FENCE_OR_RULE.sub("", markdown))
    return _ESCAPE.sub(r"\1", _INLINE_MARK.sub("", plain))


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _word_f1(found: str, wanted: str) -> float:
    """As WCXB has it."""
    one, other = (Counter(_WORD.findall(text.lower())) for text in (found, wanted))
    if not one or not other:
        return float(not one and not other)
    both = sum((one & other).values())
    return 2 * both / (one.total() + other.total())


def _phrases_table(reads: Sequence[_Read]) -> tuple[Table, float]:
    rows, overall = [], 0.0
    for kind, some in [("all", list(reads)), *_by_kind(reads)]:
        precision, recall, f1 = _of_phrases(some, "ours")
        overall = f1 if kind == "all" else overall
        theirs = _of_phrases(some, "theirs")[2]
        rows.append((kind, str(len(some)), *(f"{one:.4f}" for one in (precision, recall, f1, theirs))))
    columns = ("kind", "pages", "precision", "recall", "F1", "F1 of trafilatura")
    return Table(title="trafilatura's evaluation set", columns=columns, rows=rows), overall


def _of_phrases(reads: Iterable[_Read], whose: str) -> tuple[float, float, float]:
    some = list(reads)
    right, wrong = (sum(getattr(one, whose)[place] for one in some) for place in (0, 1))
    wanted = sum(one.phrases for one in some)
    return right / max(right + wrong, 1), right / max(wanted, 1), 2 * right / max(right + wrong + wanted, 1)


def _words_table(part: str, reads: Sequence[_Read]) -> Table:
    rows = []
    for kind, some in [("all", list(reads)), *_by_kind(reads)]:
        ours, theirs = _means(some)
        rows.append((kind, str(len(some)), f"{ours:.3f}", f"{theirs:.3f}"))
    columns = ("kind", "pages", "F1", "F1 of trafilatura")
    return Table(title=f"WCXB, {part} (mean F1 of words)", columns=columns, rows=rows)


def _no_worse(part: str, reads: Sequence[_Read]) -> Iterator[Aim]:
    behind = {}
    for kind, some in _by_kind(reads):
        ours, theirs = _means(some)
        if ours < theirs - _WORSE:
            behind[kind] = f"{kind}: {ours:.3f} to {theirs:.3f}"
    told = ", ".join(behind.values()) or "none"
    yield Aim(f"no kind of WCXB's {part} part read worse than by trafilatura", not behind, told)


def _means(reads: Sequence[_Read]) -> tuple[float, float]:
    return sum(one.ours[0] for one in reads) / len(reads), sum(one.theirs[0] for one in reads) / len(reads)


def _by_kind(reads: Sequence[_Read]) -> list[tuple[str, list[_Read]]]:
    kinds = Counter(one.kind for one in reads)
    return [(kind, [one for one in reads if one.kind == kind]) for kind, _ in kinds.most_common()]


def _speed(repetitions: int) -> Table:
    """Pages of 20 kB per processor second, of all processes that take part."""
    body = _page_of_20_kb()
    pages = 40
    rows = []
    read_html(body, url="http://localhost/", content_type=None)
    here = []
    for _ in range(repetitions):
        begun = time.process_time()
        for _ in range(pages):
            read_html(body, url="http://localhost/", content_type=None)
        here.append(pages / (time.process_time() - begun))
    rows.append(("in the process", f"{median(here):.1f}", ""))
    pooled = asyncio.run(_pooled(body, pages, repetitions))
    rows.append(
        ("through the pool, one reader", f"{median(pooled):.1f}", f"{median(pooled) / median(here):.2f} ×")
    )
    return Table(title="pages of 20 kB", columns=("read", "pages per CPU second", "ratio"), rows=rows)


async def _pooled(body: bytes, pages: int, repetitions: int) -> list[float]:
    pool = ReadingPool(readers=1, seconds=60)
    found = []
    await pool.read_html(body, "http://localhost/", None)
    (reader,) = psutil.Process().children()
    for _ in range(repetitions):
        begun = time.process_time() + process_seconds(reader.pid)
        await asyncio.gather(*(pool.read_html(body, "http://localhost/", None) for _ in range(pages)))
        found.append(pages / (time.process_time() + process_seconds(reader.pid) - begun))
    await pool.close()
    return found


def _page_of_20_kb() -> bytes:
    said = (
        "The price of bread rose by {0} percent, as <a href='/said/{0}'>the office</a> said in its report. "
    )
    paragraphs = "".join(f"<p class='text'>{said.format(number) * 2}</p>" for number in range(82))
    menu = "".join(f"<li><a href='/menu/{number}'>Entry {number}</a></li>" for number in range(60))
    html = (
        "<!DOCTYPE html><html lang=en><head><title>Bread</title><meta name=author content='Ann Baker'></head>"
        f"<body><nav><ul>{menu}</ul></nav><article><h1>Bread</h1>{paragraphs}</article></body></html>"
    )
    return html.encode()
