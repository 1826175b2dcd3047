"""The indexing batch: a project's sources in, passages and an index that they are found by out.

    signoff submit index_knowledge_base --project NAME --topic TOPIC

Ray Data cuts and embeds (`indexing_stages`); what is made is kept in Postgres as it comes, so submitting
again makes what is missing and nothing that is there. Then a task builds segments of it, and puts them in
place while people search. Exit code 1 if the batch was stopped, or if a source could not be indexed. Seed
002, subsystem 7.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any, cast

import pyarrow as pa
import ray
import ray.data
import ray.exceptions
import typer

from actors.platform.runtime import site
from actors.platform.runtime.batch_lease import batch_lease
from actors.platform.runtime.submitter import submitter
from models.config import Config
from models.errors import InputInvalid
from models.knowledge.passages import IndexSegment
from models.store.database import Database
from models.store.knowledge import passages, segments
from pipelines import driver
from pipelines.indexing_stages import IndexingWork, PassageEmbedding, built_segments, cutter_of
from pipelines.progress import say, saying
from pipelines.site_options import ConfigOption, SubmittedByOption, named_project
from pipelines.thread_items import thread_items

# Sources that one actor takes at a time: what is under way when it dies is made again.
_SOURCES, _BYTES = 64, 500_000
_PAGE = 2000
_BLOCKS = 2000
# Between two times that it is told that nothing was embedded yet.
_WANTING_SECONDS = 30.0
_LEASE_SECONDS = 15.0
_BUILD_TRIES = 3


def main(
    project: Annotated[str, typer.Option(help="The project: its number, or a name with --topic.")],
    topic: Annotated[str | None, typer.Option(help="The project's topic.")] = None,
    config: ConfigOption = None,
    submitted_by: SubmittedByOption = None,
) -> None:
    """Make a project's sources findable."""

    def work() -> int:
        here = driver.join_site()
        settings = site.load_for(here, config)
        return asyncio.run(
            index(
                settings,
                here.database_url,
                project=project,
                topic=topic,
                requested_by=submitter(submitted_by),
            )
        )

    raise typer.Exit(driver.command("index_knowledge_base", work))


async def index(
    config: Config, database_url: str, *, project: str, topic: str | None, requested_by: str
) -> int:
    """Index all that a project holds, and report; the exit code."""
    async with driver.patient_database(config, database_url) as database:
        named = await named_project(database, config, project=project, topic=topic)
        if named is None:
            raise InputInvalid(f"--project: there is no project {project!r} in {topic}: scrape pages into it")
        made_with = (await asyncio.to_thread(cutter_of, config)).made_with
        work = IndexingWork(config=config, database_url=database_url, project_id=named.id)
        counts: Counter[str] = Counter()
        async with batch_lease(
            database=database, requested_by=requested_by, lease_seconds=_LEASE_SECONDS
        ) as batch_id:
            there, waiting = await _count(database, named.id, made_with)
            counts["there"] = there
            say(
                f"batch {batch_id}: project {named.id} ({named.name}): {waiting} sources to index, "
                f"{there} there before"
            )
            if await driver.until_stopped(_carry(database, work, made_with, waiting, counts)):
                # Now: whoever has stopped it may not wait for the end.
                say("stopped: what was made is kept; submit again to go on", trouble=True)
                return 1
        async with database.connection() as connection:
            whole = await segments.whole(connection, named.id, made_with, most_fresh=0)
    for line in _told(counts, whole.segments):
        say(line)
    return 1 if counts["failed"] or counts["later"] else 0


async def _carry(
    database: Database, work: IndexingWork, made_with: str, waiting: int, counts: Counter[str]
) -> None:
    groups = await _groups(database, work.project_id, made_with)
    before = counts["there"]
    started = time.monotonic()
    came, told = False, 0.0

    async def progress() -> str | None:
        """As Postgres has it: what is made is kept long before its rows leave the pool."""
        nonlocal told
        seconds = time.monotonic() - started
        made = (await _count(database, work.project_id, made_with)).there - before
        if came or made > 0:
            return _progress(made, counts, waiting, seconds)
        if seconds < told + _WANTING_SECONDS:
            return None
        told = seconds
        return _wanting(work.config)

    if groups:
        async with saying(progress):
            async for rows in thread_items(lambda: _rows(groups, work)):
                came = True
                for row in rows:
                    counts[row["outcome"]] += 1
                    counts["passages"] += row["passages"]
                    if row["reason"]:
                        say(f"source {row['source_id']}: {row['outcome']}: {row['reason']}")
    await _build(work, made_with)


async def _groups(database: Database, project_id: int, made_with: str) -> list[list[int]]:
    """The sources to index, by their ids: as many together as one actor takes. No text is read."""
    groups: list[list[int]] = []
    after, size = 0, math.inf
    while True:
        found = await database.read(
            partial(passages.waiting, project_id=project_id, made_with=made_with, after=after, limit=_PAGE)
        )
        if not found:
            return groups
        for source_id, bytes_ in found:
            if size + bytes_ > _BYTES or len(groups[-1]) >= _SOURCES:
                groups.append([])
                size = 0
            groups[-1].append(source_id)
            size += bytes_
        after = found[-1][0]


def _rows(groups: Sequence[list[int]], work: IndexingWork) -> Iterator[list[dict[str, Any]]]:
    """What sources come to, as the pool brings them."""
    settings = work.config.knowledge.index.embedders
    dataset: ray.data.Dataset = ray.data.from_items(
        [{"ids": group} for group in groups], override_num_blocks=min(len(groups), _BLOCKS)
    )
    # Embedders may wait for room, or for their model, for longer than Ray Data takes for hanging.
    dataset.context.execution_no_progress_timeout_s = -1
    dataset = dataset.map_batches(
        PassageEmbedding,
        fn_constructor_args=(work,),
        batch_size=None,
        batch_format="pyarrow",
        concurrency=(1, min(settings.replicas, len(groups))),
        num_cpus=settings.num_cpus,
        num_gpus=settings.num_gpus or None,
    )
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
        yield cast(pa.Table, batch).to_pylist()


async def _build(work: IndexingWork, made_with: str) -> None:
    """Have the segments built, not in the driver; what a process that died had built is there."""
    cpus = _cpus(work.config)
    task = ray.remote(built_segments).options(num_cpus=cpus, num_returns="streaming", max_retries=0)
    for left in reversed(range(_BUILD_TRIES)):
        # What a streaming task gives is iterated, though its type does not say so.
        segments_made: Any = task.remote(work, made_with, max(1, math.floor(cpus)))
        ended = False
        try:
            async for reference in segments_made:
                say(_told_segment(await reference, "built"))
            ended = True
            return
        except ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except ray.exceptions.RayError:
            if not left:
                raise
            say("the process that built segments ended: another goes on")
        finally:
            if not ended:
                ray.cancel(segments_made)


def _cpus(config: Config) -> float:
    """The processors of the embedders, which are idle by then, as far as one node has them."""
    settings = config.knowledge.index.embedders
    nodes = [node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    return float(min(settings.replicas * settings.num_cpus, max(nodes, default=1.0)))


def _wanting(config: Config) -> str:
    """What the pool may wait for, where nothing was embedded yet: Ray itself says nothing."""
    settings = config.knowledge.index.embedders
    has: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    free: dict[str, float] = ray.available_resources()  # type: ignore[no-untyped-call]
    wanted = {
        kind: amount for kind, amount in (("CPU", settings.num_cpus), ("GPU", settings.num_gpus)) if amount
    }
    parts = (
        f"{amount:g} {kind} (of {has.get(kind, 0.0):g} in the cluster {free.get(kind, 0.0):g} are free)"
        for kind, amount in wanted.items()
    )
    needs = f"an embedder needs {' and '.join(parts)} on one node, as knowledge.index.embedders says"
    if all(amount <= free.get(kind, 0.0) for kind, amount in wanted.items()):
        return f"nothing is embedded yet: the model loads, or the first source is a long one; {needs}"
    return f"nothing is embedded yet: {needs}; until that is free, the batch waits"


async def _count(database: Database, project_id: int, made_with: str) -> passages.SourceCounts:
    return await database.read(lambda connection: passages.count(connection, project_id, made_with))


def _progress(made: int, counts: Counter[str], waiting: int, seconds: float) -> str:
    failed = counts["failed"] + counts["later"] + counts["changed"]
    left = max(waiting - made - failed, 0)
    return f"{made} indexed, {failed} not, {left} to go, {made / seconds:.1f} a second"


def _told_segment(segment: IndexSegment, what: str) -> str:
    return (
        f"segment {segment.id} {what}: {segment.kind}, {segment.vectors} passages, "
        f"{segment.bytes / 1e6:.1f} MB, recall@10 {segment.recall:.3f}"
    )


def _told(counts: Counter[str], whole: Sequence[IndexSegment]) -> Iterator[str]:
    """What the batch came to: a line for each segment of the index, then all counts in one."""
    for segment in whole:
        yield _told_segment(segment, "holds")
    words = {"changed": "changed meanwhile", "later": "to be tried later", "failed": "failed"}
    more = "".join(f", {counts[outcome]} {word}" for outcome, word in words.items() if counts[outcome])
    found = sum(segment.vectors for segment in whole)
    yield (
        f"{counts['indexed']} sources indexed, {counts['there']} there before{more}; "
        f"{counts['passages']} passages made; {found} in {len(whole)} segments"
    )


if __name__ == "__main__":
    typer.run(main)
