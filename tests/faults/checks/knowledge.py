"""Batches of knowledge: a page is asked for until it is kept and never again, indexed whole, extracted once.

The rows are gathered here; what is asked of one source is a pure function.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow.parquet

from actors.systems.knowledge.index.segment_files import SegmentFiles
from models.knowledge.passages import IndexSegment
from tests.faults import ledger
from tests.faults.checks.runs import Runs
from tests.faults.ledger import Known
from tests.faults.people.knowledge import KnowledgeBatch
from tests.faults.site.driver import crash_file, exit_file
from tests.faults.site.pages import timed
from tests.faults.site.world import World

_SOURCES = """SELECT s.id, s.url, s.text, s.fault,
  (SELECT count(*) FROM knowledge_points p WHERE p.source_id = s.id) AS points
FROM sources s WHERE s.url = ANY(%s)"""
_PASSAGES = """SELECT source_id, segment_id, start, "end" FROM source_passages
WHERE source_id = ANY(%s) ORDER BY source_id, start"""
_SEGMENTS = """SELECT id, project_id, kind, file, sha256, vectors, bytes, recall, effort, made_with
FROM index_segments WHERE project_id IN (SELECT project_id FROM sources WHERE url = ANY(%s))"""


async def check(world: World, batch: KnowledgeBatch) -> list[str]:
    """What is wrong with a batch whose driver has ended."""
    if crash_file(batch.folder).exists():
        return [f"{batch.name} died: {crash_file(batch.folder).read_text(encoding='utf-8').strip()}"]
    if not exit_file(batch.folder).exists():
        return [f"{batch.name} has not ended"]
    urls = list(batch.urls)
    sources = {row["url"]: row for row in await world.rows(_SOURCES, urls)}
    passages = await world.rows(_PASSAGES, [row["id"] for row in sources.values()])
    known = await ledger.known(world.rows, urls)
    hits = timed(list(world.library.hits))
    wrong: list[str] = []
    for url, points in batch.points.items():
        source = sources.get(url)
        if source is None or not source["text"]:
            wrong.append(f"{url} of {batch.name} was acknowledged and is lost: {source}")
            continue
        its = [one for one in known if one.url == url]
        wrong += of_source(source, points, its, [p for p in passages if p["source_id"] == source["id"]])
        wrong += asked_after_it_was_kept(url, its, [at for path, at in hits if url.endswith(path)])
    if not (sources.get(batch.gone) or {}).get("fault"):
        wrong.append(f"{batch.gone} of {batch.name} has no fault: {sources.get(batch.gone)}")
    segments = [IndexSegment.model_validate(row) for row in await world.rows(_SEGMENTS, urls)]
    wrong += of_index(SegmentFiles(world.config.knowledge.index.dir), segments, passages, batch.name)
    return wrong + list(_of_files(batch))


def of_source(
    source: Mapping[str, Any], points: int, known: Sequence[Known], passages: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """A source was kept, indexed and extracted once; its passages hold its text, and its points are there."""
    times = Counter(one.what for one in known)
    for what in (ledger.KEPT, ledger.INDEXED, ledger.EXTRACTED):
        if times[what] != 1:
            yield f"{source['url']} was {what} {times[what]} times"
    if times[ledger.PASSAGE] != len(passages):
        yield f"{source['url']} has {len(passages)} passages, and {times[ledger.PASSAGE]} were made"
    if source["points"] != points:
        yield f"{source['url']} has {source['points']} points, and says {points}"
    held = 0
    for passage in passages:
        if source["text"][held : passage["start"]].strip():
            break
        held = max(held, passage["end"])
    if source["text"][held:].strip():
        yield f"{source['url']} is in no passage from {held} on"


def asked_after_it_was_kept(url: str, known: Sequence[Known], asked: Sequence[float]) -> Iterator[str]:
    """What was kept is not asked for again."""
    kept = min((one.at for one in known if one.what == ledger.KEPT), default=None)
    if kept is not None and (late := [at for at in asked if at > kept]):
        yield f"{url} was asked for {len(late)} times more once it was kept"


def of_index(
    files: SegmentFiles,
    segments: Sequence[IndexSegment],
    passages: Sequence[Mapping[str, Any]],
    name: str,
) -> Iterator[str]:
    """Each passage is in a segment, and the segments' files hold as many as they say."""
    there = {segment.id for segment in segments}
    if lost := [passage for passage in passages if passage["segment_id"] not in there]:
        yield f"{len(lost)} of {len(passages)} passages of {name} are in no segment"
    if (held := sum(segment.vectors for segment in segments)) != len(passages):
        yield f"the segments of {name} hold {held} of {len(passages)} passages"
    for segment in segments:
        index = files.read(segment)
        if index is None or index.ntotal != segment.vectors:
            yield f"the file {segment.file} of {name} is damaged"


def _of_files(batch: KnowledgeBatch) -> Iterator[str]:
    """Each Parquet file that is there is whole: a row for each address."""
    tables = sorted(batch.output.glob("*.parquet"))
    if not tables:
        yield f"{batch.name} has no Parquet file"
    for path in tables:
        try:
            urls = pyarrow.parquet.read_table(path, columns=["url"]).column("url").to_pylist()
        except (OSError, pyarrow.ArrowInvalid) as error:
            yield f"{path.name} of {batch.name} can't be read: {error}"
            continue
        if sorted(urls) != sorted(batch.urls):
            yield f"{path.name} of {batch.name} holds {sorted(urls)}"


async def trail(world: World, batch: KnowledgeBatch) -> tuple[int, int]:
    """How much was done for it, and how often the pages that can be read were asked for."""
    known = await ledger.known(world.rows, list(batch.urls))
    return len(known), sum(hit.path in batch.paths for hit in list(world.library.hits))


def asked_for_by_somebody(world: World, runs: Runs) -> list[str]:
    """What was asked for since it was looked at last, by no batch."""
    known = {path for work in runs.works for batch in work.knowledge for path in batch.paths}
    known |= {f"/{batch.gone.split('/', 3)[3]}" for work in runs.works for batch in work.knowledge}
    hits = runs.since("library", list(world.library.hits))
    return [f"{hit.path} was asked for by nobody" for hit in hits if hit.path not in known]
