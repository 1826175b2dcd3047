"""The editorial batch: topic files in, reviewed articles out, one canonical JSON each.

    signoff submit edit_articles --topics DIR

Ray Data reads and checks the files; each topic becomes a workflow that the runners run while this
driver lives. Submitting again finishes what is missing and redoes nothing. Exit code 1 if a topic did
not pass (with `--allow-blocked`: if one ended in an error), if the summary can't be written, or if a
publication could not be asked for. Seed 004 §3.1, §7.1, §9.
"""

import asyncio
import functools
import hashlib
import logging
import math
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import ray
import ray.data
import typer
from rich.console import Console

from actors.editorial.artifacts import article_path, write_atomically
from actors.editorial.files import settled_result
from actors.runtime import site
from actors.runtime.submitter import submitter
from models.config import ArticleGenerationConfig, Config
from models.editorial import ArticleGenerationResult
from models.errors import InputInvalid, PathNotVisible, SignoffError
from models.store import documents
from models.store.database import Database
from models.text import one_line
from models.workflows import Workflow
from pipelines.batch import Batch, live_batch
from pipelines.drafts import Drafts
from pipelines.progress import say, show
from pipelines.summary import TopicSummary, as_lines, as_table, exit_code, write_parquet
from pipelines.topics import TopicRow, duplicates, find_topic_files, read_topic


def main(
    topics: Annotated[str, typer.Option(help="A folder of topic files, or one file; a path or a URI.")],
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration that the site must run; default: the site's own."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Redo finished topics.")] = False,
    allow_blocked: Annotated[
        bool, typer.Option("--allow-blocked", help="Exit 0 when the only failures are blocked articles.")
    ] = False,
    at_once: Annotated[
        int | None, typer.Option(min=1, help="Topics under way at a time, instead of the configuration's.")
    ] = None,
    draft_in: Annotated[
        str | None, typer.Option(help="Make a draft of each edited article in this subject area.")
    ] = None,
    request_publication: Annotated[
        bool, typer.Option("--request-publication", help="Ask for the publication of those drafts.")
    ] = False,
    requests_at_most: Annotated[
        int | None, typer.Option(min=0, help="Ask for no more than this, those that wait already included.")
    ] = None,
    submitted_by: Annotated[
        str | None, typer.Option("--as", help="Who submits it; default: who typed `signoff submit`.")
    ] = None,
) -> None:
    """Edit the articles of a folder of topic files."""
    try:
        if requests_at_most is not None and not request_publication:
            raise InputInvalid("--requests-at-most: nothing is asked for without --request-publication")
        if draft_in is None and request_publication:
            raise InputInvalid("--request-publication: say which subject area they go to with --draft-in")
        ray.init(log_to_driver=False, logging_level=logging.WARNING)
        _quieten_ray_data()
        here = site.find()
        settings = site.load_for(here, config)
        rows = _read(topics, settings.article_generation, here.root)
        code = asyncio.run(
            _edit(
                rows,
                settings,
                here.database_url,
                Wishes(
                    submitter=submitter(submitted_by),
                    force=force,
                    allow_blocked=allow_blocked,
                    at_once=at_once or settings.article_generation.batch.max_topics_at_once,
                    draft_in=draft_in,
                    request_publication=request_publication,
                    requests_at_most=requests_at_most,
                ),
            )
        )
    except SignoffError as error:
        say(f"edit_articles: {error}", trouble=True)
        code = 1
    except Exception as error:  # noqa: BLE001  # whatever it was, people read one line of it
        say(f"edit_articles: {one_line(error)}", trouble=True)
        code = 1
    raise typer.Exit(code)


def _quieten_ray_data() -> None:
    """Its own progress, per block and operator, says nothing about topics."""
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.WARNING)


def _read(topics: str, settings: ArticleGenerationConfig, root: Path) -> ray.data.Dataset:
    """A row per topic file: its TopicRow as JSON in `row`, and the columns that duplicates show in."""
    filesystem, paths = find_topic_files(topics, roots=[Path.cwd(), root])
    if filesystem.type_name == "local":
        _check_visible_everywhere(paths[0])
    files = ray.data.read_binary_files(paths, filesystem=filesystem, include_paths=True)
    rows: ray.data.Dataset = files.map(functools.partial(_check, settings=settings)).materialize()
    return rows


def _check(file: dict[str, Any], *, settings: ArticleGenerationConfig) -> dict[str, Any]:
    row = read_topic(path=file["path"], content=file["bytes"], settings=settings)
    return {"path": row.path, "channel": row.channel, "slug": row.slug, "row": row.model_dump_json()}


def _check_visible_everywhere(path: str) -> None:
    """Ray Data may read a file on any node, so on several nodes a local path must be shared."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    if len(nodes) < 2:
        return
    seen = ray.remote(num_cpus=0)(lambda: Path(path).is_file())
    answers = ray.get(
        [
            seen.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote()
            for node in nodes
        ]
    )
    blind = [node["NodeManagerHostname"] for node, answer in zip(nodes, answers, strict=True) if not answer]
    if blind:
        raise PathNotVisible(f"{path} can't be seen on {', '.join(blind)}: put the topics on a shared path")


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line, and by whom."""

    submitter: str
    force: bool
    allow_blocked: bool
    at_once: int
    draft_in: str | None
    request_publication: bool
    requests_at_most: int | None


async def _edit(rows: ray.data.Dataset, config: Config, database_url: str, wishes: Wishes) -> int:
    """Run all topics, at most `at_once` together, and report; the exit code."""
    batch_settings = config.article_generation.batch
    names = [
        (r["path"], r["channel"], r["slug"])
        for r in rows.select_columns(["path", "channel", "slug"]).take_all()
    ]
    refused = duplicates(names)
    room = asyncio.Semaphore(wishes.at_once)
    ended: dict[str, TopicSummary] = {}
    # As the runners': however long Postgres is away, what is under way waits for it.
    async with Database(
        url=database_url, pool_size=config.database.pool_size, patience_seconds=math.inf
    ) as database:
        drafts = None
        if wishes.draft_in is not None:
            drafts = Drafts(
                config=config, database=database, topic=wishes.draft_in, submitter=wishes.submitter
            )
        async with live_batch(
            database=database,
            requested_by=wishes.submitter,
            lease_seconds=batch_settings.lease_seconds,
            force=wishes.force,
            progress=show,
        ) as batch:
            desk = _Desk(config=config, database=database, batch=batch, drafts=drafts)
            say(f"batch {batch.id}: {len(names)} topics")

            async def one(row: TopicRow) -> None:
                try:
                    ended[row.path] = await desk.edit(row, refused=refused.get(row.path))
                except asyncio.CancelledError:
                    ended[row.path] = _stopped(row, "ended")
                    raise
                except Exception as error:  # noqa: BLE001  # one topic's trouble ends no other
                    ended[row.path] = _unfinished(row, error)
                finally:
                    room.release()

            async def all_of_them() -> None:
                async with asyncio.TaskGroup() as group:
                    async for row in _stream(rows):
                        await room.acquire()
                        group.create_task(one(row))

            stopped = await _until_stopped(all_of_them())
        for path, channel, slug in names:
            if path not in ended:
                row = TopicRow(path=path, topic=None, error=None, channel=channel, slug=slug)
                ended[path] = _stopped(row, "began")
        summaries = sorted(ended.values(), key=lambda summary: summary.topic)
        output = config.article_generation.editor.output.run_artifacts_dir / "batches" / f"{batch.id}.parquet"
        fine = await _report(summaries, output)
        if drafts is not None and wishes.request_publication and not stopped:
            async for asked in drafts.request_publication(wishes.requests_at_most):
                say(asked.line)
                fine = fine and not asked.refused
    if stopped:
        say("stopped: topics under way stop after their present step; submit again to continue")
        return 1
    return exit_code(summaries, allow_blocked=wishes.allow_blocked) if fine else 1


async def _report(summaries: Sequence[TopicSummary], path: Path) -> bool:
    """Print what the topics came to, and write it to a file. Whether that could be written."""
    Console(width=None if sys.stdout.isatty() else 160).print(as_table(summaries))
    for summary in summaries:
        for line in as_lines(summary):
            say(line)
    try:
        await asyncio.to_thread(write_parquet, summaries, path)
    except OSError as error:
        say(f"summary: {path} can't be written: {one_line(error)}")
        return False
    say(f"summary: {path}")
    return True


async def _stream(rows: ray.data.Dataset) -> AsyncIterator[TopicRow]:
    iterator = iter(rows.iter_rows())
    while (row := await asyncio.to_thread(next, iterator, None)) is not None:
        yield TopicRow.model_validate_json(row["row"])


async def _until_stopped(work: Any) -> bool:
    """Await `work`; SIGTERM (which `ray job stop` sends) and SIGINT cancel it. Whether that happened."""
    task = asyncio.ensure_future(work)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        # What comes after may wait for Postgres, and can be ended as any process.
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
    return stopped


class _Desk:
    """Where a batch's topics go in and their summaries come out."""

    def __init__(self, *, config: Config, database: Database, batch: Batch, drafts: Drafts | None) -> None:
        self._drafts = drafts
        self._output = config.article_generation.editor.output
        self._database = database
        self._batch = batch

    async def edit(self, row: TopicRow, *, refused: str | None) -> TopicSummary:
        """One topic to its end: edited, finished before, or refused with its reason."""
        if row.topic is None or refused:
            return await self._refuse(row, refused or row.error or "")
        workflow, how = await self._batch.start(row)
        say(f"{row.name}: {how}")
        if how != "finished before":
            workflow = await self._batch.wait(workflow, name=row.name)
        return await self._summarise(row, workflow, skipped=how == "finished before")

    async def _refuse(self, row: TopicRow, reason: str) -> TopicSummary:
        result = ArticleGenerationResult(success=False, error=reason)
        path = self._path(row)
        try:
            await asyncio.to_thread(write_atomically, path, result.model_dump_json(indent=2))
        except OSError as error:
            reason = f"{reason} (and its file can't be written: {one_line(error)})"
        say(f"{row.name}: refused: {reason}")
        return _summary(row, status="error", error=reason, path=str(path))

    async def _summarise(self, row: TopicRow, workflow: Workflow, *, skipped: bool) -> TopicSummary:
        kept = await self._database.steadily(lambda: documents.get_all(self._database, workflow.id))
        tokens = await self._database.steadily(lambda: documents.tokens(self._database, [workflow.id]))
        filed = ArticleGenerationResult.model_validate(kept["result"]) if "result" in kept else None
        if self._drafts is not None and (said := await self._drafts.file(row.name, workflow.id, filed)):
            say(f"{row.name}: {said}")
        report = filed.editor_report if filed else None
        remaining = [concern.excerpt for concern in (report.blocking_concerns if report else None) or []]
        path = self._path(row)
        if skipped:
            # Finished before; its file may be gone since, or of another run. The database has it.
            await asyncio.to_thread(_restore, path, settled_result(self._output, workflow, kept))
        result = workflow.result or {}
        started, finished = workflow.started_at, workflow.finished_at
        return _summary(
            row,
            status=result.get("outcome", "error"),
            skipped=skipped,
            rounds=result.get("rounds", sum(key.startswith("draft/") for key in kept)),
            concerns=len(remaining),
            remaining=remaining,
            seconds=(finished - started).total_seconds() if started and finished else 0.0,
            tokens=tokens.get(workflow.id, 0),
            headline=filed.article.headline if filed and filed.article else None,
            path=str(path),
            error=workflow.error,
        )

    def _path(self, row: TopicRow) -> Path:
        if row.channel and row.slug:
            return article_path(self._output, channel_name=row.channel, topic_slug=row.slug)
        # A file that does not say what it is about still gets its JSON, under its own name; a file of the
        # same name in another folder gets another.
        mark = hashlib.sha256(row.path.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        own = f"{Path(row.path).stem}-{mark}"
        return article_path(self._output, channel_name="_unreadable", topic_slug=own)


def _restore(path: Path, result: ArticleGenerationResult) -> None:
    text = result.model_dump_json(indent=2)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)


def _summary(row: TopicRow, **facts: Any) -> TopicSummary:
    blank = {"skipped": False, "rounds": 0, "concerns": 0, "remaining": [], "seconds": 0.0, "tokens": 0}
    nothing = {"headline": None, "path": None, "error": None}
    return TopicSummary(topic=row.name, **{**blank, **nothing, **facts})


def _unfinished(row: TopicRow, error: Exception) -> TopicSummary:
    """The batch could not go on with a topic. What its workflow has done is kept."""
    why = f"the batch can't finish it: {one_line(error)}"
    say(f"{row.name}: {why}")
    return _summary(row, status="error", error=why)


def _stopped(row: TopicRow, before_it: Literal["began", "ended"]) -> TopicSummary:
    return _summary(row, status="stopped", error=f"the batch was stopped before this topic {before_it}")


if __name__ == "__main__":
    typer.run(main)
